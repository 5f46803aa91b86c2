package result_test

import (
	"reflect"
	"strings"
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

func TestShownStep(t *testing.T) {
	for step, want := range map[string]string{
		"client": "client", "claim/loan/A:1/B": "claim/loan/A:1/B", "activity/a@loan/50%2F": "activity/a@loan/50%2F", "contact/x": "contact/x",
		"activity/a@contact/joint%2Fpartner/P@x": "activity/a@contact/joint:partner/P@x", "activity/a@contact/email/p@x.org": "activity/a@contact/email/p@x.org",
		"contact/email/p@x.org": "contact/email/p@x.org", "contact/joint%2Fpartner/P:2/%2F": "contact/joint:partner/P:2/%2F",
		"contact/crm:x%2F/K": "contact/crm%3Ax:/K", "contact/100%252F%253A/K": "contact/100%252F%253A/K",
	} {
		got := result.ShownStep(step)
		if got != want || result.StepShown(got) != step || result.StepShown(step) != step && !strings.Contains(step, "crm:") {
			t.Errorf("%q is shown as %q, which is read as %q; want %q", step, got, result.StepShown(got), want)
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
