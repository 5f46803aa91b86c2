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
	before, after, left := s.session.begin, s.session.text(), s.session.left
	var err error
	switch with := r.URL.Query().Get("with"); {
	case with == "draft" && left != nil:
		before, after = after, []byte(left.Text)
	case with != "":
		before = after
		after, err = readFile(s.session.path)
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

// mostCompared bounds the table of a diff; of longer texts all lines are taken away and added.
const mostCompared = 4 << 20

func diff(a, b []string) []lineJSON {
	common := make([][]int, len(a)+1) // by line of a and of b, the length of the longest common lines from there on
	isCompared := (len(a)+1)*(len(b)+1) <= mostCompared
	for i := len(a); i >= 0 && isCompared; i-- {
		common[i] = make([]int, len(b)+1)
		for k := len(b) - 1; k >= 0 && i < len(a); k-- {
			if common[i][k] = max(common[i+1][k], common[i][k+1]); a[i] == b[k] {
				common[i][k] = common[i+1][k+1] + 1
			}
		}
	}
	list := []lineJSON{}
	for i, k := 0, 0; i < len(a) || k < len(b); {
		switch {
		case isCompared && i < len(a) && k < len(b) && a[i] == b[k]:
			list = append(list, lineJSON{"same", b[k], k + 1})
			i, k = i+1, k+1
		case i < len(a) && (k == len(b) || !isCompared || common[i+1][k] >= common[i][k+1]):
			list = append(list, lineJSON{"del", a[i], i + 1})
			i++
		default:
			list = append(list, lineJSON{"add", b[k], k + 1})
			k++
		}
	}
	return list
}
