package suite

import (
	"os"
	"path/filepath"
	"strings"
)

// Beside returns where a path in a suite leads, seen from the current folder: to what lies
// beside the suite's file, whose folder is given, or else to what lies under the path
// here. Where there is neither, it is beside the suite.
func Beside(folder, path string) string {
	if path == "" || folder == "" || folder == "." || filepath.IsAbs(path) || strings.HasPrefix(path, "builtin:") {
		return path
	}
	beside := filepath.Join(folder, path)
	if !exists(beside) && exists(path) {
		return path
	}
	return beside
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// paths are the keys of a source whose values are paths.
func (src *Source) paths() map[string]*string {
	return map[string]*string{"file": &src.File, "trace": &src.Trace, "profiles": &src.Profiles, "sharing.interference": &src.Sharing.Interference}
}

// findFiles makes paths of the suite's file such from the current folder. Those that a
// setting gave are so already.
func (s *Suite) findFiles() {
	folder := filepath.Dir(s.source.name)
	for i := range s.Instances {
		src := &s.Instances[i]
		for key, path := range src.paths() {
			if !s.typed[key] && !s.typed[src.Name+"."+key] {
				*path = Beside(folder, *path)
			}
		}
	}
}
