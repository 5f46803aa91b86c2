package ledger

// Commits is how many transactions have reached the disk.
func (l *Ledger) Commits() int64 { return l.write.commits.Load() }
