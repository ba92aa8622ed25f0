"""Ratios of medians with their interval. Rounds are interleaved, so they are resampled whole."""

import random
import statistics

RESAMPLES = 2000


def ratio_of_medians(values, baseline):
    """(ratio, low, high) of medians, with the 95 % interval of a bootstrap over rounds. One value a round in each."""
    rounds = range(len(values))
    # A fixed seed: the same measurements give the same interval.
    generator = random.Random(1)
    drawn = []
    for _ in range(RESAMPLES):
        sample = generator.choices(rounds, k=len(values))
        drawn.append(median(values, sample) / median(baseline, sample))
    drawn.sort()
    return (
        statistics.median(values) / statistics.median(baseline),
        drawn[int(0.025 * RESAMPLES)],
        drawn[int(0.975 * RESAMPLES)],
    )


def median(values, chosen):
    return statistics.median(values[index] for index in chosen)


def shown(ratio):
    """`1.12 (1.10-1.15)`"""
    return f"{ratio[0]:.3g} ({ratio[1]:.3g}-{ratio[2]:.3g})"
