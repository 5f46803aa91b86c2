package environment

import "encoding/json"

// Schema is the JSON Schema (2020-12) of environments files, for editors, made
// from the tables that Load reads by. It knows less than Load: what depends on
// another key is left to that.
func Schema() []byte {
	s := formObject(fileFields)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Claimsheet environments"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // the tables hold nothing that cannot be encoded
	}
	return append(data, '\n')
}
