"""Conditions scikit-learn's Gaussian process on each case on standard input,
with the hyperparameters given and with its own fit, and prints predictions and
log marginal likelihoods, both JSON. Run by sklearn_test.go."""

import json
import sys

import numpy
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

answers = []
for case in json.load(sys.stdin):
    x, y = numpy.array(case["x"]), numpy.array(case["y"])
    standard = (y - y.mean()) / y.std(ddof=1)
    bounds = (1e-5, 1e5)
    kernel = ConstantKernel(case["scale"], bounds) * Matern(case["lengths"], bounds, nu=2.5) + WhiteKernel(case["noise"], (1e-4, 1e5))
    given = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, standard)
    mean, sd = given.predict(numpy.array(case["query"]), return_std=True)
    sd = numpy.sqrt(numpy.maximum(sd**2 - case["noise"], 0))  # of the process without its noise
    fitted = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=1, random_state=1).fit(x, standard)
    answers.append(
        {
            "mean": (mean * y.std(ddof=1) + y.mean()).tolist(),
            "sd": (sd * y.std(ddof=1)).tolist(),
            "likelihood": given.log_marginal_likelihood_value_,
            "fitted": fitted.log_marginal_likelihood_value_,
        }
    )
json.dump(answers, sys.stdout)
