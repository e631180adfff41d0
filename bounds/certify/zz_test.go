package certify

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/sched"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestZZ(t *testing.T) {
	files, _ := filepath.Glob("/tmp/inst/*.opt")
	var total time.Duration
	for _, f := range files {
		if p := os.Getenv("ONLY"); p != "" && !strings.Contains(f, p) {
			continue
		}
		text, _ := os.ReadFile(f)
		w := strings.Fields(string(text))
		in, _ := os.Open(strings.TrimSuffix(f, "opt") + "json")
		i, err := sched.ReadInstance(in)
		if err != nil {
			t.Fatal(err)
		}
		d := &document{Data: []byte("{}")}
		d.Objective.UnmarshalText([]byte(w[0]))
		d.Class.UnmarshalText([]byte(w[1]))
		d.value, _ = new(big.Rat).SetString(w[2])
		start := cpu()
		_, err = New(i, "x").search(d)
		el := cpu() - start
		total += el
		if el > 30*time.Millisecond || err != nil {
			fmt.Println(filepath.Base(f), el, err)
		}
	}
	fmt.Println(len(files), "total", total)
}
