// Package e2e looks at the sandbox's pages in a real browser, as people do: Chromium,
// driven by chromedp. It is a module of its own, so that the program's go.mod does not
// need what only these tests use.
//
//	npm ci && go test . -pictures FOLDER
//
// npm brings axe-core, which looks for barriers in every page; without it that part is
// left out, and -axe makes it an error. Without Chromium all tests are left out.
package e2e
