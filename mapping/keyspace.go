package mapping

// KeySpace is what the client keys of the binding's sheet are keys of: the
// Space of every Identity that it makes.
func (b *Binding) KeySpace() string { return b.keySpace }

// ResultColumn is the name of the column of a results workbook that a header
// stands for, ignoring case and runs of white space: one of ResultColumns, or
// "" for a column of the source.
func ResultColumn(header string) string {
	for _, name := range ResultColumns {
		if foldHeader(name) == foldHeader(header) {
			return name
		}
	}
	return ""
}
