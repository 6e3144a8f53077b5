"""How large a gap can be before any data are seen, and how many samples make it small.

Every statement is a `Bound` with two directions: `gap(samples)`, and `samples(gap)`, the smallest
log after which the bound is that small. Utilities lie in [-1, 1] (for [-s, s] multiply gaps by s),
do not depend on coalition size, and are independent between pairs; `slack` is how far the search
stays above the smallest value of what it minimises (the paper's epsilon_opt).

`status` is "proven" (printed in the paper, and it holds), "corrected" (it holds, and its docstring
derives it, since the printed one or its proof does not), or "as printed" (for comparison; `why` says
what is missing).

What a log covers enters through three coefficients of a stable *reference profile*: c_size (eq. 7),
c_act (Assumption 2), and c_pair, the largest p_j(l) / rho_l(i, j) over all (i, j, l) that one
agent's deviation can bring together, where rho_l(i, j) is how often i and j meet in l.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates.paper import paper_radius
from coterie.errors import InputError
from coterie.words import said

if TYPE_CHECKING:
    from coterie.simulate.logs import Feedback

Status = Literal["proven", "corrected", "as printed"]

BEST_C_PAIR = 1.0
"""No policy covers a pure profile better: rho_l(i, j) <= 1, with equality where everybody always joins everything."""

PRINTED_C_SIZE = 3.0
"""What App. E.1 gives for the best policy; two agents and k disjoint coalitions need (k + 4) / 2."""

ENOUGH = 10**300
"""A bound that is not small after so many samples never is."""

Rate = Callable[[float], float]


@dataclass(frozen=True)
class Problem:
    """The size of a game, what is asked for, and how well the log covers a reference profile.

    Parameters
    ----------
    n_agents, n_coalitions
        The size of the game.
    delta
        How often a bound may fail.
    most_joined
        The largest number of coalitions that an agent may join at once; by default all.
    symmetric
        Whether both members of a pair get the same utility.
    c_size, c_pair, c_act
        Coverage of the reference profile; infinite (c_act: 0) where it is not covered. By default
        `PRINTED_C_SIZE`, `BEST_C_PAIR`, and for c_act the best value with a proof, `known_c_act`.
    slack
        How far the search ends above the smallest value.
    """

    n_agents: int
    n_coalitions: int
    delta: float = 0.01
    most_joined: int | None = None
    symmetric: bool = True
    c_size: float = PRINTED_C_SIZE
    c_pair: float = BEST_C_PAIR
    c_act: float | None = None
    slack: float = 0.0

    def __post_init__(self) -> None:
        checks.whole(self.n_agents, said("n_agents"), 2)
        checks.whole(self.n_coalitions, said("n_coalitions"), 1)
        checks.probability(self.delta, said("delta"))
        if self.most_joined is not None and checks.whole(self.most_joined, said("most_joined"), 1) > self.n_coalitions:
            raise InputError(
                f"{said('most_joined')}: expected at most {self.n_coalitions} coalitions, got {self.most_joined}"
            )
        if not (self.c_size > 0 and self.c_pair > 0):
            raise InputError(
                f"{said('c_size')}, {said('c_pair')}: expected positive numbers, got {self.c_size}, {self.c_pair}"
            )
        if self.c_act is not None and not 0 <= self.c_act <= 1:
            raise InputError(f"{said('c_act')}: expected a number from 0 to 1, got {self.c_act}")
        checks.number(self.slack, said("slack"), 0)

    @property
    def joined(self) -> int:
        """The most coalitions of one agent, m."""
        return self.n_coalitions if self.most_joined is None else self.most_joined

    @property
    def events(self) -> int:
        """K: the mean utilities that are estimated, one for each pair (ordered if asymmetric) and coalition."""
        ordered = self.n_agents * (self.n_agents - 1) * self.n_coalitions
        return ordered // 2 if self.symmetric else ordered

    @property
    def largest_gap(self) -> float:
        """(n - 1) m: no gap is larger, since the others have no more places in the coalitions that a move changes."""
        return float((self.n_agents - 1) * self.joined)


@dataclass(frozen=True)
class Bound:
    """A statement "with probability 1 - delta, gap <= rate(M) + slack", read in both directions."""

    name: str
    statement: str
    status: Status
    why: str
    """For "as printed": what is missing. Else: what it speaks about."""
    rate: Rate
    slack: float = 0.0
    at_least: int = 1
    """Nothing is said about fewer samples."""

    def gap(self, samples: int) -> float:
        """Return the bound after so many samples, infinite where nothing is said."""
        checks.whole(samples, said("samples"), 1)
        return self.rate(samples) + self.slack if samples >= self.at_least else math.inf

    def samples(self, gap: float) -> float:
        """Return the smallest number of samples after which the bound is at most `gap`; infinite if there is none.

        Rates fall with M, so doubling and bisection over whole numbers find it, also where M is on
        both sides (Corollary 2's beta grows with log M).
        """
        if not checks.number(gap, said("gap")) > self.slack:
            raise InputError(f"{said('gap')}: expected more than the slack of the search, {self.slack:g}, got {gap:g}")
        low, high = 0, self.at_least
        while self.gap(high) > gap:
            low, high = high, 2 * high
            if high > ENOUGH:
                return math.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.gap(middle) > gap else (low, middle)
        return high


def general(deviating: FloatArray, staying: FloatArray, slack: float = 0.0) -> float:
    """Return Theorem 1: 2 max over i of (deviating_i + staying_i) + slack.

    The bonuses are expectations at a stable profile: `deviating` under the agent's worst deviation,
    `staying` under the profile itself. (A line of the printed proof doubles them by mistake.)
    """
    return float(2 * np.max(np.asarray(deviating) + np.asarray(staying)) + slack)


def theorem_1(deviating: FloatArray, staying: FloatArray, measured_at: float, slack: float = 0.0) -> Bound:
    """Return Theorem 1 as a bound, for bonuses that fall with the root of the samples.

    Bonuses of eq. (9) with the shares of samples unchanged: four times the log, half the bonus.
    """
    once = general(deviating, staying)
    return Bound(
        "Theorem 1",
        "gap <= 2 max_i [E bonus_i(deviating) + E bonus_i(staying)]",
        "proven",
        "for any valid bonus",
        lambda m: once * math.sqrt(measured_at / m),
        slack,
    )


def theorem_1_from_counts(problem: Problem) -> Bound:
    """Return Theorem 1 for a log that shows every pair within reach at least M / c_pair times.

    The bonus of a pair seen N times is sqrt(2 log(2K / delta) / N), Hoeffding over K means; an agent
    has at most (n - 1) m pairs, staying or deviating. Counts are given, so nothing is paid for them.
    """
    log_term = math.log(2 * problem.events / problem.delta)
    bonus = np.array([(problem.n_agents - 1) * problem.joined * math.sqrt(2 * log_term)])
    why = "eq. (9) with log(2K/delta), for a log that is sure to show each pair within reach M/c_pair times"
    return replace(theorem_1(bonus, bonus, problem.c_pair, problem.slack), why=why)


NOT_SUFFICIENT = (
    "coalition sizes covered do not suffice: with n = 4, k = 2 and c_size = 6 two games give the same log, and no "
    "strategy has a gap below 2/7 in both, however long the log"
)


def _by_sizes(problem: Problem, factor: float) -> Rate:
    n, k = problem.n_agents, problem.n_coalitions
    log_term = math.log(4 * (n + 1) * k / problem.delta)
    spread = math.sqrt(2 * (n - 1)) * ((n - 1) / 2 + math.sqrt(n / 2))
    once = factor * k * n * problem.c_size * log_term * spread
    return lambda m: once / math.sqrt(m)


def theorem_3(problem: Problem) -> Bound:
    """Return Theorem 3, and Corollary 1 the other way: f / sqrt(M), f of eq. (10)."""
    return Bound(
        "Theorem 3, Corollary 1",
        "gap <= 8kn(n+1) c_size log(4(n+1)k/delta) sqrt(2(n-1)/M) [(n-1)/2 + sqrt(n/2)]",
        "as printed",
        NOT_SUFFICIENT,
        _by_sizes(problem, 8 * (problem.n_agents + 1)),
        problem.slack,
    )


def appendix_e3(problem: Problem) -> Bound:
    """Return App. E.3 (pure strategies): 3 for the factor n + 1; its Corollary E.4 the other way, with 1152.

    Solving 24 ... sqrt(2(n-1)) / sqrt(M) <= gap for M squares 24 sqrt(2), which is 1152.
    """
    return Bound(
        "App. E.3, E.4 with 1152",
        "gap <= 24kn c_size log(4(n+1)k/delta) sqrt(2(n-1)/M) [(n-1)/2 + sqrt(n/2)]",
        "as printed",
        f"the constant of E.4 follows from E.3, but {NOT_SUFFICIENT}",
        _by_sizes(problem, 24),
        problem.slack,
    )


def appendix_e4(problem: Problem) -> Bound:
    """Return Corollary E.4 with its printed 576, half of what App. E.3 gives."""
    return Bound(
        "App. E.4",
        "M >= 576k^2n^2(n-1) c_size^2 log^2(4(n+1)k/delta) [(n-1)/2 + sqrt(n/2)]^2 / gap^2",
        "as printed",
        f"squaring App. E.3 gives 1152 for 576; besides, {NOT_SUFFICIENT}",
        _by_sizes(problem, 24 / math.sqrt(2)),
        problem.slack,
    )


def _by_pairs(problem: Problem, factor: float) -> Rate:
    log_term = math.log(4 * problem.events / problem.delta)
    once = factor * (problem.n_agents - 1) * math.sqrt(problem.c_pair * log_term)
    return lambda m: once / math.sqrt(m)


def pair_coverage(problem: Problem) -> Bound:
    """Return gap <= 8 (n-1) m sqrt(c_pair log(4K/delta) / M), for a pure reference profile.

    Minimising Lemma 2's surrogate with eq. (8) and the bonus sqrt(2L / max(N, 1)), L = log(4K/delta):
    all K bonuses hold with probability 1 - delta/2 (a pair never seen is off by at most 1 <= bonus).
    A pair within reach has rho >= 1/c_pair, so for M >= 8 c_pair L Chernoff gives N >= M rho / 2 for
    all of them with probability 1 - K exp(-L) = 1 - delta/4. Then a bonus is at most
    2 sqrt(L c_pair / M), an agent has at most (n-1) m pairs staying and deviating, and Theorem 1
    doubles the sum. For smaller M the right side exceeds `largest_gap`: no condition.
    The output may be pure or mixed; symmetric size-free games always have a pure reference (Lemma 1).
    """
    return Bound(
        "Pair coverage",
        "gap <= 8(n-1)m sqrt(c_pair log(4K/delta)/M)",
        "corrected",
        "in place of Theorem 3 and App. E.3: minimising the paper's surrogate with log(4K/delta) in eq. (9); "
        "pure reference profile",
        _by_pairs(problem, 8 * problem.joined),
        problem.slack,
    )


def pair_coverage_mixed(problem: Problem) -> Bound:
    """Return gap <= 4 sqrt(3 + sqrt 5) (n-1) m sqrt(c_pair log(4K/delta) / M), for any reference profile.

    As `pair_coverage`, with intervals clipped to the range, so that a bonus counts for at most 1.
    With x = 3 + sqrt 5: if M rho >= x L, Chernoff gives N >= (1 - sqrt(2/x)) M rho, and p_j bonus <=
    sqrt(2 c_pair L / ((1 - sqrt(2/x)) M)) = sqrt(x c_pair L / M) by rho >= p_j / c_pair and p_j <= 1.
    If not, p_j <= c_pair rho < x c_pair L / M and p_j <= 1, so p_j is below the same root.
    """
    return Bound(
        "Pair coverage, mixed",
        "gap <= 4 sqrt(3+sqrt5)(n-1)m sqrt(c_pair log(4K/delta)/M)",
        "corrected",
        "the same with intervals clipped to [-1, 1], for a mixed reference profile",
        _by_pairs(problem, 4 * math.sqrt(3 + math.sqrt(5)) * problem.joined),
        problem.slack,
    )


def pair_coverage_paired(problem: Problem) -> Bound:
    """Return gap <= certificate <= 4 (n-1) m sqrt(c_pair log(4K/delta) / M) for `paired`.

    As `pair_coverage`, minimising the paired certificate (box form, Hoeffding widths at delta/2):
    at a stable pure profile it is at most twice the bonuses of the pairs in coalitions that the
    deviation changes, and the others have at most (n-1) m places. It bounds the certificate as well.
    """
    return Bound(
        "Pair coverage, paired",
        "gap <= certificate <= 4(n-1)m sqrt(c_pair log(4K/delta)/M)",
        "corrected",
        "minimising the paired certificate instead, which it bounds as well; pure reference profile",
        _by_pairs(problem, 4 * problem.joined),
        problem.slack,
    )


def printed_c_act(problem: Problem) -> float:
    """Return the given c_act, or 1/(2nk^4) of App. G.1: it holds, though not by the printed proof."""
    return 1 / (2 * problem.n_agents * problem.n_coalitions**4) if problem.c_act is None else problem.c_act


def known_c_act(problem: Problem) -> tuple[float, int]:
    """Return the best c_act that some policy is proven to have at a pure profile, and its number of joint actions.

    A policy uniform over J joint actions shows each at least M / (2J) times, with probability
    1 - delta if M >= 8 J log(J/delta). All J = 1 + n(A - 1) unilateral deviations (A actions each):
    every z is seen itself, c_act = 1/(2J). Or, where any set may be joined, only those J = nk + 1
    that change one coalition (App. G.1): a deviation that changes q of them has
    z = (1-q) z* + sum of q seen vectors, so by Cauchy c_act = 1/(2J ((q-1)^2 + q)), q <= k:
    1/(2(nk+1)(k^2-k+1)).
    """
    n, k = problem.n_agents, problem.n_coalitions
    every = 1 + n * (sum(math.comb(k, size) for size in range(1, problem.joined + 1)) - 1)
    found = [(1 / (2 * every), every)]
    if problem.joined == k:
        found.append((1 / (2 * (n * k + 1) * (k * k - k + 1)), n * k + 1))
    return max(found)


def theorem_5(problem: Problem) -> Bound:
    """Return Theorem 5, Corollary 2 the other way, and App. G.3, which says the same of pure strategies."""
    n, k, c_act = problem.n_agents, problem.n_coalitions, printed_c_act(problem)
    root = 4 * math.sqrt(n * n * k / c_act) if c_act else math.inf
    return Bound(
        "Theorem 5, Corollary 2, App. G.3",
        "gap <= 4 sqrt(n^2 k beta/(c_act M)), beta of eq. (11)",
        "as printed",
        "beta takes the noise of a total for that of one pair, and log(1+M/n) for log(1+M); agents who share "
        "a pair's noise are treated as independent",
        lambda m: root * paper_radius(n, k, m, problem.delta) / math.sqrt(m),  # type: ignore[arg-type]
        problem.slack,
    )


def bandit_radius(problem: Problem, samples: float, delta: float) -> float:
    """Return the corrected root of beta: sqrt(D) + sqrt((n-1)m (2 log(n/delta) + D log(1 + M m/k))), D = (n-1)k.

    One ridge regression per agent with penalty 1 (V is block diagonal, so nothing else changes). A
    total of at most (n-1)m independent terms in [-1, 1] has noise of that variance proxy; the
    self-normalised bound (Lattimore and Szepesvari, Theorem 20.5) for each of n agents at delta/n;
    |theta_i| <= sqrt(D); and det V_i <= (1 + M (n-1)m / D)^D, since |z_i|^2 <= (n-1)m.
    """
    n, k, joined = problem.n_agents, problem.n_coalitions, problem.joined
    dimension = (n - 1) * k
    price = 2 * math.log(n / delta) + dimension * math.log1p(samples * joined / k)
    return math.sqrt(dimension) + math.sqrt((n - 1) * joined * price)


def action_coverage(problem: Problem, *, pure: bool = True) -> Bound:
    """Return gap <= 4 sqrt(beta' / (c_act M)), times sqrt((n-1)k) for a mixed reference profile.

    Assumption 2 gives E|z|_(V^-1) <= sqrt(tr[(I + M c E zz')^-1 E zz']) <= sqrt(rank(E zz') / (M c)). The
    rank is at most (n-1)k within an agent's block, not n^2 k; at a pure profile and deviation it is
    1. beta' is that of `bandit_radius`. Where c_act is not given it is `known_c_act`, for which half
    of delta is paid and which needs M >= 8 J log(2J / delta) samples.
    """
    c_act, delta, at_least = problem.c_act, problem.delta, 1
    if c_act is None:
        c_act, shown = known_c_act(problem)
        delta, at_least = delta / 2, math.ceil(8 * shown * math.log(2 * shown / delta))
    rank = 1 if pure else (problem.n_agents - 1) * problem.n_coalitions
    root = 4 * math.sqrt(rank / c_act) if c_act else math.inf
    return Bound(
        "Action coverage" if pure else "Action coverage, mixed",
        f"gap <= 4 sqrt({'' if pure else '(n-1)k '}beta'/(c_act M))",
        "corrected",
        f"in place of {'App. G.3' if pure else 'Theorem 5'}: minimising the paper's surrogate with the corrected "
        f"radius beta' in eq. (11); {'pure' if pure else 'mixed'} reference profile",
        lambda m: root * bandit_radius(problem, m, delta) / math.sqrt(m),
        problem.slack,
        at_least,
    )


FEEDBACKS: dict[str, tuple[Callable[[Problem], Bound], ...]] = {
    "semi-bandit": (
        theorem_3, appendix_e3, appendix_e4,
        theorem_1_from_counts, pair_coverage, pair_coverage_mixed, pair_coverage_paired,
    ),
    "bandit": (theorem_5, action_coverage, partial(action_coverage, pure=False)),
}  # fmt: skip
"""The bounds for each kind of log, those as printed first."""

Constants = Literal["both", "paper", "corrected"]
CONSTANTS: tuple[str, ...] = get_args(Constants)


def all_bounds(
    problem: Problem, feedback: "Feedback" = "semi-bandit", constants: Constants = "both"
) -> tuple[Bound, ...]:
    """Return every bound that applies: the paper's ("paper"), those that hold ("corrected"), or "both"."""
    for what, value, known in (("feedback", feedback, FEEDBACKS), ("constants", constants, CONSTANTS)):
        if value not in known:
            raise InputError(f"unknown {what} {value!r}; known are: {', '.join(known)}")
    made = [make(problem) for make in FEEDBACKS[feedback]]
    is_printed = {"both": (True, False), "paper": (True,), "corrected": (False,)}[constants]
    return tuple(bound for bound in made if (bound.status == "as printed") in is_printed)
