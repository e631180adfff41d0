package bench

import (
	"os"
)

// ReadConfig reads a configuration file: values of flags by command and flag.
func ReadConfig(name string) (map[string]map[string]any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var values map[string]map[string]any
	err = DecodeYAML(data, &values)
	return values, err
}
