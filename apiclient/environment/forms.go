package environment

// form is the shape of a value, as a JSON Schema.
type form map[string]any

const referenceForms = "env:NAME, file:PATH or cmd:PROGRAM ARG…"

var (
	formText     = form{"type": []string{"string", "number", "boolean"}}
	formNumber   = form{"type": "number", "exclusiveMinimum": 0}
	formBool     = form{"type": "boolean"}
	formUUID     = form{"type": "string", "format": "uuid"}
	formPointer  = form{"type": "string", "pattern": "^(/.*)?$"}
	formIDPlace  = form{"type": "string", "pattern": "^(last-segment:)?((/.*)?|text|header:.+)$"}
	formURLPlace = form{"type": "string", "pattern": "^((/.*)?|text|header:.+)$"}
	formSecret   = form{"type": "string", "pattern": "^(env|file|cmd):"}
)

func formInteger(least, most int) form {
	return form{"type": "integer", "minimum": least, "maximum": most}
}

func formOneOf(words []string) form { return form{"enum": words} }

func formList(of form) form { return form{"type": []string{"array", "null"}, "items": of} }

func formMap(of form) form {
	return form{"type": []string{"object", "null"}, "additionalProperties": of}
}

// formObject is the shape of a mapping that is read by a table of fields.
func formObject[T any](fields []field[T], required ...string) form {
	properties := form{}
	for _, f := range fields {
		property := form{"description": f.doc}
		for k, v := range f.form {
			property[k] = v
		}
		properties[f.key] = property
	}
	object := form{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}
