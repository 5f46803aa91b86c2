package studio

import (
	"net/http"
	"strings"
)

// getDiff answers with the lines that differ from the text when the session began, or how
// the file on the disk or what an earlier session left unsaved differs from the text now.
func (s *Server) getDiff(r *http.Request) (any, error) {
	s.mu.Lock()
	before, after := s.session.begin, s.session.text()
	var err error
	if with := r.URL.Query().Get("with"); with != "" {
		before = after
		after, err = s.session.other(with)
	}
	s.mu.Unlock()
	return map[string]any{"lines": diff(lines(string(before)), lines(string(after)))}, err
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

type lineJSON struct {
	Kind string `json:"kind"` // same, add or del
	Text string `json:"text"`
	Line int    `json:"line"` // of the new text, or for del of the old one
}

// mostCompared bounds the table of a diff; texts that differ more are shown as a whole.
const mostCompared = 4 << 20

// diff compares two texts by their longest common lines, between what both begin and end
// with.
func diff(a, b []string) []lineJSON {
	start, end := 0, 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	lastA, lastB := len(a)-end, len(b)-end
	width := lastB - start + 1
	common := make([]int, 1) // by what is left of a and b, the length of the longest common lines
	at := func(i, k int) *int {
		if len(common) == 1 {
			return &common[0]
		}
		return &common[(i-start)*width+k-start]
	}
	if size := (lastA - start + 1) * width; size <= mostCompared {
		common = make([]int, size)
		for i := lastA - 1; i >= start; i-- {
			for k := lastB - 1; k >= start; k-- {
				if *at(i, k) = max(*at(i+1, k), *at(i, k+1)); a[i] == b[k] {
					*at(i, k) = *at(i+1, k+1) + 1
				}
			}
		}
	}
	list := []lineJSON{}
	for i, k := 0, 0; i < len(a) || k < len(b); {
		isMiddle := i >= start && i < lastA && k >= start && k < lastB
		switch {
		case i < start, i >= lastA && k >= lastB, isMiddle && len(common) > 1 && a[i] == b[k]:
			list = append(list, lineJSON{"same", b[k], k + 1})
			i, k = i+1, k+1
		case i < lastA && (k == lastB || !isMiddle || *at(i+1, k) >= *at(i, k+1)):
			list = append(list, lineJSON{"del", a[i], i + 1})
			i++
		default:
			list = append(list, lineJSON{"add", b[k], k + 1})
			k++
		}
	}
	return list
}
