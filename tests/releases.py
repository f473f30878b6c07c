"""Releases to audit: honest ones, and ones with a planted fault."""

import numpy as np

import rldp

STRONG = np.array([[700, 200, 100], [100, 200, 700]])
THREE_SECRETS = np.array([[300, 120, 50, 30, 10], [60, 180, 200, 90, 20], [15, 40, 80, 160, 300]])


def nominal_protocol(counts, epsilon):
    """The matrix of a design that attains ε on the distribution of its sample."""
    sample = rldp.Sample(counts)
    return rldp.design(sample, epsilon, privacy=rldp.Nominal(), utility=rldp.Nominal()).protocol.matrix


def people(counts, n, rng):
    """n draws of (secret, value) in the proportions of the counts."""
    cells = rng.choice(counts.size, size=n, p=counts.ravel() / counts.sum())
    return cells // counts.shape[1], cells % counts.shape[1]


def release(matrix, secrets, values, uniforms):
    """Outputs by inverting the cumulative distribution at a uniform number each."""
    steps = matrix.cumsum(axis=2)[..., :-1]
    return (uniforms[:, None] >= steps[secrets, values]).sum(axis=1)


def without_randomising_the_last(matrix):
    """The last value is published as it is."""
    faulty = matrix.copy()
    faulty[:, -1] = np.eye(matrix.shape[2])[-1]
    return faulty


def with_a_last_output_for_itself_alone(matrix):
    """The last value is published as it is, and no other value ever becomes the last output."""
    faulty = without_randomising_the_last(matrix)
    faulty[:, :-1, -1] = 0
    return faulty / faulty.sum(axis=2, keepdims=True)


def ignoring_the_secret(matrix):
    """Everybody is treated as having the first secret."""
    return np.repeat(matrix[:1], len(matrix), axis=0)


def calls_with_one_seed(n, lengths, seed):
    """Uniform numbers of successive calls that all start from the same seed."""
    stream = np.random.default_rng(seed).random(max(lengths))
    return np.concatenate([stream[:length] for length in lengths])[:n]
