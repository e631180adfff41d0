package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/formulate/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// countdown is a context that ends after a number of questions for its error, and
// counts those after that.
type countdown struct {
	context.Context
	left, after int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.after++
	return context.Canceled
}

// apart are jobs whose releases lie 10^5 slots apart in all.
func apart(t *testing.T) *sched.Instance {
	t.Helper()
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 6, Servers: 2, Resources: 1, WorkerTypes: 1, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 4, Weights: true})
	for i := range in.Jobs {
		in.Jobs[i].Release += sched.Time(i*20_000) * in.Slot
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	return in
}

// TestContextsAreObeyed: whenever the context ends, what is proven until then is true,
// says why it is no more, and hardly anything is done. On 10^5 slots, list schedules
// once ran on for all jobs.
func TestContextsAreObeyed(t *testing.T) {
	type outcome struct {
		termination milp.Termination
		bound       bounds.Bound
		schedule    *sched.Schedule
	}
	methods := map[string]func(context.Context, *sched.Instance, milp.Limits) (outcome, error){
		"solve": func(ctx context.Context, in *sched.Instance, l milp.Limits) (outcome, error) {
			r, err := elastic.Solve(ctx, in, sched.WeightedCompletion, lpsolve.LP{}, l)
			if err != nil {
				return outcome{}, err
			}
			return outcome{r.Termination, bounds.Bound{Value: r.Bound}, r.Schedule}, nil
		},
		"conf": func(ctx context.Context, in *sched.Instance, l milp.Limits) (outcome, error) {
			r, err := elastic.Conf(ctx, in, sched.WeightedCompletion, lpsolve.LP{}, l)
			if err != nil {
				return outcome{}, err
			}
			return outcome{r.LP.Termination, r.Bound, nil}, nil
		},
		"aggregate": func(ctx context.Context, in *sched.Instance, l milp.Limits) (outcome, error) {
			r, err := elastic.Aggregate(ctx, in, sched.WeightedCompletion, lpsolve.LP{}, l)
			if err != nil {
				return outcome{}, err
			}
			return outcome{r.LP.Termination, r.Bound, nil}, nil
		},
		"deadlines": func(ctx context.Context, in *sched.Instance, l milp.Limits) (outcome, error) {
			b, termination, err := elastic.Deadlines(ctx, in, sched.WeightedCompletion, 1, l)
			return outcome{termination, b, nil}, err
		},
		"intervals": func(ctx context.Context, in *sched.Instance, l milp.Limits) (outcome, error) {
			b, termination, err := elastic.Intervals(ctx, in, sched.WeightedCompletion, sched.Class{Kind: sched.E, Slotted: true}, 2, lpsolve.LP{}, l)
			return outcome{termination, b, nil}, err
		},
	}
	small := schedtest.Elastic(schedtest.Rand(5), schedtest.ElasticShape{Jobs: 3, Servers: 2, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 3, Rings: true, Weights: true})
	s, optimum := schedtest.ElasticBruteForce(small, sched.WeightedCompletion)
	schedtest.Verify(t, small, s)
	for name, run := range methods {
		for _, left := range []int{0, 1, 2, 3, 4, 5, 7, 9, 12, 15, 20, 30, 50, 100} {
			t.Run(fmt.Sprintf("%s after %d questions", name, left), func(t *testing.T) {
				ctx := &countdown{Context: context.Background(), left: left}
				o, err := run(ctx, small, milp.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if o.bound.Value.Cmp(optimum) > 0 {
					t.Errorf("the bound %v is above the optimum %v", o.bound.Value, optimum)
				}
				if (ctx.after > 0) != (o.termination == milp.Interrupted) && !(ctx.after > 0 && o.termination == milp.Optimal && o.bound.Value.Cmp(optimum) == 0) {
					t.Errorf("%s, and the end of the context was seen %d times", o.termination, ctx.after)
				}
				if ctx.after > 20 {
					t.Errorf("it asked %d times after the end", ctx.after)
				}
				if o.schedule != nil {
					if cost := schedtest.Verify(t, small, o.schedule).Cost(sched.WeightedCompletion); cost.Cmp(optimum) < 0 {
						t.Errorf("a schedule costs %v, less than the optimum %v", cost, optimum)
					}
				}
			})
		}
		if name == "solve" { // no list schedule is begun: one job after the other is what is left
			o, err := run(&countdown{Context: context.Background()}, small, milp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for i := 1; i < len(o.schedule.Segments); i++ {
				if o.schedule.Segments[i].Start < o.schedule.Segments[i-1].End {
					t.Errorf("jobs run beside each other: %+v", o.schedule.Segments)
				}
			}
		}
		if name == "deadlines" {
			continue // it asks for each of the 10^5 slots
		}
		// On many slots every job of a list schedule asks before it looks at them.
		many := apart(t)
		ctx := &countdown{Context: context.Background(), left: 2}
		o, err := run(ctx, many, milp.Limits{Nodes: 1})
		if err != nil || o.termination != milp.Interrupted || ctx.after == 0 {
			t.Errorf("%s of 10^5 slots: %s, %v; the end of the context was seen %d times", name, o.termination, err, ctx.after)
		}
		// A limit in time is one of the list schedules too.
		if o, err := run(context.Background(), many, milp.Limits{Time: time.Nanosecond}); err != nil || o.termination != milp.TimeLimit {
			t.Errorf("%s within a nanosecond: %s, %v", name, o.termination, err)
		}
	}
	if _, err := elastic.Solve(t.Context(), schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1)), sched.TotalCompletion, lpsolve.LP{}, milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("another model: %v", err)
	}
}
