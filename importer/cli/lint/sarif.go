package lint

import (
	"net/url"
	"path/filepath"
	"slices"

	"claimsheet/importer/cli/explain"
)

// The parts of a SARIF 2.1.0 log that a report fills.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short *sarifText `json:"shortDescription,omitempty"`
		Full  *sarifText `json:"fullDescription,omitempty"`
		Help  *sarifText `json:"help,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool        `json:"executionSuccessful"`
		ExitCode            int         `json:"exitCode"`
		Notifications       []sarifNote `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNote struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

func (r *Report) sarif() sarifLog {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "claimsheet", Version: r.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: r.Failure.Message == "", ExitCode: r.ExitCode}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	for _, f := range r.findings() {
		text := f.Message
		if f.Hint != "" {
			text += "\n" + f.Hint
		}
		if f.Code == "" {
			run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNote{"error", sarifText{text}})
			continue
		}
		rules := &run.Tool.Driver.Rules
		rule := slices.IndexFunc(*rules, func(known sarifRule) bool { return known.ID == f.Code })
		if rule < 0 {
			rule = len(*rules)
			*rules = append(*rules, sarifRuleOf(f.Code))
		}
		run.Results = append(run.Results, sarifResult{RuleID: f.Code, RuleIndex: rule, Level: f.severity, Message: sarifText{text}, Locations: r.location(f)})
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func sarifRuleOf(code string) sarifRule {
	rule := sarifRule{ID: code}
	if e, ok := explain.Lookup(code); ok {
		rule.Short, rule.Full = &sarifText{e.Title + "."}, &sarifText{e.Meaning}
		rule.Help = &sarifText{e.Mend + "\n\nclaimsheet explain " + code + " shows examples."}
	}
	return rule
}

func (r *Report) location(f finding) []sarifLocation {
	file := r.file(f.Where)
	if file == "" {
		return nil
	}
	uri := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		uri.Scheme = "file"
	}
	location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri.String()}}}
	switch {
	case f.Where.Line > 0:
		location.Physical.Region = &sarifRegion{f.Where.Line, max(f.Where.Column, 1)}
	case f.Where.Sheet != "":
		location.Logical = []sarifLogical{{f.Where.String()}}
	}
	return []sarifLocation{location}
}
