package ledger

// Before is how many bytes are kept of what files held before writes.
func (l *Ledger) Before() (int64, error) {
	kept, err := l.contents()
	var total int64
	for _, c := range kept {
		total += c.bytes
	}
	return total, err
}
