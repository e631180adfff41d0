package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/report/chart"
)

// Ordering is who is ahead of whom on one draw: a statement of a paper, in numbers of
// which less is better.
type Ordering struct {
	Claim        string // who is below whom, where and in what; equal on all draws
	Lower, Upper float64
}

// publishedColumn is what the heading of a column of published numbers begins with.
const publishedColumn = "paper"

// Combine puts the outputs of several draws, at least one, into one: every number
// becomes the median, with the range behind it, and every ordering how often it
// holds. Tables that differ in shape, and notes that differ in number, stand one after
// another. One draw stays as it is.
func Combine(draws []*Output) *Output {
	if len(draws) == 1 {
		return draws[0]
	}
	out := &Output{}
	first := draws[0]
	if slices.ContainsFunc(draws, func(o *Output) bool { return !slices.EqualFunc(o.Tables, first.Tables, sameShape) }) {
		for d, o := range draws {
			for _, t := range o.Tables {
				t.Title = fmt.Sprintf("draw %d: %s", d+1, t.Title)
				out.Tables = append(out.Tables, t)
			}
		}
	} else {
		for i := range first.Tables {
			out.Tables = append(out.Tables, combineTables(draws, i))
		}
	}
	if t := numberTable(draws); len(t.Rows) > 0 {
		out.Tables = append(out.Tables, t)
	}
	if t := orderingTable(draws); len(t.Rows) > 0 {
		out.Tables = append(out.Tables, t)
	}
	for i := range first.Figures {
		out.Figures = append(out.Figures, combineFigures(draws, i))
	}
	notes := 0
	for _, o := range draws {
		notes = max(notes, len(o.Notes))
	}
	for i := range notes {
		var list []string
		for _, o := range draws {
			if i < len(o.Notes) {
				list = append(list, o.Notes[i])
			}
		}
		out.Notes = append(out.Notes, combineTexts(list))
	}
	return out
}

// sameShape reports whether two tables differ in their cells alone.
func sameShape(a, b Table) bool {
	return len(a.Rows) == len(b.Rows) && slices.Equal(a.Columns, b.Columns)
}

func combineTables(draws []*Output, i int) Table {
	titles := make([]string, len(draws))
	for d, o := range draws {
		titles[d] = o.Tables[i].Title
	}
	t := Table{Title: fmt.Sprintf("%s; median (least to greatest) of %d draws", combineTexts(titles), len(draws)), Columns: draws[0].Tables[i].Columns}
	for r, row := range draws[0].Tables[i].Rows {
		merged := make([]string, len(row))
		for c := range row {
			cells := make([]string, len(draws))
			for d, o := range draws {
				cells[d] = o.Tables[i].Rows[r][c]
			}
			merged[c] = combineTexts(cells)
		}
		t.Rows = append(t.Rows, merged)
	}
	return t
}

// numberPattern finds the numbers of a text, with their signs and separators of
// thousands.
var numberPattern = regexp.MustCompile(`-?\d+(?:,\d{3})*(?:\.\d+)?`)

// combineTexts replaces the numbers of texts that differ in them alone: by the median
// with the range behind it. Of other texts it says what each draw has.
func combineTexts(texts []string) string {
	present := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == absent })
	missing := len(texts) - len(present)
	if len(present) == 0 {
		return absent
	}
	skeleton := numberPattern.ReplaceAllString(present[0], "#")
	for _, s := range present {
		if numberPattern.ReplaceAllString(s, "#") != skeleton {
			return strings.Join(unique(texts), " | ")
		}
	}
	var numbers [][]string // by place
	for _, s := range present {
		for k, n := range numberPattern.FindAllString(s, -1) {
			if k == len(numbers) {
				numbers = append(numbers, nil)
			}
			numbers[k] = append(numbers[k], n)
		}
	}
	var b strings.Builder
	for k, part := range strings.Split(skeleton, "#") {
		b.WriteString(part)
		if k < len(numbers) {
			b.WriteString(spread(numbers[k]))
		}
	}
	if missing > 0 {
		fmt.Fprintf(&b, ", %d of %d", len(present), len(texts))
	}
	return b.String()
}

// absent stands where there is no number.
const absent = "–"

func unique(texts []string) []string {
	list := slices.Clone(texts)
	slices.Sort(list)
	return slices.Compact(list)
}

// spread is the median of numbers, one that was measured, and their range; a number
// alone if they are all equal.
func spread(numbers []string) string {
	list := slices.Clone(numbers)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
	low, median, high := list[0], list[(len(list)-1)/2], list[len(list)-1]
	if value(low) == value(high) {
		return median
	}
	return fmt.Sprintf("%s (%s to %s)", median, low, high)
}

func value(number string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// combineFigures takes the medians of points that lie at the same places; of other
// lines those of the first draw.
func combineFigures(draws []*Output, i int) chart.Figure {
	f := draws[0].Figures[i]
	f.Lines = slices.Clone(f.Lines)
	for l := range f.Lines {
		line := &f.Lines[l]
		ys := make([][]float64, len(line.Y))
		for _, o := range draws {
			if i >= len(o.Figures) || l >= len(o.Figures[i].Lines) || !slices.Equal(o.Figures[i].Lines[l].X, line.X) {
				ys = nil
				break
			}
			for k, y := range o.Figures[i].Lines[l].Y {
				ys[k] = append(ys[k], y)
			}
		}
		if ys == nil {
			f.Title += " (first draw)"
			return f
		}
		line.Y = slices.Clone(line.Y)
		for k := range ys {
			slices.Sort(ys[k])
			line.Y[k] = ys[k][(len(ys[k])-1)/2]
		}
	}
	f.Title += fmt.Sprintf(", medians of %d draws", len(draws))
	return f
}

// orderingsTitle is what the heading of the table of orderings begins with.
const orderingsTitle = "Orderings"

// orderingTable says on how many draws each ordering holds: those that the outputs
// state, and those of neighbours in every column of published numbers.
func orderingTable(draws []*Output) Table {
	t := Table{Title: fmt.Sprintf("%s on %d draws; ratio of the upper to the lower, its median and a paired bootstrap interval of 95 %%", orderingsTitle, len(draws)),
		Columns: []string{"ordering", "holds on", "ratio", "interval", "verdict"}}
	ratios := map[string][]float64{}
	var claims []string
	for _, o := range draws {
		for _, x := range append(slices.Clone(o.Orderings), publishedOrderings(o.Tables)...) {
			if !(x.Lower > 0 && x.Upper > 0) {
				continue
			}
			if ratios[x.Claim] == nil {
				claims = append(claims, x.Claim)
			}
			ratios[x.Claim] = append(ratios[x.Claim], x.Upper/x.Lower)
		}
	}
	for _, c := range claims {
		v := judge(ratios[c])
		t.Rows = append(t.Rows, []string{c, fmt.Sprintf("%d of %d", v.holds, v.draws), number(v.median, 3), number(v.low, 3) + " to " + number(v.high, 3), v.verdict()})
	}
	return t
}

// publishedOrderings are those of neighbours in the order of a column of published
// numbers, by our numbers in the column before it. Less is first; equal published
// numbers order nothing, and rows of two metrics, which a heading "metric, …" says that
// there are, do not compare.
func publishedOrderings(tables []Table) []Ordering {
	var list []Ordering
	for _, t := range tables {
		for c := 1; c < len(t.Columns); c++ {
			if !strings.HasPrefix(t.Columns[c], publishedColumn) {
				continue
			}
			type row struct {
				name, metric    string
				ours, published float64
			}
			var rows []row
			for _, cells := range t.Rows {
				ours, theirs := numberPattern.FindString(cells[c-1]), numberPattern.FindString(cells[c])
				if ours != "" && theirs != "" {
					metric := ""
					if strings.HasPrefix(t.Columns[0], "metric, ") {
						metric, _, _ = strings.Cut(cells[0], ", ")
					}
					rows = append(rows, row{cells[0], metric, value(ours), value(theirs)})
				}
			}
			slices.SortStableFunc(rows, func(a, b row) int {
				return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.published, b.published))
			})
			for k := 1; k < len(rows); k++ {
				if a, b := rows[k-1], rows[k]; a.metric == b.metric && a.published < b.published && a.name != b.name {
					list = append(list, Ordering{Claim: fmt.Sprintf("%s, %s: %s below %s", t.Title, t.Columns[c-1], a.name, b.name), Lower: a.ours, Upper: b.ours})
				}
			}
		}
	}
	return list
}

// judged is what draws say of an ordering.
type judged struct {
	draws, holds      int
	median, low, high float64 // of the ratio, and of its geometric mean
}

// resamples is how many samples with replacement the bootstrap takes of the draws.
const resamples = 10_000

// judge counts the ratios above 1, and resamples their logarithms: the draws are
// paired, each has one ratio. The interval is from the 2.5th to the 97.5th
// percentile of the geometric mean. (Efron, "Bootstrap Methods", 1979: the percentile
// method.)
func judge(ratios []float64) judged {
	v := judged{draws: len(ratios)}
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r)
		if r > 1 {
			v.holds++
		}
	}
	slices.Sort(logs)
	v.median = math.Exp(logs[(len(logs)-1)/2])
	rng := rand.New(rand.NewPCG(uint64(len(logs)), 1))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range logs {
			sum += logs[rng.IntN(len(logs))]
		}
		means[i] = sum / float64(len(logs))
	}
	slices.Sort(means)
	v.low, v.high = math.Exp(means[resamples/40]), math.Exp(means[resamples-1-resamples/40])
	return v
}

// verdict is what a sign test at 5 % and the interval both say; with five draws that
// takes all five.
func (v judged) verdict() string {
	switch {
	case chance(v.holds, v.draws) <= 0.05 && v.low > 1:
		return "holds"
	case chance(v.draws-v.holds, v.draws) <= 0.05 && v.high < 1:
		return "reversed"
	}
	return "no verdict"
}

// chance is the probability of at least k heads in n tosses of a coin.
func chance(k, n int) float64 {
	p, term := 0.0, math.Pow(0.5, float64(n)) // of n heads, n−1, …
	for i := n; i >= k; i-- {
		p += term
		term *= float64(i) / float64(n-i+1)
	}
	return p
}
