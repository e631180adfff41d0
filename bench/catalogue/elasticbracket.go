package catalogue

import (
	"context"
	"errors"

	formulation "yardstick/formulate/elastic"
	"yardstick/sched"
)

// tariff climbs with the prices of what elastic jobs hold, anew in every round.
func (b *Bracket) tariff(ctx context.Context, round int) error {
	if b.Upper == nil {
		return nil
	}
	last := sched.Time(0)
	for _, seg := range b.Upper.Schedule().Segments {
		last = max(last, seg.End)
	}
	const steps = 30 // of the first round, and twice as many in each after it
	r, err := formulation.Prices(ctx, b.Instance, b.Objective, formulation.PricesOptions{Slots: int(last / b.Instance.Slot), Steps: steps << min(round-1, 5), Upper: b.Cost()})
	switch {
	case errors.Is(err, sched.ErrNotApplicable):
		return nil
	case err != nil:
		return err
	}
	b.prices = r
	b.step(round, "bound", r.Name, b.raise(&r.Bound, r.Name))
	return nil
}
