"""Distributions of coalition sizes: Poisson-binomial, leaving one or two agents out.

If agent j joins a coalition with probability p_j, independently, its size is the sum of n
Bernoulli variables. What coalition l is worth to agent i needs the size of the rest (leave one
out), and the size of the rest given that j is in it (leave two out). Everything is exact: no
sampling, and no Fourier transform, which would lose the small probabilities.
"""

import numpy as np

from coterie.arrays import FloatArray


def _with_members(distribution: FloatArray, p: FloatArray) -> FloatArray:
    """Return the distribution of S + sum of Bernoulli(p_j), given that of S (last axis: size)."""
    result = np.zeros((*distribution.shape[:-1], distribution.shape[-1] + p.shape[-1]))
    result[..., : distribution.shape[-1]] = distribution
    length = distribution.shape[-1]
    for j in range(p.shape[-1]):
        join = p[..., j, None]
        joined = join * result[..., :length]
        result[..., : length + 1] *= 1 - join
        result[..., 1 : length + 1] += joined
        length += 1
    return result


def size_distribution(p: FloatArray) -> FloatArray:
    """Return Pr[sum of Bernoulli(p_j) = s] for s = 0..n, along the last axis.

    Adds one agent after the other; all terms are non-negative, so even the smallest
    probabilities keep a relative accuracy of about n machine epsilons.
    """
    return _with_members(np.ones((*p.shape[:-1], 1)), p)


def leave_one_out(p: FloatArray) -> FloatArray:
    """Return Pr[sum over j != i of Bernoulli(p_j) = s], shape (..., n, n) over i and s = 0..n-1.

    Divide and conquer: the agents outside a block are added once for the whole block, then it
    is halved. O(n^2 log n) in all, additions of non-negative terms only, so as accurate as
    `size_distribution` (dividing agent i out again would not be).
    """
    n = p.shape[-1]
    result = np.empty((*p.shape[:-1], n, n))

    def fill(low: int, high: int, outside: FloatArray) -> None:
        if high - low == 1:
            result[..., low, :] = outside
            return
        middle = (low + high) // 2
        fill(low, middle, _with_members(outside, p[..., middle:high]))
        fill(middle, high, _with_members(outside, p[..., low:middle]))

    fill(0, n, np.ones((*p.shape[:-1], 1)))
    return result


def leave_two_out_means(p: FloatArray, values: FloatArray, without_one: FloatArray) -> FloatArray:
    """Return E[values(sum over agents other than i, j of Bernoulli(p))] for all i != j.

    With T_j the operation "add agent j", the distribution without i and j is T_j^-1 q_i, so its
    mean of `values` is <T_j^-T values, q_i>. The left factor does not depend on i and comes from
    a two-term recursion, run upwards where p_j > 1/2 and downwards otherwise, so that errors
    never grow by more than a factor of n. All pairs are then one matrix product.

    Parameters
    ----------
    p
        Probabilities of joining, shape (n,).
    values
        The function of the size, at 0..n-2, shape (n - 1,).
    without_one
        `leave_one_out(p)`, shape (n, n).

    Returns
    -------
    Shape (n, n), symmetric up to rounding; the diagonal means nothing and is 0.
    """
    n = len(p)
    adjoint = np.zeros((n, n))
    mostly_in = p > 0.5
    p_in, p_out = p[mostly_in], p[~mostly_in]
    # T_j maps f to (1 - p_j) f[s] + p_j f[s - 1]; any left inverse of it will do.
    running = np.zeros(len(p_out))
    for s in range(n - 2, -1, -1):
        running = (values[s] - p_out * running) / (1 - p_out)
        adjoint[~mostly_in, s] = running
    running = np.zeros(len(p_in))
    for s in range(1, n):
        running = (values[s - 1] - (1 - p_in) * running) / p_in
        adjoint[mostly_in, s] = running
    means = without_one @ adjoint.T
    np.fill_diagonal(means, 0.0)
    return means


def leave_two_out(p: FloatArray, without_one: FloatArray) -> FloatArray:
    """Return Pr[sum over agents other than i, j of Bernoulli(p) = s] for given i and every j.

    Agent j is divided out by a two-term recursion over sizes. Who mostly joins is treated as
    mostly staying away from the reversed distribution, so that errors shrink on the way.

    Parameters
    ----------
    p
        Probabilities of joining, shape (..., n).
    without_one
        Rows of `leave_one_out(p)`, shape (..., n); leading axes are broadcast against those of p.

    Returns
    -------
    Shape (..., n, n - 1) over j and s; where j is i itself, it means nothing.
    """
    mostly_in = (p > 0.5)[..., None]
    q = np.minimum(p, 1 - p)
    rest = np.where(mostly_in, without_one[..., None, ::-1], without_one[..., None, :])
    result = np.empty((*rest.shape[:-1], rest.shape[-1] - 1))
    previous = np.zeros(result.shape[:-1])
    for s in range(result.shape[-1]):
        previous = (rest[..., s] - q * previous) / (1 - q)
        result[..., s] = previous
    return np.clip(np.where(mostly_in, result[..., ::-1], result), 0.0, 1.0)
