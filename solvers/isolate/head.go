package isolate

import (
	"strings"
	"sync"
)

// Head keeps the beginning of what is written to it: the first line of a
// crash says what happened.
type Head struct {
	mu   sync.Mutex
	text []byte
}

const headBytes = 4096

func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), headBytes-len(h.text))]...)
	return len(p), nil
}

// FirstLine returns ": " and the first line that is not empty, or "".
func (h *Head) FirstLine() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range strings.Lines(string(h.text)) {
		if line = strings.TrimSpace(line); line != "" {
			return ": " + line
		}
	}
	return ""
}
