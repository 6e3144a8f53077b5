"""Guesses for the search: better than raw means where data are few, and never part of a certificate."""

import numpy as np
import pytest

from coterie.estimate.guess import Guess, choose_guess
from coterie.estimate.intervals import Moments
from coterie.simulate import Simulation


def moments(batch, n, k, kept, *, symmetric=True):
    count, total, squares = (np.zeros((k, n, n)) for _ in range(3))
    rows = kept[batch.sample]
    l, i, j, u = (part[rows] for part in (batch.coalition, batch.agent, batch.partner, batch.utility))
    for one, two in ((i, j), (j, i)) if symmetric else ((i, j),):
        np.add.at(count, (l, one, two), 1)
        np.add.at(total, (l, one, two), u)
        np.add.at(squares, (l, one, two), u**2)
    return Moments.from_sums(count, total, squares, events=1)


def halves(batch, n, k, rng, **options):
    half = rng.random(len(batch.joined)) < 0.5
    whole = np.ones(len(half), dtype=bool)
    return [moments(batch, n, k, kept, **options) for kept in (half, ~half, whole)]


def test_few_data_gain_from_shrinkage():
    raw, chosen = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        source = Simulation.draw(10, 5, rng, actions_per_agent=8)
        (batch,) = source.batches(30)
        one, two, whole = halves(batch, 10, 5, rng)
        truth = np.stack([source.game.utilities.means.matrix(l) for l in range(5)])
        guess = choose_guess([one, two], whole, symmetric=True)
        raw.append(((whole.mean - truth) ** 2).mean())
        chosen.append(((guess.values - truth) ** 2).mean())
    assert np.mean(chosen) < 0.95 * np.mean(raw)


@pytest.mark.parametrize("symmetric", [True, False])
def test_structure_is_found_where_it_is(symmetric):
    """Utilities that are sums of agents' effects: pairs never seen are guessed from the people in them."""
    rng = np.random.default_rng(1)
    n, k = 8, 2
    effect = rng.uniform(-0.4, 0.4, n)
    truth = np.repeat((effect[:, None] + effect[None])[None], k, axis=0)
    count = rng.integers(0, 3, (2, k, n, n)).astype(float)
    if symmetric:
        count = np.triu(count, 1) + np.swapaxes(np.triu(count, 1), 2, 3)
    parts = []
    for number in count:
        noise = rng.normal(0, 0.3, number.shape)
        noise = np.triu(noise, 1) + np.swapaxes(np.triu(noise, 1), 1, 2) if symmetric else noise
        parts.append(Moments.from_sums(number, number * truth + np.sqrt(number) * noise, None, events=1))
    total = count.sum(axis=0)
    whole = Moments.from_sums(total, sum(part.count * part.mean for part in parts), None, events=1)
    guess = choose_guess(parts, whole, symmetric=symmetric)
    off = ~np.eye(n, dtype=bool)
    assert ((guess.values - truth)[:, off] ** 2).mean() < 0.6 * ((whole.mean - truth)[:, off] ** 2).mean()
    assert (np.diagonal(guess.values, axis1=1, axis2=2) == 0).all()


def test_one_part_gives_raw_means():
    rng = np.random.default_rng(2)
    source = Simulation.draw(4, 3, rng)
    (batch,) = source.batches(50)
    *_, whole = halves(batch, 4, 3, rng)
    assert choose_guess([whole], whole, symmetric=True) == Guess(whole.mean, "raw")


def test_sizes_have_their_own_effects():
    """Each half sees other pairs; what they share is how a coalition's size matters."""
    by_size = np.array([0.0, 0.0, 0.8, -0.8])
    parts = []
    for pair in ((0, 1), (1, 2)):
        count = np.zeros((1, 3, 3, 4))
        count[0, pair[0], pair[1], 2:] = count[0, pair[1], pair[0], 2:] = 20
        parts.append(Moments.from_sums(count, count * by_size, None, events=2))
    total = parts[0].count + parts[1].count
    guess = choose_guess(parts, Moments.from_sums(total, total * by_size, None, events=4), symmetric=True)
    assert guess.name != "raw"
    # The pair 0, 2 was never seen at all.
    assert guess.values[0, 0, 2, 2] > 0.5
    assert guess.values[0, 0, 2, 3] < -0.5
