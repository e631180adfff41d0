package bounds

// fluidPrices returns, for every slot of the grid, the mean of the prices that
// belong to the bound [MeanBusyTime], per GPU: prices for which L(π), see
// [Prices], is at least that bound but for the averaging.
//
// While the machine works on job j, the price of its time falls at the rate
// w_j/q_j, so that job j is indifferent between all times at which it is
// served: price + rate·t is the same. Hence the price at the end of a stretch
// is, going backwards, what makes a job indifferent to its next stretch: job j
// itself or, if that is done, the job that would be served if none were
// released at this time. It is 0 if there is no such job.
func (w *workload) fluidPrices(weight []float64, rank []int64, grid Grid) []float64 {
	type stretch struct {
		job        int
		start, end float64 // microseconds
		last       bool    // of the job
		idle       bool    // is the machine afterwards
	}
	gpus := float64(w.gpus)
	var busy []stretch
	var until uint192
	m := machine{release: w.release, size: w.size, rank: rank}
	m.run(func(s *service) {
		if n := len(busy); n > 0 {
			busy[n-1].idle = s.start != until
		}
		until = s.start
		until.addWord(uint64(s.length))
		busy = append(busy, stretch{job: s.job, start: s.start.float() / gpus, end: until.float() / gpus, last: s.done})
	})

	price := make([]float64, grid.Slots())
	rate := func(j int) float64 { return weight[j] / (float64(w.size[j]) / gpus) }
	indifferent := make([]float64, len(w.size)) // price + rate·t at which job j is served
	var later []int                             // jobs served after the stretch, the next one last
	k := len(price) - 1
	for i := len(busy) - 1; i >= 0; i-- {
		s := &busy[i]
		if s.idle {
			later = later[:0]
		}
		next := s.job
		if s.last {
			for next = -1; len(later) > 0 && next < 0; {
				if h := later[len(later)-1]; float64(w.release[h])/gpus < s.end {
					next = h
				} else {
					later = later[:len(later)-1]
				}
			}
		}
		level := 0.0
		if next >= 0 {
			level = indifferent[next] - float64(rate(next)*s.end)
		}
		rate := rate(s.job)
		for end := min(s.end, float64(grid.End())); end > s.start; {
			for float64(grid[k]) >= end {
				k--
			}
			begin := max(s.start, float64(grid[k]))
			mean := level + float64(rate*(s.end-(begin+end)/2))
			price[k] += max(0, mean) / gpus * ((end - begin) / float64(grid[k+1]-grid[k]))
			end = begin
		}
		indifferent[s.job] = level + float64(rate*s.end)
		later = append(later, s.job)
	}
	return price
}
