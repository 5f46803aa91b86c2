package cli

import (
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const schemaHelp = `Editors with a YAML language server use it to complete and check the files. Write it to a file and name that file in the first line:

    # yaml-language-server: $schema=mapping.schema.json

Examples:

    claimsheet schema mapping > mapping.schema.json`

func (p *program) schemaCommand() *cli.Command {
	return command("schema", "mapping | environments",
		"print the JSON Schema of mapping files or environments files, for editors", schemaHelp, nil,
		func(c *cli.Context) error {
			schemas := map[string]func() []byte{"mapping": mapping.Schema, "environments": environment.Schema}
			schema, ok := schemas[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return problem.New("usage", "one of mapping and environments is expected").Hinted("claimsheet schema mapping")
			}
			_, err := p.Out.Write(schema())
			return err
		})
}
