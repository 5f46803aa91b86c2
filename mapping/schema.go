package mapping

import "encoding/json"

// form is the shape of a value, as a JSON Schema.
type form map[string]any

// Schema is the JSON Schema (2020-12) of mapping files, for editors, made from
// the tables that Parse reads by. It knows less than Parse: what depends on
// another key, on a sheet or on a service is left to that.
func Schema() []byte {
	s := formObject(mappingFields, form{
		"api":    formOneOf("v1", "v2"),
		"sheet":  formObject(sheetFields, form{"header_row": formCount, "numbers": formObject(numberFields, nil)}),
		"client": clientForm(),
		"claims": formList(formObject(claimFields, form{
			"key": formWords, "columns": formTable, "create": formOneOf("when_needed", "first"),
		})),
		"workflow":   formObject(workflowFields, nil),
		"resume_at":  form{"anyOf": []form{formText, formObject(resumeFields, nil)}},
		"activities": formList(activityForm()),
	})
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Claimsheet mapping"
	s["$defs"] = form{"value": valueForm()}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // the tables hold nothing that cannot be encoded
	}
	return append(data, '\n')
}

var (
	formText  = form{"type": []string{"string", "number", "boolean"}}
	formBool  = form{"type": "boolean"}
	formCount = form{"type": "integer", "minimum": 1}
	formWords = form{"anyOf": []form{formText, {"type": "array", "items": formText, "minItems": 1}}}
	formTable = form{"type": "object", "additionalProperties": formText}
	formValue = form{"$ref": "#/$defs/value"} // a column, or where a value comes from and how it is read
)

func formOneOf(words ...string) form { return form{"enum": words} }

func formList(of form) form { return form{"type": "array", "items": of} }

// formObject is the shape of what is read by a table of fields. forms are those
// of keys that are not plain texts.
func formObject[T any](fields []field[T], forms form) form {
	properties, required := form{}, []string{}
	for _, f := range fields {
		property := form{"description": f.doc}
		shape, special := forms[f.key].(form)
		if !special {
			shape = formText
		}
		for k, v := range shape {
			property[k] = v
		}
		properties[f.key] = property
		if f.required {
			required = append(required, f.key)
		}
	}
	object := form{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}

func clientForm() form {
	return formObject(clientFields, form{
		"key":           formWords,
		"existing":      formOneOf(string(Reuse), string(Skip), string(Fail), string(Create)),
		"lookup":        formObject(lookupFields, form{"email": formValue, "phone": formValue, "confirm": formBool}),
		"administrator": formBool,
		"fields":        form{"type": "object", "additionalProperties": formValue},
	})
}

func activityForm() form {
	return formObject(activityFields, form{
		"status":     formOneOf(string(Submitted), string(Accepted), string(Open)),
		"assigned":   formBool,
		"workflow":   formObject(workflowFields, nil),
		"attributes": form{"type": "object", "additionalProperties": formValue},
	})
}

func valueForm() form {
	return form{"anyOf": []form{formText, formObject(valueFields, form{
		"first_of": formWords, "checked": formWords, "unchecked": formWords,
		"type": formOneOf(typeNames()...), "output": formOneOf("date", "datetime"),
		"values": formTable, "required": formBool, "max_length": formCount,
	})}}
}
