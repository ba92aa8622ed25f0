#!/usr/bin/env python3
"""Writes the reference values that tests/reference.rs compares this crate's statistics with.

Needs scipy (made with 1.17.1): python3 generate.py, in any folder; the CSV files are written beside this script.
Each row: the statistic, its numbers in, its numbers out; numbers of a list are separated by spaces, lists by ';'.
"""
import csv
import pathlib

import numpy
from scipy import stats

random = numpy.random.default_rng(20)
folder = pathlib.Path(__file__).parent


def text(*lists):
    return ";".join(" ".join(repr(float(value)) for value in numpy.atleast_1d(each)) for each in lists)


def write(name, rows):
    with open(folder / name, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def samples():
    """Shapes that timings have, at sizes that an experiment has; and some with ties and zeros."""
    for size in (4, 6, 8, 12, 13, 24, 40, 64):
        yield random.normal(0.3, 1, size).round(6)
        yield (random.exponential(1, size) - 0.5).round(6)
        yield (random.standard_t(2, size) + 0.2).round(6)


def tied():
    for size in (5, 8, 11):
        yield numpy.round(random.normal(0.4, 1, size) * 2) / 2


def one_sample():
    for values in samples():
        yield "mean", text(values), text(numpy.mean(values))
        yield "variance", text(values), text(numpy.var(values, ddof=1))
        for share in (0.0, 0.025, 0.5, 0.9):
            yield "quantile", text(values, share), text(numpy.quantile(values, share))
        for confidence in (0.9, 0.95, 0.998):
            interval = stats.ttest_1samp(values, 0).confidence_interval(confidence)
            yield "mean_interval", text(values, confidence), text(interval.low, interval.high)
        found = stats.wilcoxon(values, method="exact")
        sums = numpy.sum(stats.rankdata(numpy.abs(values))[values > 0])
        yield "signed_rank", text(values), text(sums, found.pvalue)
        i, j = numpy.triu_indices(len(values))
        means = numpy.sort((values[i] + values[j]) / 2)
        yield "hodges_lehmann", text(values), text(numpy.median(means))
        for confidence in (0.8, 0.95, 0.995):
            yield "center_interval", text(values, confidence), text(*inverted_signed_rank(values, confidence))
    for values in tied():
        moved = values[values != 0]
        exact = stats.wilcoxon(moved, method=stats.PermutationMethod(n_resamples=2**14))
        sums = numpy.sum(stats.rankdata(numpy.abs(moved))[moved > 0])
        yield "signed_rank", text(values), text(sums, exact.pvalue)
    for size in (350, 500):
        values = (random.standard_t(3, size) + 0.05).round(6)
        found = stats.wilcoxon(values, method="asymptotic", correction=True)
        sums = numpy.sum(stats.rankdata(numpy.abs(values))[values > 0])
        yield "signed_rank", text(values), text(sums, found.pvalue)


def inverted_signed_rank(values, confidence):
    """The centres that scipy's own exact test does not reject, by trying one between each two means of pairs."""
    i, j = numpy.triu_indices(len(values))
    means = numpy.sort((values[i] + values[j]) / 2)
    middles = (means[1:] + means[:-1]) / 2
    kept = [place for place, center in enumerate(middles)
            if stats.wilcoxon(values - center, method="exact").pvalue > 1 - confidence]
    # Nothing is left out where not even the centre below all means is rejected.
    if stats.wilcoxon(values - (means[0] - 1), method="exact").pvalue > 1 - confidence:
        return (numpy.nan, numpy.nan)
    return (means[kept[0]], means[kept[-1] + 1])


def two_samples():
    for left_size, right_size in ((3, 4), (8, 8), (12, 20), (40, 40), (90, 70)):
        left = (random.exponential(1, left_size) + 0.3).round(6)
        right = random.exponential(1, right_size).round(6)
        method = "exact" if left_size * right_size <= 4000 else "asymptotic"
        found = stats.mannwhitneyu(left, right, method=method)
        yield "rank_sum", text(left, right), text(found.statistic, found.pvalue)
        yield "shift", text(left, right), text(numpy.median(numpy.subtract.outer(left, right)))
        if left_size * right_size <= 200 or left_size == 40:
            for confidence in (0.8, 0.95):
                yield "shift_interval", text(left, right, confidence), text(*inverted_rank_sum(left, right, confidence))
    for size in (6, 20):
        left, right = numpy.round(random.normal(0, 2, size)), numpy.round(random.normal(1, 2, size + 3))
        found = stats.mannwhitneyu(left, right, method="asymptotic")
        yield "rank_sum", text(left, right), text(found.statistic, found.pvalue)


def inverted_rank_sum(left, right, confidence):
    differences = numpy.sort(numpy.subtract.outer(left, right).ravel())
    middles = (differences[1:] + differences[:-1]) / 2
    test = lambda shift: stats.mannwhitneyu(left - shift, right, method="exact").pvalue > 1 - confidence
    if test(differences[0] - 1):
        return (numpy.nan, numpy.nan)
    kept = [place for place, shift in enumerate(middles) if test(shift)]
    return (differences[kept[0]], differences[kept[-1] + 1])


def lines():
    for size in (4, 7, 15, 40):
        x = numpy.sort(random.uniform(1, 100, size))
        y = 3 + 0.2 * x + random.standard_t(3, size)
        found = stats.linregress(x, y)
        for confidence in (0.9, 0.95):
            reach = stats.t.ppf((1 + confidence) / 2, size - 2) * found.stderr
            yield ("least_squares", text(x, y, confidence),
                   text(found.intercept, found.slope, found.slope - reach, found.slope + reach))
            theil = stats.theilslopes(y, x, confidence, method="separate")
            yield ("theil_sen", text(x, y, confidence),
                   text(theil.intercept, theil.slope, theil.low_slope, theil.high_slope))
    for size, power, bend in ((5, 1.0, 0.0), (12, 0.5, 0.0), (12, 1.5, 0.2), (30, 2.0, 0.05)):
        x = numpy.geomspace(1, 1000, size)
        y = 4 * numpy.exp(power * numpy.log(x) + bend * numpy.log(x) ** 2 + random.normal(0, 0.2, size))
        found = stats.linregress(numpy.log(x), numpy.log(y))
        reach = stats.t.ppf(0.975, size - 2) * found.stderr
        weights, covariance = numpy.polyfit(numpy.log(x), numpy.log(y), 2, cov=True)
        p = 2 * stats.t.sf(abs(weights[0]) / numpy.sqrt(covariance[0, 0]), size - 3)
        yield ("power_law", text(x, y, 0.95), text(numpy.exp(found.intercept), found.slope, found.slope - reach,
                                                  found.slope + reach, 2 * weights[0], p))


def bootstraps():
    """Ends, as means of three seeds; quantiles of 60,000 draws in all."""
    statistics = {"mean": numpy.mean, "variance": lambda values, axis=-1: numpy.var(values, ddof=1, axis=axis),
                  "geometric-mean": stats.gmean}
    for size in (10, 25, 60):
        # The median is missing on purpose: its draws are a few values only, and ends jump from one to the next.
        for values in (random.normal(5, 1, size).round(6), random.exponential(1, size).round(6)):
            for name, statistic in statistics.items():
                for method in ("percentile", "BCa"):
                    for confidence in (0.9, 0.95):
                        ends = []
                        for seed in range(3):
                            found = stats.bootstrap((values,), statistic, n_resamples=20_000, method=method,
                                                    confidence_level=confidence, rng=numpy.random.default_rng(seed))
                            ends.append(found.confidence_interval)
                        low, high = numpy.mean(ends, axis=0)
                        yield f"{method.lower()} {name}", text(values, confidence), text(low, high)


write("one_sample.csv", one_sample())
write("two_samples.csv", two_samples())
write("lines.csv", lines())
write("bootstrap.csv", bootstraps())
