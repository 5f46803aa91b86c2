package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// bills makes a bill of materials (CycloneDX) for each program, from what Go recorded
// in it: every module that was linked, with its version.
func bills(b *built) ([]file, error) {
	var made []file
	for _, p := range b.programs {
		var out bytes.Buffer
		if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(billOf(b, p), cdx.SpecVersion1_6); err != nil {
			return nil, err
		}
		made = append(made, file{name: "claimsheet_" + b.version + "_" + p.goos + "_" + p.goarch + ".cdx.json", data: out.Bytes()})
	}
	return made, nil
}

func billOf(b *built, p programOf) *cdx.BOM {
	sum := sha256.Sum256(p.binary)
	bill := cdx.NewBOM()
	bill.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).String()
	program := cdx.Component{BOMRef: "claimsheet", Type: cdx.ComponentTypeApplication, Name: "claimsheet", Version: b.version, PackageURL: "pkg:golang/claimsheet@v" + b.version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &[]cdx.Property{{Name: "platform", Value: p.goos + "/" + p.goarch}, {Name: "commit", Value: b.commit}}}
	bill.Metadata = &cdx.Metadata{Timestamp: b.time.Format(time.RFC3339), Component: &program}
	components := []cdx.Component{library("std", strings.TrimPrefix(p.info.GoVersion, "go"), "")}
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, library(m.Path, m.Version, m.Sum))
	}
	refs := []string{}
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bill.Components = &components
	bill.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bill
}

// library is a module; sum is what go.sum has for it.
func library(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url, Scope: cdx.ScopeRequired}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: sum}}
	}
	return c
}
