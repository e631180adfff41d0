package importer

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// values reads all values of a file, as "@line=A".
func values(t testing.TB, text string) (string, error) {
	t.Helper()
	j, err := OpenJSON(write(t, []byte(text)), "", nil)
	if err != nil {
		return "", err
	}
	defer j.Close()
	var got []string
	for {
		var v struct {
			A int `json:"a"`
		}
		err := j.Next(&v)
		if errors.Is(err, io.EOF) {
			return strings.Join(got, " "), nil
		}
		if err != nil {
			return strings.Join(got, " "), errors.New(strings.TrimPrefix(err.Error(), j.Name()+": "))
		}
		got = append(got, fmt.Sprintf("@%d=%d", j.line, v.A))
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[]", ""},
		{"", ""},
		{"\n\n[{\"a\":1},\n {\"a\":2}\n\n,\n\n{\n\"a\"\n:3}]\n", "@3=1 @4=2 @8=3"},
		{"{\"a\":1}\n{\"a\":2}\n", "@1=1 @2=2"},
		{"\ufeff[{\"a\":1}]", "@1=1"},
	} {
		if got, err := values(t, c.text); err != nil || got != c.want {
			t.Errorf("%q: %s, %v", c.text, got, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"[{\"a\":1},\n{\"a\":", "damaged after line 2: unexpected EOF"},
		{"[{\"a\":1},\n{\"a\":\"x\"}]", "line 2: a cannot be a text"},
		{"[{\"a\":1}\n{\"a\":2}]", "line 2: no JSON"},
		{"[{\"a\":1}}", "line 1: "},
		{"[{\"a\":1}", "damaged after line 1: unexpected EOF"},
		{"nonsense", "line 1: no JSON"},
		{"[\"" + strings.Repeat("x", maxValueBytes+1<<20) + "\"]", "damaged after line 1: a value is larger than 4 MiB"},
	} {
		_, err := values(t, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("[{\"a\":1},\n{\"A\":2}]")
	f.Add("{\"jobs\":{\"k\":{}}}")
	f.Add("{}{}")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = values(t, text)
	})
}
