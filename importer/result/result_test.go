package result_test

import (
	"reflect"
	"testing"

	"claimsheet/importer/result"
)

var worstFirst = []result.Status{result.Invalid, result.Uncertain, result.Failed, result.NotStarted, result.Changed,
	result.Done, result.Planned, result.Unchanged, result.Skipped, ""}

func TestWorse(t *testing.T) {
	for i, worse := range worstFirst {
		for _, better := range worstFirst[i:] {
			if got := result.Worse(worse, better); got != worse {
				t.Errorf("Worse(%q, %q) = %q", worse, better, got)
			}
			if got := result.Worse(better, worse); got != worse {
				t.Errorf("Worse(%q, %q) = %q", better, worse, got)
			}
		}
	}
}

func TestCountsAddCountsEveryStatusOnce(t *testing.T) {
	var c result.Counts
	statuses := worstFirst[:len(worstFirst)-1]
	for _, s := range statuses {
		c.Add(s)
	}
	for i, v := 0, reflect.ValueOf(c); i < v.NumField(); i++ {
		want := int64(1)
		if v.Type().Field(i).Name == "Total" {
			want = int64(len(statuses))
		}
		if got := v.Field(i).Int(); got != want {
			t.Errorf("%s = %d, want %d", v.Type().Field(i).Name, got, want)
		}
	}
}
