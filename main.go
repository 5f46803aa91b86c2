// Claimsheet pushes lead spreadsheets into a claims intake service.
package main

import (
	"os"
	_ "time/tzdata" // Windows and containers have no timezones

	"claimsheet/importer/cli"
)

func main() { os.Exit(cli.Process()) }
