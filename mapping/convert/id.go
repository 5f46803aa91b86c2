package convert

import (
	"regexp"
	"strings"
)

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ParseID reads an id of the service: a UUID (service document, "Endpoints"). It is
// returned in lower case, so that two spellings are one id. The two UUIDs that
// programs write where there is no id are refused.
func ParseID(s string) (string, *CellError) {
	if !uuid.MatchString(s) {
		return "", refuse("not-id", "is not an id of the service; expected a UUID such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11",
			"copy the id as the service shows it, or empty the cell")
	}
	switch id := strings.ToLower(s); id {
	case "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff": // the nil and the max UUID of RFC 9562
		return "", refuse("not-id", "is a UUID that stands for no id; expected a UUID such as 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11",
			"copy the id as the service shows it, or empty the cell")
	default:
		return id, nil
	}
}
