// Package gaussian is Gaussian-process regression and what Bayesian
// optimisation needs of it: a posterior with gradients, expected improvement,
// and its maximisation in a box.
//
// The process has mean zero on standardised outcomes (sample mean and standard
// deviation), a Matérn-5/2 kernel with one length scale per input (ARD), an
// output scale and independent noise:
//
//	k(x, x') = s² (1 + √5 r + 5 r²/3) exp(−√5 r),  r² = Σ_i ((x_i − x'_i)/l_i)².
//
// Hyperparameters maximise the marginal likelihood times their priors.
//
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning
// (2006), algorithm 2.1 and Eqs. (4.17) and (5.9); the priors are those that
// Balandat et al., BoTorch (2020), gave their single-task process.
package gaussian
