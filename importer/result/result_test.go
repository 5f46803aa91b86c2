package result_test

import (
	"reflect"
	"testing"

	"claimsheet/importer/result"
)

// TestStatuses: of two statuses the worse one counts, and each is counted once.
func TestStatuses(t *testing.T) {
	worstFirst := []result.Status{result.Invalid, result.Uncertain, result.Failed, result.NotStarted, result.Changed,
		result.Done, result.Planned, result.Unchanged, result.Skipped, ""}
	var c result.Counts
	for i, worse := range worstFirst {
		for _, better := range worstFirst[i:] {
			if result.Worse(worse, better) != worse || result.Worse(better, worse) != worse {
				t.Errorf("of %q and %q, %q is not the worse one", worse, better, worse)
			}
		}
		if worse != "" {
			c.Add(worse)
		}
	}
	for i, v := 0, reflect.ValueOf(c); i < v.NumField(); i++ {
		want := int64(1)
		if v.Type().Field(i).Name == "Total" {
			want = int64(len(worstFirst) - 1)
		}
		if got := v.Field(i).Int(); got != want {
			t.Errorf("%s = %d, want %d", v.Type().Field(i).Name, got, want)
		}
	}
}
