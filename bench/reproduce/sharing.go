package reproduce

// sharing returns the items of its paper.
func sharing() []Item { return nil }
