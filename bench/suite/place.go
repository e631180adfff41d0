package suite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/printer"
	"github.com/goccy/go-yaml/token"
)

// Error is what is wrong with a key of a suite. What it wraps may say more of where:
// paths within are relative to this one.
type Error struct {
	Path  string // such as instances[0].slice.jobs
	OfKey bool   // the key is wrong, and not its value
	Err   error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// pathOf joins the paths of an error and of those that it wraps.
func pathOf(err error) (path string, ofKey bool) {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		path, ofKey = strings.Trim(path+"."+e.Path, "."), e.OfKey
	}
	return path, ofKey
}

// places are where a text has its keys and values, by path.
type places map[string]place

type place struct{ key, value *token.Token } // of an element of a list, key is nil

// of returns the token that an error is about; nil if the text has none.
func (p places) of(err error) *token.Token {
	path, ofKey := pathOf(err)
	if ofKey {
		return p[path].key
	}
	return p[path].value
}

// locate returns an error after its place in the text, if it has one there, with the line.
func (p places) locate(err error) error {
	if tk := p.of(err); tk != nil {
		return at(tk, err.Error())
	}
	return err
}

// prefix does so in one line.
func (p places) prefix(err error) error {
	if tk := p.of(err); tk != nil {
		return fmt.Errorf("[%d:%d] %w", tk.Position.Line, tk.Position.Column, err)
	}
	return err
}

// forget drops what the text has at a path, which it no longer decides.
func (p places) forget(path string) {
	for known := range p {
		if rest, ok := strings.CutPrefix(known, path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			delete(p, known)
		}
	}
}

// at puts a message before the line that it is about.
func at(tk *token.Token, message string) error {
	var p printer.Printer
	return fmt.Errorf("[%d:%d] %s\n%s", tk.Position.Line, tk.Position.Column, message, p.PrintErrorToken(tk, false))
}
