package importer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// TestHandOverVersion: every field of a plan reaches a worker, and what is handed over is the same JSON as long as its version is.
func TestHandOverVersion(t *testing.T) {
	var plan mapping.Plan
	var rules StopRules
	fill(t, reflect.ValueOf(&plan).Elem(), "Plan", 0)
	fill(t, reflect.ValueOf(&rules).Elem(), "StopRules", 0)
	for _, plan := range []mapping.Plan{plan, {}, {Number: 1, Steps: []mapping.Step{}}} {
		var arrives mapping.Plan
		encoded, failed := json.Marshal(plan)
		if err := json.Unmarshal(encoded, &arrives); failed != nil || err != nil || !reflect.DeepEqual(plan, arrives) {
			t.Errorf("a plan does not arrive: %v\n%s", err, cmp.Diff(plan, arrives))
		}
	}
	encoded, err := json.Marshal([]any{plan, rules})
	digests := map[int]string{10: "7381249013c2f2aadf7d91e23e5e42c847f7da2977dae3be5ce3a2d02e7375ff"}
	if digest := fmt.Sprintf("%x", sha256.Sum256(encoded)); err != nil || digest != digests[HandOver] {
		t.Errorf("the JSON of a plan or of the stop rules has changed: raise HandOver, and put the digest of its JSON here: %s (%v)", digest, err)
	}
}

// fill sets every field of a value that Go code can set. One that it cannot set would
// not travel either. Pointers to the same type are followed once.
func fill(t *testing.T, v reflect.Value, at string, depth int) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); !f.IsExported() {
				t.Errorf("%s.%s does not travel", at, f.Name)
			} else if f.Tag.Get("json") != "-" {
				fill(t, v.Field(i), at+"."+f.Name, depth)
			}
		}
	case reflect.Pointer:
		if depth < 1 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), at, depth+1)
		}
	case reflect.Slice:
		if depth < 2 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			for i := range 2 {
				fill(t, v.Index(i), at, depth)
			}
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, at, depth)
		fill(t, value, at, depth)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("“" + at + "” <&> \u2028 é")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	default:
		t.Errorf("%s is a %s: the test cannot fill it, and it may not travel", at, v.Kind())
	}
}
