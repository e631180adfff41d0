package theorems

import "math/big"

// Log2 is log2.
func Log2(x *big.Rat) (low, high *big.Rat) { return log2(x) }

// Powers is powers.
func Powers(base, x *big.Rat) (k int, equal bool) { return powers(base, x) }
