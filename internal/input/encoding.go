package input

import (
	"bytes"
	"errors"
)

// UTF8 returns an error where the beginning of a text shows UTF-16 or UTF-32, as some
// programs save what they call text or Unicode.
func UTF8(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return errors.New("is text in UTF-16 or UTF-32: save it in UTF-8")
	case bytes.IndexByte(head[:min(len(head), 4)], 0) >= 0:
		return errors.New("is no text in UTF-8: it begins with bytes that are 0, as UTF-16 and data that are no text do")
	}
	return nil
}
