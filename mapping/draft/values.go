package draft

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
)

// wordPairs are words that tick a check box, each with its opposite. The first five are
// those that a mapping need not list.
var wordPairs = [][2]string{
	{"yes", "no"}, {"y", "n"}, {"true", "false"}, {"1", "0"}, {"x", "no"},
	{"ja", "nein"}, {"j", "n"}, {"wahr", "falsch"}, {"oui", "non"}, {"si", "no"}, {"on", "off"}, {"✓", "✗"}, {"✔", "✘"}, {"☑", "☐"},
	{"agreed", "declined"}, {"opted in", "opted out"}, {"checked", "unchecked"}, {"accepted", "declined"}, {"ok", "not ok"},
}

// usualPairs is how many of wordPairs a mapping need not list.
const usualPairs = 5

// boxReading is how the cells of a column tick a check box.
type boxReading struct {
	checked, unchecked []string // nil when the usual words do
	known, filled      int
	unknown            []text
	why                string
}

func (c *column) readBoxes() boxReading {
	b := boxReading{}
	usual := true
	var pairs [][2]string
	for _, t := range c.texts() {
		b.filled += t.count
		word := strings.ToLower(t.text)
		i := slices.IndexFunc(wordPairs, func(p [2]string) bool { return p[0] == word || p[1] == word })
		switch {
		case t.kind == cell.Bool:
			b.known += t.count
			continue
		case i < 0:
			b.unknown = append(b.unknown, t)
			continue
		}
		b.known += t.count
		usual = usual && i < usualPairs
		pairs = append(pairs, wordPairs[i])
		list := &b.unchecked
		if wordPairs[i][0] == word {
			list = &b.checked
		}
		if !slices.ContainsFunc(*list, func(w string) bool { return strings.EqualFold(w, word) }) {
			*list = append(*list, t.text)
		}
	}
	if b.why = c.shown(); len(b.unknown) == 0 {
		b.why = wordsInOrder(c.texts())
	}
	if usual && len(b.unknown) == 0 {
		b.checked, b.unchecked = nil, nil
		return b
	}
	// Both lists are needed, also where only one of the words occurs.
	if len(pairs) > 0 && len(b.checked) == 0 {
		b.checked = []string{pairs[0][0]}
	}
	if len(pairs) > 0 && len(b.unchecked) == 0 {
		b.unchecked = []string{pairs[0][1]}
	}
	return b
}

// mostShown limits how many texts of cells a comment lists.
const mostShown = 12

// wordsInOrder lists texts with their counts: Yes (12), No (3).
func wordsInOrder(texts []text) string {
	var list []string
	for _, t := range texts[:min(len(texts), mostShown)] {
		list = append(list, fmt.Sprintf("%s (%d)", oneLine(t.text), t.count))
	}
	if more := len(texts) - mostShown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// private are words of columns whose texts may say who somebody is. A mapping is kept
// where others read it, so it does not repeat them.
var private = []string{"name", "first", "last", "full", "former", "email", "phone", "mobile", "landline", "whatsapp", "address", "street", "house", "locality", "town", "county", "postcode", "birth", "notes", "comment",
	"holder", "partner", "agent", "broker", "introducer", "referrer", "adviser", "advisor", "handler", "owner", "staff", "manager", "user", "solicitor", "contact", "by", "account", "number", "reference", "id", "password"}

// shown describes the texts of a column for a comment: the texts with their counts where
// few of them come again and again and nobody can be known by them, else only how many
// there are.
func (c *column) shown() string {
	texts := c.texts()
	_, filled := c.count(isEmail)
	isPreference := slices.Contains(c.meaning, "preferred") || slices.Contains(c.meaning, "consent")
	isPublic := isPreference || len(among(append(wordsOf(c.name), c.meaning...), private)) == 0
	for _, t := range texts {
		isPublic = isPublic && strings.Count(t.text, "") <= 31 && !isPhone(cellOf(t)) && !isEmail(cellOf(t))
	}
	if isPublic && len(texts) <= mostShown && 2*len(texts) <= filled {
		return wordsInOrder(texts)
	}
	return fmt.Sprintf("texts in %s, %d different", cellsInWords(filled), len(texts))
}

// mostOptions limits how many different texts a column of a drop-down has.
const mostOptions = 40

// isChoice reports whether a column may hold the choices of a drop-down: few texts
// that come again and again.
func (c *column) isChoice() bool {
	texts := c.texts()
	_, filled := c.count(func(cell.Cell) bool { return true })
	return len(texts) <= mostOptions && (len(texts) <= 6 || 2*len(texts) <= filled)
}

// entry is a line of a value table.
type entry struct {
	from string
	to   string // "" when no option fits
	ask  string // what a person has to decide; "" when the option is certain
	text text
}

// isCertain reports whether a text of a table certainly stands for an option.
func isCertain(table []entry) bool {
	return slices.ContainsFunc(table, func(e entry) bool { return e.to != "" && e.ask == "" })
}

// sameAnswers are texts that give the same answer, in the spelling of folded.
var sameAnswers = [][]string{
	{"yes", "y", "ja", "j", "true", "1", "wahr"}, {"no", "n", "nein", "false", "0", "falsch"},
	{"mr", "herr", "hr", "mister"}, {"mrs", "frau", "fr"}, {"ms", "frau", "fr"}, {"miss", "fraeulein"}, {"dr", "doktor", "doctor"},
	{"employed", "angestellt", "angestellter", "angestellte", "beschaeftigt", "in employment", "full time", "ft"}, {"self employed", "selfemployed", "selbstaendig", "selbststaendig", "se", "freelance"},
	{"retired", "rentner", "rentnerin", "im ruhestand", "pensioner", "pension"}, {"student", "studentin", "in education"}, {"unemployed", "arbeitslos", "arbeitssuchend", "not working"},
	{"email", "e mail", "mail", "per email"}, {"phone", "telephone", "telefon", "tel", "call", "anruf"}, {"mobile", "handy", "mobil"}, {"post", "letter", "brief", "per post"}, {"sms", "text", "text message"},
	{"male", "m", "maennlich", "mann"}, {"female", "f", "w", "weiblich"},
	{"married", "verheiratet"}, {"single", "ledig"}, {"divorced", "geschieden"}, {"widowed", "verwitwet"},
	{"passport", "reisepass"}, {"driving licence", "driving license", "driver s licence", "fuehrerschein"}, {"id card", "identity card", "personalausweis", "ausweis"},
	{"vw", "volkswagen"}, {"mercedes", "mercedes benz", "merc"}, {"vauxhall", "opel"},
}

func folded(s string) string { return strings.Join(wordsOf(s), " ") }

// table finds the option that each text of a column stands for. It is nil when the
// texts are the options.
func (c *column) table(options []string) (table []entry, known int) {
	plain := true
	for _, t := range c.texts() {
		e := entry{from: t.text, text: t}
		if slices.Contains(options, t.text) {
			e.to = t.text
		} else {
			plain = false
			e.to, e.ask = optionFor(t.text, options)
		}
		if e.to != "" {
			known += t.count
		}
		table = append(table, e)
	}
	if plain {
		return nil, known
	}
	return table, known
}

// optionFor finds the option that a text stands for. It is certain when only the
// spelling differs, or the words are known to mean the same. ask says why a person has
// to decide.
func optionFor(s string, options []string) (option, ask string) {
	f := folded(s)
	same := only(options, func(o string) bool { return folded(o) == f })
	if same == "" {
		same = only(options, func(o string) bool {
			return slices.ContainsFunc(sameAnswers, func(group []string) bool {
				return slices.Contains(group, f) && slices.Contains(group, folded(o))
			})
		})
	}
	if same != "" {
		return same, ""
	}
	short, letters := strings.ReplaceAll(f, " ", ""), 0
	for range short {
		letters++
	}
	for _, near := range []struct {
		fits func(o string) bool
		why  string
	}{
		{func(o string) bool {
			return letters >= 3 && (strings.HasPrefix(o, f) || strings.HasPrefix(f, o) && len(o) >= 3)
		}, "does it stand for this option, which begins alike?"},
		{func(o string) bool {
			return letters >= 2 && letters <= 5 && o[:1] == short[:1] && isIn(short, strings.ReplaceAll(o, " ", ""))
		}, "is it short for this option?"},
	} {
		if o := only(options, func(o string) bool { o = folded(o); return o != "" && f != "" && near.fits(o) }); o != "" {
			return o, near.why
		}
	}
	return "", ""
}

// only returns the one option that is ok, "" for none or several.
func only(options []string, ok func(string) bool) string {
	found := ""
	for _, o := range options {
		if ok(o) {
			if found != "" && found != o {
				return ""
			}
			found = o
		}
	}
	return found
}

// isIn reports whether the letters of a text occur in another one in their order.
func isIn(letters, s string) bool {
	for _, r := range letters {
		i := strings.IndexRune(s, r)
		if i < 0 {
			return false
		}
		s = s[i+len(string(r)):]
	}
	return true
}
