package strictjson

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	A int           `json:"a"`
	D time.Duration `json:"d"`
}

type Embedded struct {
	X float64 `json:"x"`
}

type document struct {
	*Embedded
	List []inner          `json:"list"`
	S    string           `json:"s"`
	M    map[string]inner `json:"m"`
}

func TestUnmarshal(t *testing.T) {
	for text, want := range map[string]string{
		`{"list":[{"a":1,"d":5}],"x":2,"m":{"Q":{"a":1},"q":{"a":2}}} ` + "\n": "",
		"{\"list\":[\n{\"a\":1},\n{\"A\":2}]}":                                 "line 3: unknown key list[1].A",
		`{"list":[{"a":1,"a":1}]}`:                                             "line 1: the key list[0].a is there twice",
		`{"s":"1","\u0073":"1"}`:                                               "line 1: the key s is there twice",
		`{"X":1}`:                                                              "line 1: unknown key X",
		`{"Embedded":{"x":1}}`:                                                 "line 1: unknown key Embedded",
		`{"m":{"q":{"A":1}}}`:                                                  "line 1: unknown key m.q.A",
		`{"m":{"q":{},"q":{}}}`:                                                "line 1: the key m.q is there twice",
		`{"list":[{"a":1.5}]}`:                                                 "line 1: list[0].a cannot be a number 1.5",
		`{"list":[{"a":99999999999999999999}]}`:                                "line 1: list[0].a cannot be a number 99999999999999999999",
		`{"x":1e999}`:                                                          "line 1: x cannot be a number 1e999",
		`{"list":{}}`:                                                          "line 1: list cannot be an object",
		`{"s":"` + "\xff\"}":                                                   "line 1: no JSON: invalid UTF-8",
		`{"s":"\ud800"}`:                                                       "line 1: no JSON: invalid surrogate pair",
		"{\"s\":\n\"x\"} {}":                                                   "line 2: there is more after the JSON value",
		"{} x":                                                                 "line 1: there is more after the JSON value",
		"{\"s\":\n":                                                            "line 1: the JSON ends too early",
		"":                                                                     "line 1: the JSON ends too early",
		`{"x":1,"y":2}`:                                                        "line 1: unknown key y",
		`{"list":[{"a":null}]}`:                                                "line 1: list[0].a: null is no value",
		"{\"s\":\n null}":                                                      "line 2: s: null is no value",
		`{"m":{"q":{"a":1,"d":null}}}`:                                         "line 1: m.q.d: null is no value",
		`{"list":null,"m":null}`:                                               "", // as encoding/json writes nil
		`{"a\u001b":1}`:                                                        "line 1: unknown key a?",
	} {
		var d document
		err := Unmarshal([]byte(text), &d)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var d document
	want := document{Embedded: &Embedded{2}, List: []inner{{1, 5}}, S: "x"}
	if err := Unmarshal([]byte(`{"list":[{"a":1,"d":5}],"x":2,"s":"x"}`), &d); err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("%+v, %v", d, err)
	}
}

// A part of a document is read as strictly, but for keys that it does not have.
func TestUnmarshalPart(t *testing.T) {
	for text, want := range map[string]string{
		`{"other":{"A":1,"a":2},"list":[{"a":1,"b":[]}],"m":{"Q":{"c":1}}}`: "",
		`{"list":[{"a":1,"A":1}]}`: "unknown key list[0].A",
		`{"other":{"a":1,"a":2}}`:  "the key other.a is there twice",
		`{"m":{"q":{"D":1}}}`:      "unknown key m.q.D",
		`{"X":1}`:                  "unknown key X",
		`{"LIST":[]}`:              "unknown key LIST",
		`{"list":[]} []`:           "there is more after the JSON value",
		`{"list":[`:                "the JSON ends too early",
		`{"list":[{"a":"1"}]}`:     "list[0].a cannot be a text",
		`{"other":[{"list":1}, null, "x", 1e999]}`: "",
	} {
		var d document
		err := UnmarshalPart([]byte(text), &d)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), "line 1: "+want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
