package reproduce

// asrpt returns the items of its paper.
func asrpt() []Item { return nil }
