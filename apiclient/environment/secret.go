package environment

import (
	"fmt"
	"io"
	"log/slog"
)

// masked stands in for a secret wherever one would be printed.
const masked = "***"

// Secret is a resolved secret. It prints as *** through fmt with every verb,
// log/slog, JSON, YAML and text encoders; only Reveal gives it away. The zero
// value is the empty secret.
//
// The value is kept in a closure because fmt cannot call methods on the
// unexported fields of other structs: it would print a string kept there, but
// it has only an address to print of a func.
type Secret struct {
	reveal func() string
}

// NewSecret hides value.
func NewSecret(value string) Secret {
	return Secret{reveal: func() string { return value }}
}

// Reveal is the secret itself, for the moment in which it is used.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Format prints *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// String is ***.
func (s Secret) String() string { return masked }

// LogValue is ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText is ***; it serves JSON values and map keys too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalYAML is ***.
func (s Secret) MarshalYAML() (any, error) { return masked, nil }
