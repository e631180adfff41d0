package suite

import (
	"strings"

	"yardstick/internal/output"
)

// How long names may be, in bytes: a file system takes 255 for a folder.
const (
	MaxSuiteName  = 100
	MaxSourceName = 500
)

// checkFolder returns an error if a suite's name is none that a folder within results
// can have.
func checkFolder(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`):
		return wrong("name", "name is %.100q: it becomes a folder's name, so it may not hold a slash", name)
	case name == "." || name == "..":
		return wrong("name", "name is %q: it becomes a folder's name, and that is another folder", name)
	case strings.HasPrefix(name, "-"):
		return wrong("name", "name is %.100q: it becomes a folder's name, so it may not begin as a flag does", name)
	case len(name) > MaxSuiteName:
		return wrong("name", "name has %d bytes: it becomes a folder's name, so it may have %d at most", len(name), MaxSuiteName)
	case output.Name(name) != name:
		return wrong("name", "name is %q: it becomes a folder's name, so it may not hold characters that are not shown", name)
	}
	return nil
}

// checkNames returns an error if tables could not show what the source is called.
func (src *Source) checkNames() error {
	check := func(path, name string) error {
		switch {
		case len(name) > MaxSourceName:
			return wrong(path, "%s has %d bytes: it may have %d at most", path, len(name), MaxSourceName)
		case output.Name(name) != name:
			return wrong(path, "%s is %q: it may not hold characters that are not shown", path, name)
		}
		return nil
	}
	if err := check("name", src.Name); err != nil {
		return err
	}
	for key, value := range src.Swept {
		if err := check(key, value); err != nil {
			return err
		}
	}
	return nil
}
