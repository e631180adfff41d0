package importer

import (
	"fmt"
	"math"
	"time"
)

// Clock reads the dates of a trace.
type Clock struct {
	// Zone is where the source's dates without a zone were taken; nil reads them
	// as UTC, which gives the right differences wherever the clocks were not
	// changed in between.
	Zone *time.Location
}

// Parse reads a date and time such as
//
//	2020-06-09 18:41:01
//	2020-06-09T18:41:01.25Z
//	2023-03-01 00:18:22+08:00
//
// and returns nanoseconds since 1970 in UTC. A date that the zone has twice,
// when clocks are put back, is read as package time does.
//
// Errors: not such a date, or not one between 1970 and 2200.
func (c Clock) Parse(b []byte) (int64, error) {
	const shape = "2006-01-02 15:04:05"
	bad := func() (int64, error) {
		return 0, fmt.Errorf("%.40q is not a time such as 2017-10-09 07:01:55", b)
	}
	if len(b) < len(shape) || b[4] != '-' || b[7] != '-' || b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return bad()
	}
	century, y1 := two(b[0:])
	year, y2 := two(b[2:])
	month, y3 := two(b[5:])
	day, y4 := two(b[8:])
	hour, y5 := two(b[11:])
	minute, y6 := two(b[14:])
	second, y7 := two(b[17:])
	year += 100 * century
	if !(y1 && y2 && y3 && y4 && y5 && y6 && y7) || year < 1970 || year >= 2200 || month < 1 || month > 12 ||
		day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return bad()
	}
	nanos, rest, ok := fraction(b[len(shape):])
	if !ok {
		return bad()
	}
	offset := 0
	switch {
	case len(rest) == 0 && c.Zone != nil && c.Zone != time.UTC:
		return time.Date(year, time.Month(month), day, hour, minute, second, int(nanos), c.Zone).UnixNano(), nil
	case len(rest) == 0 || len(rest) == 1 && rest[0] == 'Z':
	default:
		if offset, ok = zoneOffset(rest); !ok {
			return bad()
		}
	}
	seconds := int64(daysSince1970(year, month, day))*86400 + int64(hour*3600+minute*60+second-offset)
	return seconds*1e9 + nanos, nil
}

// must returns a date of the program's own in seconds.
func (c Clock) must(date string) float64 {
	t, err := c.Parse([]byte(date))
	if err != nil {
		panic("importer: " + err.Error())
	}
	return Seconds(t)
}

// Seconds turns nanoseconds into seconds.
func Seconds(nanos int64) float64 {
	if nanos%1e9 == 0 {
		return float64(nanos / 1e9)
	}
	return float64(nanos) / 1e9
}

// two reads a number of two digits.
func two(b []byte) (int, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int(hi)*10 + int(lo), hi <= 9 && lo <= 9
}

// fraction reads the decimals of a second, in nanoseconds; further digits are
// cut off.
func fraction(b []byte) (nanos int64, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '.' {
		return 0, b, true
	}
	i, scale := 1, int64(1e8)
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		nanos += int64(b[i]-'0') * scale
		scale /= 10
	}
	return nanos, b[i:], i > 1
}

// zoneOffset reads +08:00, -0700 or +08, in seconds.
func zoneOffset(b []byte) (int, bool) {
	sign := 1
	switch {
	case len(b) < 3 || b[0] != '+' && b[0] != '-':
		return 0, false
	case b[0] == '-':
		sign = -1
	}
	hours, ok := two(b[1:])
	rest := b[3:]
	if len(rest) == 3 && rest[0] == ':' {
		rest = rest[1:]
	}
	minutes := 0
	if len(rest) == 2 {
		var digits bool
		minutes, digits = two(rest)
		ok = ok && digits
		rest = nil
	}
	if !ok || len(rest) != 0 || hours > 14 || minutes > 59 {
		return 0, false
	}
	return sign * (hours*3600 + minutes*60), true
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSince1970 counts the days of the Gregorian calendar with the years
// beginning in March, so that leap days come last (Fliegel and Van Flandern,
// "A Machine Algorithm for Processing Calendar Dates", CACM 1968).
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
}

// micro rounds seconds to microseconds, the resolution of instances: what is
// left of the noise of subtracting two large numbers goes.
func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
