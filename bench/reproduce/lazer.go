package reproduce

// lazer returns the items of its paper.
func lazer() []Item { return nil }
