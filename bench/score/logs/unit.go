package logs

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets/importer"
	"yardstick/internal/strictjson"
)

// Unit is what the numbers of a column are in.
type Unit uint8

// The units. Without any, a time is in seconds or, if it looks like one, a date; an amount
// is whole.
const (
	auto Unit = iota
	second
	millisecond
	microsecond
	nanosecond
	minute
	hour
	day
	date
	milli
	percent
)

var unitNames = [...]string{auto: "", second: "s", millisecond: "ms", microsecond: "us", nanosecond: "ns", minute: "min", hour: "h", day: "d",
	date: "date", milli: "milli", percent: "percent"}

func parseUnit(text string) (Unit, error) {
	i := slices.Index(unitNames[1:], text)
	if i < 0 {
		return auto, fmt.Errorf("the unit %q is unknown: %s", text, strings.Join(unitNames[1:], ", "))
	}
	return Unit(i + 1), nil
}

// micros reads a time, and says whether it is a whole number of microseconds.
func (u Unit) micros(text []byte, clock importer.Clock) (v int64, exact bool, err error) {
	if u == date || u == auto && len(text) >= 19 && text[4] == '-' && text[7] == '-' {
		nanos, err := clock.Parse(text)
		return (nanos + 500) / 1000, nanos%1000 == 0, err
	}
	mul := map[Unit]int64{auto: 1e9, second: 1e9, millisecond: 1e6, microsecond: 1e3, nanosecond: 1, minute: 60e9, hour: 3600e9, day: 86400e9}[u]
	return scaled(text, mul, 1000)
}

// thousandths reads an amount.
func (u Unit) thousandths(text []byte) (v int64, exact bool, err error) {
	switch u {
	case milli:
		return scaled(text, 1, 1)
	case percent:
		return scaled(text, 10, 1)
	}
	return scaled(text, 1000, 1)
}

// scaled returns text·mul/div rounded to the nearest whole number, and whether it is one.
// Plain decimals that fit take no allocation.
func scaled(text []byte, mul, div int64) (v int64, exact bool, err error) {
	if v, ok := plain(text, mul/div); ok && mul%div == 0 {
		return v, true, nil
	}
	r, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return 0, false, fmt.Errorf("%.40q is not a number", text)
	}
	if f, _ := r.Float64(); f > 1e15 || f < -1e15 || len(text) > 60 {
		return 0, false, fmt.Errorf("%.40q is out of range", text)
	}
	r.Mul(r, big.NewRat(mul, div))
	exact = r.IsInt()
	half := new(big.Int).Rsh(r.Denom(), 1)
	q := new(big.Int).Div(half.Add(half, r.Num()), r.Denom())
	if !q.IsInt64() {
		return 0, false, fmt.Errorf("%.40q is out of range", text)
	}
	return q.Int64(), exact, nil
}

// plain reads digits with at most one point, if the result is whole and small.
func plain(text []byte, mul int64) (int64, bool) {
	digits, fraction := int64(0), int64(-1)
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9' && digits < 1e12:
			digits = digits*10 + int64(c-'0')
			if fraction >= 0 {
				fraction++
			}
		case c == '.' && fraction < 0 && len(text) > 1:
			fraction = 0
		default:
			return 0, false
		}
	}
	for ; fraction > 0; fraction-- {
		if mul%10 != 0 {
			return 0, false
		}
		mul /= 10
	}
	if len(text) == 0 || digits > (1<<62)/max(mul, 1) {
		return 0, false
	}
	return digits * mul, true
}

// parsePlace reads where a row is. As text it is the servers separated by "|", each with
// its GPUs: "n1:x4" for four, "n1:0+1+2+3" for these. As JSON it is a list of objects with
// server, gpus and devices.
func parsePlace(text string) ([]Spot, error) {
	if text == "" {
		return nil, nil
	}
	if text[0] == '[' {
		return placeOfJSON(text)
	}
	var spots []Spot
	for _, part := range strings.Split(text, "|") {
		server, gpus, ok := strings.Cut(part, ":")
		s := Spot{Server: strings.TrimSpace(server)}
		if count, counted := strings.CutPrefix(gpus, "x"); ok && counted {
			n, err := strconv.Atoi(count)
			if err != nil {
				return nil, badPlace(text)
			}
			s.GPUs = n
		} else {
			for _, d := range strings.Split(gpus, "+") {
				n, err := strconv.Atoi(strings.TrimSpace(d))
				if err != nil || s.Server == "" {
					return nil, badPlace(text)
				}
				s.Devices = append(s.Devices, n)
			}
			slices.Sort(s.Devices)
			s.GPUs = len(s.Devices)
		}
		spots = append(spots, s)
	}
	return spots, nil
}

func badPlace(text string) error {
	return fmt.Errorf("%.40q is no place such as n1:x4|n2:x4 or n1:0+1+2+3", text)
}

func placeOfJSON(text string) ([]Spot, error) {
	var list []struct {
		Server  any   `json:"server"`
		GPUs    int   `json:"gpus"`
		Devices []int `json:"devices"`
	}
	if err := strictjson.UnmarshalPart([]byte(text), &list); err != nil {
		return nil, badPlace(text)
	}
	var spots []Spot
	for _, p := range list {
		s := Spot{Server: fmt.Sprint(p.Server), GPUs: p.GPUs, Devices: p.Devices}
		if s.Devices != nil {
			slices.Sort(s.Devices)
			if s.GPUs != 0 && s.GPUs != len(s.Devices) {
				return nil, fmt.Errorf("%.40q names %d devices of %d GPUs", text, len(s.Devices), s.GPUs)
			}
			s.GPUs = len(s.Devices)
		}
		spots = append(spots, s)
	}
	return spots, nil
}
