package ledger_test

import (
	"claimsheet/importer/ledger"
)

var run = ledger.Run{ID: "r1", Environment: "https://uat.example.com/api", EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}
