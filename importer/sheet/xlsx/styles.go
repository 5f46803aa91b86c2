package xlsx

import (
	"strconv"

	"claimsheet/importer/sheet/numfmt"
)

// readStyles returns the format of each cell style, by the style's number.
// Styles that share a number format share its *numfmt.Format; nil is General.
func readStyles(a *archive, name string) ([]*numfmt.Format, error) {
	codes := map[int]string{} // of the number formats
	var ids []int             // of each cell style's number format
	err := a.walk(name, maxPartBytes, func(s *scanner, path []string) error {
		n := len(path)
		isFormat := n > 2 && path[1] == "numFmts" && path[n-1] == "numFmt" // Excel puts some into an AlternateContent
		isStyle := n == 3 && path[1] == "cellXfs" && path[2] == "xf"
		switch {
		case n == 1 && path[0] != "styleSheet":
			return s.damaged("it does not hold styles")
		case n == 3 && path[1] == "cellXfs" && !isStyle && path[2] != "extLst":
			return s.damaged("its cell styles contain something else") // cells name styles by their place
		case !isFormat && !isStyle:
			return nil
		}
		attrs, err := s.attributes()
		if err != nil {
			return err
		}
		number, given := attrs["numFmtId"]
		if isStyle && !given {
			number = "0" // the default
		}
		id, err := strconv.Atoi(number)
		switch {
		case err != nil:
			return s.damaged("a number format has no number")
		case isFormat:
			codes[id] = string(decodeEscapes([]byte(attrs["formatCode"]), 0))
		default:
			ids = append(ids, id)
		}
		return nil
	})
	formats, styles := map[int]*numfmt.Format{}, make([]*numfmt.Format, len(ids))
	for i, id := range ids {
		if _, known := formats[id]; !known {
			code, isCustom := codes[id]
			if !isCustom {
				code = builtIn[id]
			}
			formats[id] = numfmt.Parse(code)
		}
		styles[i] = formats[id]
	}
	return styles, err
}

// builtIn are the number formats that files name by number only (ECMA-376 part 1,
// 18.8.30), with the codes given there. Some codes depend on the reader's language:
// 5 to 8, 42 and 44 show a currency that the file does not name, so none is shown
// here; 27 to 36 and 50 to 58 are East Asian dates, and only some languages show 34,
// 35, 55 and 56 as times.
var builtIn = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
	5: "#,##0;-#,##0", 6: "#,##0;-#,##0", 7: "#,##0.00;-#,##0.00", 8: "#,##0.00;-#,##0.00",
	9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
	14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
	18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
	27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "m/d/yy", 31: "yyyy-mm-dd",
	32: "h:mm", 33: "h:mm:ss", 34: "yyyy-mm-dd h:mm:ss", 35: "yyyy-mm-dd h:mm:ss", 36: "yyyy-mm-dd",
	37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)",
	41: "#,##0;-#,##0", 42: "#,##0;-#,##0", 43: "#,##0.00;-#,##0.00", 44: "#,##0.00;-#,##0.00",
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0", 48: "##0.0E+0", 49: "@",
	50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd",
	55: "yyyy-mm-dd h:mm:ss", 56: "yyyy-mm-dd h:mm:ss", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}
