package sched

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"strconv"
)

// Hash returns the sha256 of the instance's canonical JSON, in hex. It does
// not depend on the machine, on the formatting of the file it came from or on
// the instance's name.
func (in *Instance) Hash() string {
	sum := sha256.New()
	in.writeCanonical(sum)
	return hex.EncodeToString(sum.Sum(nil))
}

// Canonical returns the instance's JSON in one line and without the name, of which
// Hash is the sha256. ReadInstance reads it.
func (in *Instance) Canonical() []byte {
	var b bytes.Buffer
	in.writeCanonical(&b)
	return b.Bytes()
}

// writeCanonical writes what json.Marshal makes of the instance without its name. The lists
// that are long, of jobs, it writes itself, so that a hash of a million jobs neither holds their
// text nor asks for the type of each value.
func (in *Instance) writeCanonical(w io.Writer) {
	short := *in
	short.Name, short.Jobs, short.History, short.Past = "", nil, nil, nil
	head, last := bytes.CutSuffix(marshal(&short), []byte("null}")) // jobs come last, but for the two lists that are left out
	if !last {
		panic("sched: the jobs are not the last key of an instance's JSON")
	}
	c := canonical{w: w, b: head}
	if in.Jobs == nil {
		c.b = append(c.b, "null"...)
	} else {
		c.jobs(in.Jobs)
	}
	if len(in.History) > 0 {
		c.b = append(c.b, `,"history":[`...)
		for i := range in.History {
			c.next(i)
			c.past(&in.History[i])
		}
		c.b = append(c.b, ']')
	}
	if len(in.Past) > 0 {
		c.b = append(c.b, `,"past":`...)
		c.jobs(in.Past)
	}
	c.b = append(c.b, '}')
	c.flush()
}

// canonical writes JSON piece by piece.
type canonical struct {
	w io.Writer
	b []byte // not yet written
}

// next ends the element before that of the given index, and writes what has gathered.
func (c *canonical) next(i int) {
	if i > 0 {
		c.b = append(c.b, ',')
	}
	if len(c.b) > 1<<15 {
		c.flush()
	}
}

func (c *canonical) flush() {
	_, _ = c.w.Write(c.b) // hashes and buffers take everything
	c.b = c.b[:0]
}

func (c *canonical) jobs(list []Job) {
	c.b = append(c.b, '[')
	for i := range list {
		c.next(i)
		c.job(&list[i])
	}
	c.b = append(c.b, ']')
}

// job writes the fields of a Job in their order, of one that has stages and times alone;
// encoding/json writes the others.
func (c *canonical) job(j *Job) {
	if !j.OnlyStages() || len(j.Edges) > 0 || len(j.Keys) > 0 {
		c.b = append(c.b, marshal(j)...)
		return
	}
	c.b = append(c.b, '{')
	for _, f := range []struct{ key, text string }{{`"name":`, j.Name}, {`"user":`, j.User}, {`"group":`, j.Group}, {`"model":`, j.Model}} {
		if f.text != "" {
			c.b = append(appendText(append(c.b, f.key...), f.text), ',')
		}
	}
	c.b = append(appendQuoted(append(c.b, `"release":`...), j.Release.String()), `,"weight":`...)
	c.b = strconv.AppendInt(append(appendNumber(c.b, j.Weight), `,"iters":`...), j.Iters, 10)
	c.b = append(c.b, `,"stages":[`...)
	for i := range j.Stages {
		c.next(i)
		c.stage(&j.Stages[i])
	}
	c.b = append(c.b, ']')
	if j.Load != 0 {
		c.b = appendQuoted(append(c.b, `,"load":`...), j.Load.String())
	}
	if j.Pause != 0 {
		c.b = appendQuoted(append(c.b, `,"pause":`...), j.Pause.String())
	}
	c.b = append(c.b, '}')
}

// stage writes the fields of a Stage in their order.
func (c *canonical) stage(s *Stage) {
	c.b = strconv.AppendInt(append(c.b, `{"replicas":`...), int64(s.Replicas), 10)
	if s.Slices != 0 {
		c.b = strconv.AppendInt(append(c.b, `,"slices":`...), int64(s.Slices), 10)
	}
	c.b = appendQuoted(append(c.b, `,"compute":`...), s.Compute.String())
	for _, f := range []struct {
		key  string
		size Bytes
	}{{`,"params":`, s.Params}, {`,"sliceSync":`, s.SliceSync}, {`,"boundary":`, s.Boundary}} {
		if f.size != 0 {
			c.b = appendQuoted(append(c.b, f.key...), f.size.String())
		}
	}
	c.b = append(c.b, '}')
}

// past writes the fields of a PastJob in their order.
func (c *canonical) past(p *PastJob) {
	c.b = append(c.b, '{')
	if p.User != "" {
		c.b = append(appendText(append(c.b, `"user":`...), p.User), ',')
	}
	if p.Group != "" {
		c.b = append(appendText(append(c.b, `"group":`...), p.Group), ',')
	}
	c.b = strconv.AppendInt(append(c.b, `"gang":`...), int64(p.Gang), 10)
	c.b = append(strconv.AppendInt(append(c.b, `,"iters":`...), p.Iters, 10), '}')
}

// appendQuoted appends a text in which nothing needs to be escaped.
func appendQuoted(b []byte, text string) []byte {
	return append(append(append(b, '"'), text...), '"')
}

// appendText appends any text.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, marshal(text)...)
		}
	}
	return appendQuoted(b, text)
}

// appendNumber appends a number as JSON has it.
func appendNumber(b []byte, v float64) []byte {
	if size := math.Abs(v); size >= 1e-6 && size < 1e21 { // the others have an exponent, or are 0 or none
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return append(b, marshal(v)...)
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // only a NaN, which Validate refuses, could do this
		panic("sched: JSON of an invalid instance: " + err.Error())
	}
	return b
}
