package certify

import "testing"

// The data of prices for jobs that may be preempted are read as strictly as those of others,
// though they have those of prices within them.
func TestSpreadDataIsStrict(t *testing.T) {
	for text, want := range map[string]bool{
		`{"grid":[0,5],"price":[1],"exponent":0,"whole":true}`:              true,
		`{"grid":[0,5],"price":[1],"exponent":0,"whole":true,"slot":1}`:     false,
		`{"grid":[0,5],"price":[1],"exponent":0,"whole":true,"grid":[0,5]}`: false,
		`{"grid":[0,5],"price":[1],"exponent":null,"whole":true}`:           false,
		`{"Grid":[0,5],"price":[1],"exponent":0,"whole":true}`:              false,
		`{"priceData":{"grid":[0,5]},"whole":true}`:                         false,
	} {
		var data spreadData
		if err := (&document{Data: []byte(text)}).read(&data); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		} else if want && (len(data.Grid) != 2 || len(data.Price) != 1 || !data.Whole) {
			t.Errorf("%s: %+v", text, data)
		}
	}
}
