package bench

import (
	"os"

	"github.com/goccy/go-yaml"
)

// ReadConfig reads a configuration file: values of flags by command and flag.
func ReadConfig(name string) (map[string]map[string]any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var values map[string]map[string]any
	err = yaml.Unmarshal(data, &values)
	return values, err
}
