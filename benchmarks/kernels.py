"""What inner loops are bound by: bytes that each call must move, against what one core of this machine moves.

    python benchmarks/kernels.py [--quick]

*Bytes* are counted by the formula beside each case: entries of the arrays that a call is given or returns, each as
often as a turn of the loop needs it anew; working space that stays in the innermost cache is not counted. *Random
reads* are those in no order, one for each stretch of memory, and in which arrays: scattered ones, of which several can
be under way, and chained ones, whose place another one tells. All are set against loops that do nothing else, in arrays
as large as those of the kernel: a STREAM triad (a = b + s c, 24 bytes a step), a sum of entries in random order, and a
chain of places. CPU seconds of one thread, the best of several runs.
"""
# ruff: noqa: SLF001  (inner loops are private)

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np

from coterie import Game
from coterie.certificates.tilted import STEEPEST, TRIED
from coterie.certificates.tilts import widths_of_single_moves
from coterie.game.means import SparseMeans
from coterie.game.sweeps import Sweeps
from coterie.solve import annealing, groups, margins
from coterie.statistics.gram import DENSE, add_cooccurrences
from coterie.statistics.joint import _add_projection, _edges_of
from coterie.statistics.kernels import compiled
from coterie.statistics.packed import packed_length
from harness import record, table
from many import weights_of
from solve import evidence_of, objective_of, spaces_of

_compiled: Any = numba.njit(cache=True, nogil=True)

LEVELS = {"16 KiB": 1 << 14, "256 KiB": 1 << 18, "8 MiB": 1 << 23, "512 MiB": 1 << 29}
"""For arrays of so many bytes together: in the first, second and third cache of most machines, and in memory."""


Reads = tuple[tuple[float, float], ...]
"""How many stretches of memory are read at random, and from arrays of how many bytes."""


@dataclass(frozen=True)
class Case:
    """A call of a kernel, and what it has to do."""

    name: str
    size: str
    call: Callable[[], Any]
    held: float
    """Bytes of all arrays that it is given."""
    moved: float
    """Bytes that must be moved."""
    steps: float
    """Turns of innermost loops."""
    scattered: Reads = ()
    chained: Reads = ()


# --- What the machine can do ------------------------------------------------------------------------------


@_compiled
def _copy(a, b, times):
    for t in range(times):
        for i in range(len(a)):
            a[i] = b[i] + t


@_compiled
def _triad(a, b, c, times):
    for t in range(times):
        for i in range(len(a)):
            a[i] = b[i] + t * c[i]


@_compiled
def _gather(values, order, times):
    total = 0  # whole numbers: sums of floats wait for each other
    for _ in range(times):
        for i in order:
            total += values[i]
    return total


@_compiled
def _chase(following, steps):
    place = 0
    for _ in range(steps):
        place = following[place]
    return place


@_compiled
def _roots(a, b, times):
    for t in range(times):
        for i in range(len(a)):
            a[i] = np.sqrt(b[i] + t)


@_compiled
def _logarithms(a, b, times):
    for _ in range(times):
        for i in range(len(a)):
            a[i] = np.log1p(b[i])


def seconds(call: Callable[[], Any], least: float, runs: int = 5) -> float:
    """Return the CPU seconds of a call, the best of some runs of at least so long."""
    call()  # compiled, and near
    begin = time.process_time()
    call()
    times = max(1, int(least / max(time.process_time() - begin, 1e-9)))
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - begin) / times)
    return best


class Machine:
    """Rates of loops that do one thing only, for arrays of so many bytes together."""

    def __init__(self, least: float) -> None:
        self.least = least

    def _each(self, loop: Callable[..., Any], length: int, *arrays: Any) -> float:
        """Return seconds per turn of the loop, over arrays of this length as often as it takes."""
        times = max(1, 2_000_000 // length)
        return seconds(lambda: loop(*arrays, times), self.least) / (times * length)

    @cache  # noqa: B019  (there is one machine)
    def triad(self, held: int) -> float:
        """Return bytes per second of a = b + s c."""
        length = max(held // 24, 64)
        return 24 / self._each(_triad, length, *np.ones((3, length)))

    @cache  # noqa: B019
    def copy(self, held: int) -> float:
        """Return bytes per second of a = b + s."""
        length = max(held // 16, 64)
        return 16 / self._each(_copy, length, *np.ones((2, length)))

    @cache  # noqa: B019
    def gather(self, held: int) -> float:
        """Return seconds per read where places are random, and known: several can be under way."""
        length = max(held // 8, 64)
        order = np.random.default_rng(0).integers(length, size=min(length, 1 << 20))
        return self._each(_gather, len(order), np.ones(length, dtype=np.int64), order)

    @cache  # noqa: B019
    def chase(self, held: int) -> float:
        """Return seconds per read where each tells the place of the next."""
        length = max(held // 8, 64)
        order = np.random.default_rng(0).permutation(length)
        following = np.empty(length, dtype=np.int64)
        following[order] = np.roll(order, -1)
        steps = min(length, 1 << 20)
        return seconds(lambda: _chase(following, steps), self.least) / steps

    def arithmetic(self) -> dict[str, float]:
        """Return seconds per entry of an array in the first cache."""
        a, b, c = np.full((3, 512), 0.3)
        return {
            "multiply and add": self._each(_triad, len(a), a, b, c),
            "square root": self._each(_roots, len(a), a, b),
            "log(1 + x)": self._each(_logarithms, len(a), a, b),
        }


# --- Kernels ----------------------------------------------------------------------------------------------


def best_responses(n: int, pairs: int, k: int) -> Case:
    """Everybody's best response is looked for, and nobody moves."""
    rng = np.random.default_rng(0)
    weights = weights_of(n, pairs, 0, 0.5)
    profile = np.eye(k, dtype=bool)[rng.integers(k, size=n)]
    means, spaces = SparseMeans.from_matrices([weights], k), Game(weights, "one", coalitions=k).actions
    sweeps, entries = Sweeps(means, spaces, profile, 0.0), len(means.listed.partner)
    return Case(
        "best responses, `sweeps._sweep`",
        f"{n:,} agents, {entries // 2:,} pairs, {k} coalitions",
        sweeps.largest_gain,
        held=entries * (4 + 8) + n * (8 + 8 + 4 + 2 * k),
        moved=entries * (4 + 8 + 4) + n * (8 + 8 + 2 * k),  # partner, value, her place; order, start, profile, allowed
        steps=entries + 4 * n * k,  # empty rooms, bar some, choose, subtract
        scattered=((entries, 4 * n),),  # her place
    )


def moves_of_groups(n: int, pairs: int, k: int) -> Case:
    """One look at everybody from a partition in which nobody gains, so that each is looked at once."""
    rng = np.random.default_rng(0)
    weights = weights_of(n, pairs, 0, 0.5)
    label = groups._single(weights, rng.integers(k, size=n), rng, k, n, 0.0)
    given = (*groups._parts(weights), np.ones(n, dtype=np.int64), label, k, n, 1e-9, rng.permutation(n))
    return Case(
        "moves of groups, `groups._move`",
        f"{n:,} agents, {weights.nnz // 2:,} pairs, {k} coalitions",
        lambda: groups._move(*given),
        held=weights.nnz * (8 + 8) + n * 5 * 8,
        moved=weights.nnz * (8 + 8 + 8) + n * 4 * 8,  # partner, value, label; start, size, own label, order
        steps=weights.nnz,
        scattered=((weights.nnz, 8 * n),),  # labels of partners
        chained=((n, 8 * n), (n, 16 * weights.nnz)),  # where the next agent's row begins, and the row
    )


def rooms(n: int, k: int, actions: int) -> tuple[Any, Any, Any]:
    """Return margins of a search for `paired`, a profile, and all of its moves that are looked at."""
    rng = np.random.default_rng(0)
    spaces = spaces_of(rng, n, k, actions)
    objective = objective_of("paired", evidence_of(rng, n, k, 3000), spaces)
    bound_of = objective._bound_of()
    assert bound_of is not None
    sets = [one for one in objective._sets if one is not None]  # type: ignore[attr-defined]
    cells = margins.cells_of(bound_of, sets, objective._group, spaces.counted)  # type: ignore[attr-defined]
    assert cells is not None
    return margins.Margins(cells), spaces.sample(rng, 1)[0], spaces.sample(rng, 2)


def sums_of_profile(n: int, k: int, actions: int) -> Case:
    """All sums over partners of one profile."""
    found, profile, _ = rooms(n, k, actions)
    pieces = found.cells.upper.shape[2]
    return Case(
        "sums of a profile, `margins._sums`",
        f"{n} agents, {k} coalitions, {pieces} pieces",
        lambda: margins._sums(found._tables, profile),
        held=4 * found.cells.upper.nbytes,
        moved=4 * found.cells.upper.nbytes + n * k + 6 * 8 * n * pieces * k,  # what each adds; who is where; the sums
        steps=n * n * pieces * k,
    )


def margins_of_moves(n: int, k: int, actions: int) -> Case:
    """Everybody's margin after each of two moves of everybody, in full."""
    found, profile, (one, other) = rooms(n, k, actions)
    movers, chosen = np.tile(np.arange(n), 2), np.concatenate([one, other])
    pieces, width = found.cells.upper.shape[2], found.cells.has_width
    changed = float((chosen != profile[movers]).sum()) * n
    looked = len(movers) * n
    return Case(
        "margins of moves, `margins._of_moves`",
        f"{n} agents, {k} coalitions, {actions} actions, {pieces} pieces",
        lambda: found.margins_of_moves(profile, movers, chosen, np.arange(n), np.inf),
        held=4 * found.cells.upper.nbytes + 6 * 8 * n * pieces * k,
        moved=looked * (4 * 8 * pieces * k + k + 8)
        + changed * 4 * 8 * pieces,  # sums, own set, result; what movers add
        steps=looked * k * actions * (1 + sum(3 if one else 1 for one in width)),
        scattered=((4 * looked, 4 * found.cells.upper.nbytes),),  # what the mover adds, in four tables
    )


def annealing_steps(n: int, k: int, proposals: int, *, taken: bool) -> Case:
    """Changes that are looked at, so cold that none is taken, or so hot that all are."""
    rng = np.random.default_rng(0)
    both = rng.normal(size=(k + 1, n, n))
    both = both + np.swapaxes(both, 1, 2)
    both[k] = 0.0
    factor, allowed = np.ones(n + 2), np.ones((k + 1, n + 2), dtype=bool)
    places, area = np.ones((n, k + 1), dtype=bool), np.arange(n) % k
    if not taken:
        cool(both, factor, allowed, places, area)
    warmth = 1e12 if taken else 1e-12
    given = both, factor, allowed, places

    def call() -> None:
        annealing._anneal(*given, area.copy(), proposals, warmth, warmth, 1)

    # Exchanges are 7 in 10. Two agents are in different ones of r rooms with probability (1 - 1 / r) (1 - 1 / n).
    differ = 1 - 1 / (k + 1)
    moves = proposals * (2 * 0.7 * differ * (1 - 1 / n) + 0.3 * differ) if taken else 0.0
    sums = 8 * (k + 1) * n
    return Case(
        f"annealing, {'all' if taken else 'none'} taken, `annealing._anneal`",
        f"{n} people, {k} coalitions, {proposals:,} changes",
        call,
        held=both.nbytes + sums,
        moved=both.nbytes / (k + 1) + proposals * 8 * 8 + moves * 2 * n * 3 * 8,  # first sums; two rows follow a move
        steps=n * n + proposals + moves * n,
        scattered=((proposals * (0.7 * 4 + 0.3 * 2), sums), (moves * 4, both.nbytes)),  # sums of two; rows of movers
        chained=((proposals, 8 * n), (proposals * 0.7, both.nbytes)),  # where they are, what they are to each other
    )


def cool(both: Any, factor: Any, allowed: Any, places: Any, area: Any) -> None:
    """Let people change places until no change that is drawn gains."""
    for seed in range(5):
        annealing._anneal(both, factor, allowed, places, area, 2_000_000, 1e-12, 1e-12, seed)


def cooccurrences(n: int, k: int, samples: int) -> Case:
    """Matrices of who occurred together, everybody in each coalition in every other sample."""
    rng = np.random.default_rng(0)
    block = n - 1
    inside = rng.random((samples, n, k)) < 0.5
    met = inside[:, :, None, :] & inside[:, None, :, :] & ~np.eye(n, dtype=bool)[:, :, None]
    sample, agent, coalition, partner = np.nonzero(np.moveaxis(met, 3, 2))
    feature = coalition * block + partner - (partner > agent)
    gram = np.zeros((1, n, packed_length(block * k)), dtype=np.int64)
    order = np.lexsort((feature, sample, agent))  # as `accumulate` has them
    agent, feature, group = agent[order], feature[order], (agent * samples + sample)[order]
    add = compiled(add_cooccurrences)
    entries = touched(group, feature, block, k)
    return Case(
        "who occurred together, `gram.add_cooccurrences`",
        f"{n} agents, {k} coalitions, {samples} samples",
        lambda: add(group, agent, feature, np.zeros_like(group), gram, block, k),
        held=gram.nbytes + 32 * len(group),
        moved=16 * entries + 32 * len(group),  # entries of matrices, read and written; rows of the log
        steps=entries,
    )


def touched(group: Any, feature: Any, block: int, tables: int) -> int:
    """Return how many entries of matrices are added to, zeros included where rows are added as a whole."""
    total = 0
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    for some in np.split(feature, starts[1:]):
        counts = np.bincount(some // block, minlength=tables)
        whole = np.where(DENSE * counts >= block, block, counts)
        later = np.cumsum(whole[::-1])[::-1] - whole
        rest = np.repeat(np.cumsum(counts), counts) - np.arange(len(some))  # of her coalition, from this one on
        across = block - some % block
        total += int((counts * later).sum() + np.where(DENSE * rest >= across, across, rest).sum())
    return total


def joint_action(n: int, k: int) -> tuple[Any, ...]:
    """Return a joint action in which everybody is in each coalition or not, and all totals are observed."""
    inside = np.random.default_rng(0).random((n, k)) < 0.5
    coalition, agent = np.nonzero(inside.T)
    return np.arange(n), agent, coalition


def edges_met(n: int, k: int) -> int:
    sizes = np.bincount(joint_action(n, k)[2], minlength=k)
    return int((sizes * (sizes - 1)).sum()) // 2


def projections(n: int, k: int) -> Case:
    """The projection of one joint action is added."""
    total, edges = np.ones(n), k * n * (n - 1) // 2
    sums, moments = np.zeros((edges, edges)), np.zeros(edges)
    given, add, met = joint_action(n, k), compiled(_add_projection), edges_met(n, k)
    return Case(
        "projections of totals, `joint._add_projection`",
        f"{n} agents, {k} coalitions, {met} edges of {edges}",
        lambda: add(*given, 1, total, 0.0, False, n, sums, moments),
        held=sums.nbytes * (met / edges) ** 2 / 2,
        moved=16 * met * (met + 1) / 2 + 8 * 3 * edges,  # entries, read and written; lists of edges
        steps=met * (met + 1) / 2,
        scattered=((met, sums.nbytes),),  # rows; within them, places ascend
    )


def edges(n: int, k: int) -> Case:
    """The part of the same that lists edges and inverts Z Z'."""
    count = k * n * (n - 1) // 2
    given, lists, met = joint_action(n, k), compiled(_edges_of), edges_met(n, k)
    return Case(
        "its edges and inverse, `joint._edges_of`",
        f"{n} agents, {k} coalitions, {met} edges of {count}",
        lambda: lists(*given, False, n, count),
        held=8 * 4 * count + 3 * 8 * n * n,
        moved=8 * 4 * count + 3 * 8 * n * n,  # weights, ends and list; Z Z', vectors and inverse
        steps=met + 9 * n**3,  # values and vectors of a symmetric matrix take some 9 n^3
    )


def tilted_widths(n: int, k: int, seen: float) -> Case:
    """The width of every move of everybody from one coalition to another."""
    rng = np.random.default_rng(0)
    own = rng.integers(k, size=n)
    i, j = np.triu_indices(n, 1)
    some = rng.random(len(i)) < seen
    i, j = i[some], j[some]
    agent, partner = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort((partner, own[partner], agent))
    unknown = np.tile(np.arange(len(i)), 2)[order]
    room = (agent * k + own[partner])[order]
    starts = np.searchsorted(room, np.arange(n * k + 1))
    tables = rng.integers(1, 50, len(i)).astype(float), rng.random(len(i)), rng.random(len(i))
    lengths = np.diff(starts).reshape(n, k)
    mine = lengths[np.arange(n), own][:, None]
    tried = float(mine.sum() + ((mine + lengths) * ((lengths > 0) & (np.arange(k) != own[:, None]))).sum())
    fixed = {"tried": TRIED, "steepest": STEEPEST, "length": 2.0, "log_term": 12.0}
    return Case(
        "widths of moves, `tilts._single_widths`",
        f"{n:,} agents, {k} coalitions, {len(i):,} pairs",
        lambda: widths_of_single_moves(own, k, (starts, unknown), np.arange(n), tables, **fixed),
        held=8 * len(unknown) + 3 * 8 * len(i) + 2 * 8 * n * k,
        moved=len(unknown) * (8 + 3 * 8) + 2 * 8 * n * k,  # unknowns with three figures each; where rooms begin, widths
        steps=tried * (len(TRIED) + 1),
        scattered=((3 * len(unknown), 3 * 8 * len(i)),),
    )


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield calls at sizes that searches and reductions meet; much smaller ones where it is to be quick."""
    many = (500, 5_000, 10) if quick else (100_000, 1_000_000, 100)
    few = (300, 3_000, 10) if quick else (1_000, 10_000, 50)
    yield best_responses(*few)
    yield best_responses(*many)
    yield moves_of_groups(*few)
    yield moves_of_groups(*many)
    for n, k, actions in ((12, 3, 4),) if quick else ((40, 6, 63), (200, 5, 8)):
        yield sums_of_profile(n, k, actions)
        yield margins_of_moves(n, k, actions)
    for n, k in ((20, 3),) if quick else ((40, 6), (300, 20)):
        for taken in (False, True):
            yield annealing_steps(n, k, 10_000 if quick else 200_000, taken=taken)
    for n, k, samples in ((8, 3, 20),) if quick else ((25, 5, 200), (100, 5, 20)):
        yield cooccurrences(n, k, samples)
    for n, k in ((8, 3),) if quick else ((25, 5), (40, 6)):
        yield edges(n, k)
        yield projections(n, k)
    yield tilted_widths(*((60, 5, 0.3) if quick else (2_500, 50, 0.08)))


def bytes_in_words(count: float) -> str:
    power = min(int(np.log10(max(count, 1))) // 3, 3)
    return f"{count / 1000**power:.3g} {('B', 'KB', 'MB', 'GB')[power]}"


def rounded(held: float) -> int:
    """Return a power of two: rates depend on where arrays fit, which a factor of two says well enough."""
    return 1 << int(np.ceil(np.log2(max(held, 1024))))


def judged(case: Case, machine: Machine) -> list[str]:
    """Return the line of a kernel: how fast it is, and which share of its time the loops that do one thing explain."""
    taken = seconds(case.call, machine.least)
    triad = machine.triad(rounded(case.held))
    reads = sum(count * machine.gather(rounded(among)) for count, among in case.scattered)
    reads += sum(count * machine.chase(rounded(among)) for count, among in case.chained)
    shares = {"bandwidth": case.moved / triad / taken, "random reads": reads / taken}
    bound = max(shares, key=lambda name: shares[name])
    return [
        case.name, case.size, bytes_in_words(case.held), bytes_in_words(case.moved), f"{1e3 * taken:.3g}",
        f"{case.moved / taken / 1e9:.2f}", f"{triad / 1e9:.1f}", f"{shares['bandwidth']:.0%}",
        f"{shares['random reads']:.0%}", f"{1e9 * taken / case.steps:.2f}",
        bound if shares[bound] >= 0.5 else "instructions",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cases and short runs; nothing is recorded")
    options = parser.parse_args()
    machine = Machine(0.001 if options.quick else 0.1)
    levels = list(LEVELS.items())[: 2 if options.quick else None]
    roofs = table(
        ["arrays of", "copy, GB/s", "triad, GB/s", "random read, ns", "random read after another, ns"],
        [
            [name, f"{machine.copy(held) / 1e9:.1f}", f"{machine.triad(held) / 1e9:.1f}",
             f"{1e9 * machine.gather(held):.2f}", f"{1e9 * machine.chase(held):.2f}"]
            for name, held in levels
        ],
    )  # fmt: skip
    arithmetic = ", ".join(f"{name} {1e9 * each:.2f} ns" for name, each in machine.arithmetic().items())
    rows = []
    for case in cases(quick=options.quick):
        rows.append(judged(case, machine))
        print(*rows[-1], sep=" | ", flush=True)
    header = [
        "kernel", "size", "arrays", "bytes moved", "ms", "GB/s", "triad, GB/s", "share of bandwidth",
        "share of random reads", "ns per step", "bound by",
    ]  # fmt: skip
    text = (
        f"One core moves, and reads in random order:\n\n{roofs}\n\nAn entry of an array in the first cache takes: "
        f"{arithmetic}.\n\n{table(header, rows)}\n\nThe triad is that of arrays as large as the kernel's. Shares are "
        "of the kernel's time: what its bytes would take at the triad's rate, and what its random reads would take if "
        "nothing else were done. Bound by what explains half of the time or more; by instructions (arithmetic, "
        "branches, calls) where neither does."
    )
    if options.quick:
        print(text)
    else:
        record("Kernels", "python benchmarks/kernels.py", text)


if __name__ == "__main__":
    main()
