// Claimsheet pushes lead spreadsheets into a claims intake service.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"claimsheet/importer/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal lets what is in flight finish; the second one ends at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv}))
}
