package output

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain name, größer": "plain name, größer", "a\nb": `a\nb`, "\x1b[31mred": `\x1b[31mred`, "tab\t": `tab\t`,
		"\u202eright": `\u202eright`, "\u009b2J": `\u009b2J`, "\xff\xfe": `\xff\xfe`, "\x00": `\x00`, "a\u200bb": `a\u200bb`, "\\n": `\n`,
	} {
		if got := Name(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := Text("a\n\tb\x1b\r"); got != "a\n\tb\\x1b\\r" {
		t.Errorf("%q", got)
	}
}

func TestCSVGuardsFormulas(t *testing.T) {
	records := [][]string{{"=1+2", "+x", "-x", "@a", "\tx", "\rx", "-1.5", "+3e2", "-Inf", "-", "+", "a=b", ""}}
	var guarded, raw strings.Builder
	if err := NewCSV(&guarded).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if want := "'=1+2,'+x,'-x,'@a,'\tx,\"'\rx\",-1.5,+3e2,-Inf,-,+,a=b,\n"; guarded.String() != want {
		t.Errorf("%q, want %q", guarded.String(), want)
	}
	t.Setenv(RawCSV, "1")
	if err := NewCSV(&raw).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if want := "=1+2,+x,-x,@a,\"\tx\",\"\rx\",-1.5,+3e2,-Inf,-,+,a=b,\n"; raw.String() != want {
		t.Errorf("%q, want %q", raw.String(), want)
	}
}
