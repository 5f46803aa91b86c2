// @ts-check
// What a first mapping asks: its text says why it was proposed, a person decides, and the question goes.

import { html } from './lib.js';
import { link } from './route.js';
import { busy, decide, targetsByPath } from './store.js';

/** @param {{list: import('./types.js').Question[], links?: boolean}} props links leads to what the question is about */
export function Questions({ list, links = false }) {
	if (!list.length) return null;
	return html`<ul class="questions">${list.map((q) => html`<li key=${q.line + q.text}>
		<p>${q.text}</p>
		<p class="places"><button type="button" disabled=${busy.value} onClick=${() => decide(q.line)} aria-label=${'It is right as it is: ' + q.text}>It is right as it is</button>
			${links && targetOf(q.path) && html`<a href=${link('targets', { at: targetOf(q.path) })}>Look at it</a>`}
			<a href=${link('file', { line: q.line })}>Line ${q.line}</a></p>
	</li>`)}</ul>`;
}

/** The path of the target that a question is about, or of the nearest one above it. @param {string} path @returns {string|undefined} */
function targetOf(path) {
	for (let at = path; at; at = at.slice(0, at.lastIndexOf('/'))) if (targetsByPath.value.has(at)) return at;
	return undefined;
}
