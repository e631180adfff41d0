package bounds

import (
	"math/big"
	"testing"

	"yardstick/internal/schedtest"
)

// TestAlpha: alpha is between 1/Theta_j and 1, no pair of jobs that may meet
// exceeds 1, and beyond the limits of classes the values are no larger.
func TestAlpha(t *testing.T) {
	raised, one := 0, big.NewRat(1, 1)
	for seed := range uint64(150) {
		in := schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: 1 + int(seed%7), Servers: []int{3}, Work: [2]int{1, 9}, Gang: 3, Xi: 1 + float64(seed%6)/2, Options: 2, Ragged: seed%2 == 0})
		s, err := newSharers(in)
		if err != nil {
			t.Fatal(err)
		}
		alpha, theta, coarse := s.alphas(), s.thetas(), s.coarse()
		for j := range s.jobs {
			a, least := alpha[s.jobs[j].class], new(big.Rat).Inv(theta[s.jobs[j].class])
			if a.Cmp(least) < 0 || a.Cmp(one) > 0 || coarse[in.Jobs[j].Sharing.Task].Cmp(theta[s.jobs[j].class]) < 0 {
				t.Fatalf("seed %d: alpha of job %d is %v, Theta_j %v, or %v by task", seed, j, a, theta[s.jobs[j].class], coarse[in.Jobs[j].Sharing.Task])
			}
			if a.Cmp(least) > 0 {
				raised++
			}
			for k := range s.jobs {
				if j == k {
					continue
				}
				for _, r := range s.together(j, k) {
					first, second := new(big.Rat).Mul(a, r.first), new(big.Rat).Mul(alpha[s.jobs[k].class], r.second)
					if first.Add(first, second).Cmp(one) > 0 {
						t.Fatalf("seed %d: jobs %d and %d use %v of a GPU", seed, j, k, first)
					}
				}
			}
		}
	}
	if raised < 50 {
		t.Errorf("only %d alphas are raised", raised)
	}
}
