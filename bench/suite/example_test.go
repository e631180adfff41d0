package suite_test

import (
	"fmt"

	"yardstick/bench/suite"
)

// What a suite says wrong is refused with its place.
func ExampleParse() {
	_, err := suite.Parse("small.yaml", []byte("instances:\n  - slices: {jobs: 4}\nmethods: [fifo]\n"))
	fmt.Println(err)
	// Output:
	// small.yaml: [2:5] unknown field "slices": the nearest key is "slice"
	//    1 | instances:
	// >  2 |   - slices: {jobs: 4}
	//            ^
	//    3 | methods: [fifo]
}
