package generate

import (
	"fmt"
	"strings"

	"yardstick/datasets/table"
)

// Like names the public trace that a generated one resembles.
type Like int

// The public traces. The variants take the figures of a paper where they differ
// from the official ones.
const (
	PAI               Like = iota // Alibaba PAI gpu-v2020, all GPU jobs
	PAICleaned                    // the same as the A-SRPT paper describes it after cleaning
	Philly                        // Microsoft Philly, in the cleaned form of Pollux
	HeliosEarth                   // SenseTime Helios, GPU jobs of the whole log of Earth
	HeliosSaturn                  // of Saturn
	HeliosUranus                  // of Uranus
	HeliosEarthLazer              // Earth with the inter-arrival and run times of the Lazer paper
	HeliosSaturnLazer             // Saturn likewise
	HeliosUranusLazer             // Uranus likewise
	Pollux                        // the workloads of Pollux's simulator
	SJFBSBF                       // the simulations of the SJF-BSBF paper
	SJFBSBFTestbed                // its testbed
)

// Names lists the names that Parse takes, in the order of the constants.
func Names() []string {
	return []string{"pai", "pai-cleaned", "philly", "helios-earth", "helios-saturn", "helios-uranus",
		"helios-earth-lazer", "helios-saturn-lazer", "helios-uranus-lazer", "pollux",
		"sjf-bsbf", "sjf-bsbf-testbed"}
}

// Parse returns the trace of the given name.
//
// Errors: there is none; the error names the nearest.
func Parse(name string) (Like, error) {
	names := Names()
	for i, n := range names {
		if n == name {
			return Like(i), nil
		}
	}
	return 0, fmt.Errorf("generate: %q is no trace that can be imitated; the nearest is %q (all: %s)", name, table.Nearest(name, names), strings.Join(names, ", "))
}

// String returns the name.
func (l Like) String() string {
	if names := Names(); l >= 0 && int(l) < len(names) {
		return names[l]
	}
	return fmt.Sprintf("Like(%d)", int(l))
}
