package studio

import (
	"net/http"
	"strings"
)

// getDiff answers with the lines that differ from the text when the session began, or how
// the file on the disk or what an earlier session left unsaved differs from the text now.
func (s *Server) getDiff(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.session.begin, s.session.text()
	var err error
	if with := r.URL.Query().Get("with"); with != "" {
		before = after
		after, err = s.session.other(with)
	}
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

// mostCompared bounds the table of a diff; of texts that differ more all lines are taken
// away and added.
const mostCompared = 4 << 20

// diff compares two texts by their longest common lines.
func diff(a, b []string) []lineJSON {
	list := []lineJSON{}
	i, k := 0, 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		list = append(list, lineJSON{"same", b[i], i + 1})
		i++
	}
	k = i
	var common [][]int // by line of a and of b, the length of the longest common lines from there on
	if (len(a)-i+1)*(len(b)-k+1) <= mostCompared {
		common = make([][]int, len(a)+1)
		for x := len(a); x >= i; x-- {
			common[x] = make([]int, len(b)+1)
			for y := len(b) - 1; y >= k && x < len(a); y-- {
				if common[x][y] = max(common[x+1][y], common[x][y+1]); a[x] == b[y] {
					common[x][y] = common[x+1][y+1] + 1
				}
			}
		}
	}
	for i < len(a) || k < len(b) {
		switch {
		case common != nil && i < len(a) && k < len(b) && a[i] == b[k]:
			list = append(list, lineJSON{"same", b[k], k + 1})
			i, k = i+1, k+1
		case i < len(a) && (k == len(b) || common == nil || common[i+1][k] >= common[i][k+1]):
			list = append(list, lineJSON{"del", a[i], i + 1})
			i++
		default:
			list = append(list, lineJSON{"add", b[k], k + 1})
			k++
		}
	}
	return list
}
