"""Crossed effects of coalitions, sizes, agents and pairs, given their variances: all that is exact and normal.

The mean of pair (i, j), as i sees it, in coalition l of size s is taken to be

    mu_ij^l(s) = centre + h_l(s) + a_i^l + b_j^l + g_l p_ij^l + c_ij^l + e_ij^l(s).

Every family of effects is a sum of parts, each with a variance of its own (`covariance` of a `Family`):

    levels    h_l(s): the doubt about the centre; the coalition; its slope over sizes and what is left of a size, both
              common to all coalitions and of its own; g_l, the weight of a given product p
    raters    a_i^l: common to all coalitions, and of this one
    rated     b_j^l: the same; a = b where both orders of a pair are one unknown
    pairs     c_ij^l: common to all coalitions, and of this one where sizes count; where orders differ also mutual
              parts, the same for (i, j) and (j, i), common to all coalitions and of this one
    rest      e_ij^l(s), independent

To what is observed, and not to the mean, one more part is added: the noise that all pairs of a coalition share in a
sample. Its "variance" is the share of a value's variance that it is.

Parts that data cannot tell from others (what is common to all of one coalition) are left out.

A cell is an unknown mean; those of an unordered pair lie together in arrays (pairs, orders, coalitions, sizes). With w
the inverse variance of an observed mean around everything but the rest, U summing cells over sizes and X the design of
levels, raters and rated, the algebra is: M = (G^-1 + U'wU)^-1 is the covariance of the pairs' effects (of prior
covariance G) given the others, K^-1 = w - w U M U' w, and C = (S^-1 + X'K^-1 X)^-1 is that of levels, raters and rated
(of prior covariance S). Pairs cost (orders x coalitions)^3 each, agents ((orders n + sizes) k)^3 once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.from_scipy import lapack, solved

Variances = Mapping[str, float]
"""The variance of every part, by its name."""


@dataclass(frozen=True, eq=False)
class Family:
    """Effects that come in independent groups of one kind: agents with an effect in each coalition, for example."""

    patterns: dict[str, FloatArray]
    """For each part the covariance of a group if the part's variance is 1, shape (d, d)."""

    def covariance(self, variances: Variances) -> FloatArray:
        """Return the covariance of a group."""
        return np.asarray(sum(variances[name] * pattern for name, pattern in self.patterns.items()))


@dataclass(frozen=True, eq=False)
class Cells:
    """Observed means of some coalitions, and which effects they are sums of."""

    mean: FloatArray
    """From the centre on, shape (pairs, orders, coalitions, sizes); 0 where there is none."""
    error: FloatArray
    """The variance of each, infinite where there is none."""
    product: FloatArray | None
    """p, shape (pairs, orders, coalitions); None if there is no such effect."""
    first: IntArray
    """The agents of each pair; in the second order they change places."""
    second: IntArray
    n_agents: int
    slope: FloatArray | None = None
    """What one unit of a slope adds at each size; None where sizes do not count."""
    noise: FloatArray | None = None
    """The variance that noise has in the level of each coalition and size, (coalitions, sizes), if pairs of a sample
    share all of it, 0 where nothing was observed; None if they share nothing."""

    @property
    def symmetric(self) -> bool:
        """Whether both orders of a pair are one unknown."""
        return bool(self.mean.shape[1] == 1)

    @cached_property
    def seen(self) -> FloatArray:
        """1 where there is an observation, else 0."""
        return np.isfinite(self.error).astype(np.float64)

    @cached_property
    def families(self) -> dict[str, Family]:
        """Every family but the rest, with the parts that data can tell apart."""
        _, orders, k, sizes = self.mean.shape
        each, one, all_of = np.eye(k), np.eye(orders), np.ones((k, k))
        features = sizes + (self.product is not None)
        flat, own, along = (np.zeros((features, features)) for _ in range(3))
        flat[:sizes, :sizes], own[:sizes, :sizes] = 1, np.eye(sizes)
        if self.slope is not None:
            along[:sizes, :sizes] = np.outer(self.slope, self.slope)
        levels: dict[str, FloatArray] = {"centre": _kron(all_of, flat), "level": _kron(each, flat)}
        agents: dict[str, FloatArray] = {"": each}
        pairs: dict[str, FloatArray] = {"pair": np.eye(orders * k)} if self.slope is not None else {}
        if self.slope is not None:
            levels |= {"size": _kron(each, own), "slope": _kron(each, along)}
        if k > 1:
            agents |= {", common": all_of}
            pairs |= {"pair, common": _kron(one, all_of)}
            if self.slope is not None:
                levels |= {"size, common": _kron(all_of, own), "slope, common": _kron(all_of, along)}
        if not self.symmetric:
            mutual = np.ones((orders, orders))
            pairs |= {"mutual": _kron(mutual, each)}
            pairs |= {"mutual, common": _kron(mutual, all_of)} if k > 1 else {}
        if self.noise is not None:
            padded = np.zeros((k, features))
            padded[:, :sizes] = self.noise
            levels |= {"shared": np.diag(padded.ravel())}
        if self.product is not None:
            only = np.zeros((features, features))
            only[-1, -1] = 1
            levels |= {"product": _kron(each, only)}
        roles = ["rater"] if self.symmetric else ["rater", "rated"]
        by_role = {role: Family({role + name: pattern for name, pattern in agents.items()}) for role in roles}
        return {"levels": Family(levels), **by_role, "pairs": Family(pairs)}

    def of_pairs(self, which: BoolArray) -> "Cells":
        """Return the cells of some pairs."""
        product = None if self.product is None else self.product[which]
        return replace(
            self, mean=self.mean[which], error=self.error[which], product=product,
            first=self.first[which], second=self.second[which],
        )  # fmt: skip

    # --- All unknowns as one vector -------------------------------------------------------------------

    @cached_property
    def designs(self) -> dict[str, FloatArray]:
        """Which effects of levels, raters and rated every cell adds up: for each family (cells, effects)."""
        found = {}
        for name, family in self.families.items():
            if name != "pairs":
                groups = 1 if name == "levels" else self.n_agents
                effects = groups * len(next(iter(family.patterns.values())))
                units = np.eye(effects).reshape(effects, groups, -1)
                spread = (np.broadcast_to(self.spread(name, unit), self.mean.shape).ravel() for unit in units)
                found[name] = np.stack(list(spread), axis=1)
        return found

    def prior(self, variances: Variances) -> FloatArray:
        """Return the covariance of all cells before any data, shape (cells, cells)."""
        found = variances["rest"] * np.eye(self.mean.size)
        for name, family in self.families.items():
            if not family.patterns:
                continue
            covariance = family.covariance(variances)
            if name == "pairs":
                by_pair, pair = self.by_pair(found), np.arange(len(self.mean))
                by_pair[pair, :, :, pair] += covariance[:, None, :, None]
            else:
                design = self.designs[name]
                rows = design.reshape(len(design), -1, len(covariance))
                found += (rows @ covariance).reshape(design.shape) @ design.T
        return found

    def prior_of(self, part: str) -> FloatArray:
        """Return the same if one part has variance 1, and there is no other."""
        every = [name for family in self.families.values() for name in family.patterns]
        return self.prior({**dict.fromkeys([*every, "rest"], 0.0), part: 1.0})

    def by_pair(self, matrix: FloatArray) -> FloatArray:
        """Return a view of a matrix of all cells by pair, by order and coalition, and by size, of rows and columns."""
        pairs, orders, k, sizes = self.mean.shape
        return matrix.reshape(pairs, orders * k, sizes, pairs, orders * k, sizes)

    # --- Sums of cells by effect (`gathered`), and cells of effects (`spread`) ------------------------

    def ordered(self, values: FloatArray) -> FloatArray:
        """Return values (pairs, orders, ...) as (n, n, ...), those of (i, j) at [i, j]."""
        found = np.zeros((self.n_agents, self.n_agents, *values.shape[2:]))
        found[self.first, self.second], found[self.second, self.first] = values[:, 0], values[:, -1]
        return found

    def gathered(self, values: FloatArray) -> dict[str, FloatArray]:
        """Return sums of the cells' values by effect: for each family an array (groups, d)."""
        by_pair = values.sum(axis=3)
        levels = self.by_feature(values, by_pair).sum(axis=(0, 1))
        agents = self.by_agent(by_pair)
        return {"levels": levels.reshape(1, -1), **agents, "pairs": by_pair.reshape(len(by_pair), -1)}

    def spread(self, name: str, effects: FloatArray) -> FloatArray:
        """Return what the effects (groups, d) of a family add to the cells."""
        p, orders, k, sizes = self.mean.shape
        if name == "pairs":
            return effects.reshape(p, orders, k, 1)
        if name == "levels":
            by_feature = effects.reshape(k, -1)
            found = by_feature[:, :sizes]
            return found if self.product is None else found + (self.product * by_feature[:, -1])[..., None]
        return np.asarray(sum(effects[who] for who in self.who(name)))[..., None]

    def who(self, role: str) -> list[IntArray]:
        """Return the agents in a role, each (pairs, orders)."""
        ends = np.stack([self.first, self.second], axis=1)
        if self.symmetric:
            return [ends[:, :1], ends[:, 1:]]
        return [ends if role == "rater" else ends[:, ::-1]]

    def by_agent(self, by_pair: FloatArray) -> dict[str, FloatArray]:
        """Return sums of (pairs, orders, ...) over the pairs that each agent rates, and is rated in."""
        table = self.ordered(by_pair)
        rater = table.sum(axis=1)
        return {"rater": rater} if self.symmetric else {"rater": rater, "rated": table.sum(axis=0)}

    def by_feature(self, cells: FloatArray, by_pair: FloatArray) -> FloatArray:
        """Return cells times the features of levels: one for each size, and the product, shape (..., features)."""
        if self.product is None:
            return cells
        return np.concatenate([cells, (by_pair * self.product)[..., None]], axis=3)


def symmetric_root(matrix: FloatArray) -> FloatArray:
    """Return the one R >= 0 with R R = a matrix >= 0.

    Eigenvectors alone would do for a root, but their signs, and all of them where values are equal, differ from one
    processor to another: what is drawn with them would too.
    """
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T, dtype=np.float64)


def _root(covariance: FloatArray) -> FloatArray:
    """Return R with R R' = covariance: triangular, unless one part is so small beside another that rounding ate it."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:  # as small as can be told, so that it can be turned round
        return symmetric_root(covariance + np.eye(len(covariance)) * np.trace(covariance) * 2.0**-50)


class Conditioned:
    """What the observations say about all effects, given the variances of the parts."""

    def __init__(self, cells: Cells, variances: Variances) -> None:
        self.cells, self.variances = cells, variances
        self.rest = variances["rest"]
        p, orders, k, _ = cells.mean.shape
        self._shape = (p, orders * k)
        self.weight = 1 / (cells.error + self.rest)
        """w: 0 where nothing was observed."""
        self._by_pair = self.weight.sum(axis=3).reshape(self._shape)
        covariance = cells.families["pairs"].covariance(variances) * np.ones((orders * k, orders * k))
        root = symmetric_root(covariance)
        inner = np.linalg.cholesky(np.eye(orders * k) + (root.T * self._by_pair[:, None, :]) @ root)
        self._log_pairs = 2 * float(np.log(np.diagonal(inner, axis1=1, axis2=2)).sum())
        self.pair_root: FloatArray = root @ np.swapaxes(np.linalg.inv(inner), 1, 2)
        """R with R R' = M, for each pair."""
        self._pair_covariance = self.pair_root @ np.swapaxes(self.pair_root, 1, 2)
        # U'K^-1: what is left of weights if pairs have effects.
        self._kept = np.eye(orders * k) - self._by_pair[:, :, None] * self._pair_covariance
        self._roots = {name: _root(cells.families[name].covariance(variances)) for name in self._names}
        self._lower: FloatArray = np.asarray(np.linalg.cholesky(self._whitened_precision()))

    # --- Results --------------------------------------------------------------------------------------

    @cached_property
    def effects(self) -> dict[str, FloatArray]:
        """The expected levels, and effects of raters and rated: for each family an array (groups, d)."""
        return self._unwhitened(self._solution)

    @cached_property
    def weighted(self) -> FloatArray:
        """V^-1 y: how far the observed means are from what other effects than the rest let expect, weighted."""
        return self.residual(self.cells.mean)

    @property
    def expected(self) -> FloatArray:
        """All means, from the centre on."""
        observed = self.fitted(self.cells.mean) + self.rest * self.weighted
        return np.asarray(observed - self._shared_noise(self.effects))

    def _shared_noise(self, effects: dict[str, FloatArray]) -> FloatArray:
        """Return what noise is expected to have added to all cells, if the levels with it are these."""
        if self._noise is None:
            return np.zeros(1)
        return self.cells.spread("levels", effects["levels"] @ self._noise[0].T)

    @cached_property
    def _noise(self) -> tuple[FloatArray, FloatArray] | None:
        """B and R: given levels h with noise, the noise is B h on average and has covariance R R'."""
        levels = self.cells.families["levels"]
        if "shared" not in levels.patterns:
            return None
        noise = self.variances["shared"] * levels.patterns["shared"]
        share = np.asarray(np.linalg.solve(levels.covariance(self.variances), noise).T, dtype=np.float64)
        return share, symmetric_root(noise - share @ noise)

    def residual(self, values: FloatArray) -> FloatArray:
        """Return V^-1 values."""
        return self.weight * (values - self.fitted(values))

    def fitted(self, values: FloatArray) -> FloatArray:
        """Return all effects but the rest that are expected if these values were observed, added up."""
        added = self._added(self._unwhitened(self._solved(values)))
        return np.asarray(added + self._pair_effects(values - added))

    def drawn(self, rng: np.random.Generator) -> FloatArray:
        """Draw all means, from the centre on."""
        values, solution = self.cells.mean, self._solution
        effects = self._unwhitened(solution + rng.normal(size=len(solution)) @ self._root)
        added, shared = self._added(effects), self._shared_noise(effects)
        if self._noise is not None:
            more = self._noise[1] @ rng.normal(size=len(self._noise[1]))
            shared = shared + self.cells.spread("levels", more[None])
        noise = (self.pair_root @ rng.normal(size=(*self._shape, 1))).reshape(*values.shape[:3], 1)
        added = added + self._pair_effects(values - added) + noise
        kept = self.rest * self.weight
        spread = np.sqrt(self.rest * (1 - kept))
        return np.asarray(added + kept * (values - added) + spread * rng.normal(size=values.shape) - shared)

    def covariance(self, forms: FloatArray) -> FloatArray:
        """Return the covariance of linear combinations of all means, from their coefficients (forms, *cells)."""
        kept = self.rest * self.weight
        through = forms * (1 - kept)
        found = np.einsum("fpdls,gpdls->fg", forms * (self.rest * (1 - kept)), forms, optimize=True)
        on_pairs = through.sum(axis=4).reshape(len(forms), *self._shape)
        halves = np.einsum("fpu,puv->fpv", on_pairs, self.pair_root).reshape(len(forms), -1)
        pulled = np.einsum("fpu,puv->fpv", on_pairs, self._pair_covariance).reshape(*through.shape[:4], 1)
        onto = [self._sums(one) for one in through - pulled * self.weight]
        if self._noise is not None:
            on_levels = np.stack([self.cells.gathered(form)["levels"][0] for form in forms])
            levels, (share, root) = self._part("levels"), self._noise
            for one, own in zip(onto, on_levels, strict=True):
                one[levels] -= own @ share
            found = found + (on_levels @ root) @ (on_levels @ root).T
        rows = self._rooted(np.stack(onto, axis=1), turned=True).T @ self._root.T
        return np.asarray(found + halves @ halves.T + rows @ rows.T)

    @cached_property
    def log_likelihood(self) -> float:
        """The logarithm of the density of what was observed, up to a constant."""
        seen = self.cells.seen > 0
        noise = -float(np.log(self.weight[seen]).sum())
        size = noise + self._log_pairs + 2 * float(np.log(np.diagonal(self._lower)).sum())
        return -0.5 * (size + float((self.cells.mean * self.weighted).sum()))

    # --- What variances are judged by -----------------------------------------------------------------

    def applied(self, name: str, values: FloatArray) -> FloatArray:
        """Return V_q values, where the variance of part q adds V_q to the covariance of what is observed."""
        if name == "rest":
            return values * self.cells.seen
        family = next(one for one, found in self.cells.families.items() if name in found.patterns)
        within = self.cells.gathered(values)[family] @ self.cells.families[family].patterns[name]
        return self.cells.spread(family, within) * self.cells.seen

    def traces(self) -> dict[str, float]:
        """Return tr(V^-1 V_q) for every part."""
        cells, found = self.cells, {}
        inverse, _ = lapack().dpotri(self._lower, lower=1)
        covariance = np.tril(inverse) + np.tril(inverse, -1).T
        for name in self._names:
            groups, d = self._dimensions[name]
            at = np.arange(groups * d).reshape(groups, d) + self._starts[name]
            of_groups = covariance[at[:, :, None], at[:, None, :]].sum(axis=0)
            half = np.linalg.inv(self._roots[name])
            taken = half.T @ (groups * np.eye(d) - of_groups) @ half
            for part, pattern in cells.families[name].patterns.items():
                found[part] = float((pattern * taken).sum())
        of_pairs, of_rest = self._taken_of_pairs(self._full_covariance(covariance))
        for part, pattern in cells.families["pairs"].patterns.items():
            found[part] = float((pattern * of_pairs).sum())
        return {**found, "rest": of_rest}

    def _taken_of_pairs(self, covariance: FloatArray) -> tuple[FloatArray, float]:
        """Return the sum over pairs of U'V^-1 U, and the trace of V^-1."""
        cells, size = self.cells, self._shape
        _, orders, k, sizes = cells.mean.shape
        kept, pairs = self._kept, self._pair_covariance
        kept_turned = np.swapaxes(kept, 1, 2)
        agents = self._of_agents(covariance)
        levels = covariance[: self._starts["rater"], : self._starts["rater"]]
        with_levels = self._agents_with_levels(covariance).reshape(*size, -1)
        weights = self._level_weights
        # A: raters and rated of a cell; B: levels of its sizes, weighted.
        across = np.einsum("pum,pvm->puv", with_levels, weights)
        weighted = weights @ levels
        both = np.einsum("pum,pvm->puv", weighted, weights)
        left = kept * self._by_pair[:, None, :]
        half = left @ agents + kept @ np.swapaxes(across, 1, 2)
        other = left @ across + kept @ both
        of_pairs = left.sum(axis=0) - _summed_products(half, left) - _summed_products(other, kept)
        # The variance of a cell's sum of effects, of which pairs' effects take their share.
        own = ((kept_turned @ agents - 2 * pairs @ np.swapaxes(across, 1, 2)) * kept_turned).sum(axis=2)
        own += ((pairs @ both) * pairs).sum(axis=2)
        shared = kept_turned @ with_levels - pairs @ weighted
        features = sizes + (cells.product is not None)
        shared = np.einsum("pdllf->pdlf", shared.reshape(len(shared), orders, k, k, features))
        blocks = np.einsum("lflg->lfg", levels.reshape(k, features, k, features))
        variance = own.reshape(cells.mean.shape[:3])[..., None] + 2 * shared[..., :sizes]
        variance = variance + np.diagonal(blocks, axis1=1, axis2=2)[:, :sizes]
        if cells.product is not None:
            times = cells.product[..., None]
            variance = variance + 2 * times * (shared[..., -1:] + blocks[:, :sizes, -1])
            variance = variance + times**2 * blocks[:, -1:, -1]
        inner = np.diagonal(pairs, axis1=1, axis2=2).reshape(cells.mean.shape[:3])[..., None]
        return of_pairs, float((self.weight - self.weight**2 * (inner + variance)).sum())

    # --- Levels, raters and rated: one vector ---------------------------------------------------------

    @property
    def _names(self) -> list[str]:
        return [name for name in self.cells.families if name != "pairs"]

    @cached_property
    def _dimensions(self) -> dict[str, tuple[int, int]]:
        """How many groups each family has, and how many effects a group."""
        sizes = {name: len(next(iter(self.cells.families[name].patterns.values()))) for name in self._names}
        return {name: (1 if name == "levels" else self.cells.n_agents, size) for name, size in sizes.items()}

    @cached_property
    def _starts(self) -> dict[str, int]:
        """Where each family begins in the vector."""
        ends = np.cumsum([groups * size for groups, size in self._dimensions.values()])
        return dict(zip(self._names, [0, *ends.tolist()][:-1], strict=True))

    def _part(self, name: str) -> slice:
        groups, size = self._dimensions[name]
        return slice(self._starts[name], self._starts[name] + groups * size)

    def _rooted(self, rows: FloatArray, *, turned: bool) -> FloatArray:
        """Return S^1/2 rows, or its transpose times rows, for rows (effects, columns)."""
        found = np.empty_like(rows)
        for name, root in self._roots.items():
            groups, size = self._dimensions[name]
            part = rows[self._part(name)].reshape(groups, size, -1)
            found[self._part(name)] = ((root.T if turned else root) @ part).reshape(groups * size, -1)
        return found

    def _sums(self, cells: FloatArray) -> FloatArray:
        sums = self.cells.gathered(cells)
        return np.concatenate([sums[name].ravel() for name in self._names])

    def _unwhitened(self, vector: FloatArray) -> dict[str, FloatArray]:
        effects = self._rooted(vector[:, None], turned=False)[:, 0]
        return {name: effects[self._part(name)].reshape(self._dimensions[name]) for name in self._names}

    def _full_covariance(self, whitened: FloatArray) -> FloatArray:
        return self._rooted(self._rooted(whitened, turned=False).T, turned=False)

    @cached_property
    def _root(self) -> FloatArray:
        """R with R'R the covariance of the whitened effects."""
        found, _ = lapack().dtrtri(self._lower, lower=1)
        return np.asarray(found)

    @cached_property
    def _solution(self) -> FloatArray:
        return self._solved(self.cells.mean)

    def _solved(self, values: FloatArray) -> FloatArray:
        """Return the whitened effects that are expected if these values were observed."""
        sums = self._sums(self.weight * (values - self._pair_effects(values)))
        right = self._rooted(sums[:, None], turned=True)[:, 0]
        return solved(self._lower, right)

    def _pair_effects(self, values: FloatArray) -> FloatArray:
        """Return the pairs' effects that are expected if this is what other effects leave."""
        sums = (self.weight * values).sum(axis=3).reshape(self._shape)
        found = (self._pair_covariance @ sums[:, :, None]).reshape(*self.cells.mean.shape[:3], 1)
        return np.asarray(found)

    def _added(self, effects: dict[str, FloatArray]) -> FloatArray:
        return np.asarray(sum(self.cells.spread(name, found) for name, found in effects.items()))

    # --- The joint precision, and joint covariances of cells ------------------------------------------

    @cached_property
    def _level_weights(self) -> FloatArray:
        """U'w Z: the weight of every level in the cells of a pair, shape (pairs, cells of a pair, levels)."""
        p, orders, k, _ = self.cells.mean.shape
        by_feature = self.cells.by_feature(self.weight, self._by_pair.reshape(p, orders, k))
        found = np.zeros((p, orders, k, k, by_feature.shape[3]))
        rooms = np.arange(k)
        found[:, :, rooms, rooms] = by_feature
        return found.reshape(p, orders * k, -1)

    def _whitened_precision(self) -> FloatArray:
        """Return 1 + S^1/2' X'K^-1 X S^1/2."""
        cells, total = self.cells, sum(groups * size for groups, size in self._dimensions.values())
        p, orders, k, _ = cells.mean.shape
        weights, n = self._level_weights, cells.n_agents
        joint = np.zeros((total, total))
        levels = self._part("levels")
        joint[levels, levels] = self._plain_levels() - np.einsum(
            "puf,puv,pvg->fg", weights, self._pair_covariance, weights, optimize=True
        )
        across = (self._kept @ weights).reshape(p, orders, k, -1)
        for role, found in cells.by_agent(across).items():
            joint[self._part(role), levels] = found.reshape(n * k, -1)
            joint[levels, self._part(role)] = joint[self._part(role), levels].T
        kept = (self._kept * self._by_pair[:, None, :]).reshape(p, orders, k, orders, k)
        same = cells.ordered(np.einsum("pdldm->pdlm", kept))
        agents, one = np.arange(n), self._part("rater")
        if cells.symmetric:
            same[agents, agents] = same.sum(axis=1)
            joint[one, one] = same.transpose(0, 2, 1, 3).reshape(n * k, n * k)
        else:
            turned = cells.ordered(np.stack([kept[:, 0, :, 1], kept[:, 1, :, 0]], axis=1))
            ones, others = turned.copy(), turned.transpose(1, 0, 2, 3).copy()
            ones[agents, agents], others[agents, agents] = same.sum(axis=1), same.sum(axis=0)
            same[agents, agents] = turned.sum(axis=1)
            two = self._part("rated")
            for rows, columns, found in ((one, one, ones), (two, two, others), (one, two, same)):
                joint[rows, columns] = found.transpose(0, 2, 1, 3).reshape(n * k, n * k)
            joint[two, one] = joint[one, two].T
        whitened = self._rooted(self._rooted(joint, turned=True).T, turned=True)
        return np.eye(total) + (whitened + whitened.T) / 2

    def _plain_levels(self) -> FloatArray:
        """Return Z'w Z, Z the design of levels."""
        cells = self.cells
        _, _, k, sizes = cells.mean.shape
        features = sizes + (cells.product is not None)
        found = np.zeros((k, features, k, features))
        rooms, size = np.arange(k), np.arange(sizes)
        found[rooms[:, None], size, rooms[:, None], size] = self.weight.sum(axis=(0, 1))
        if cells.product is not None:
            across = (self.weight * cells.product[..., None]).sum(axis=(0, 1))
            found[rooms[:, None], size, rooms[:, None], -1] = across
            found[rooms[:, None], -1, rooms[:, None], size] = across
            found[rooms, -1, rooms, -1] = (self.weight * cells.product[..., None] ** 2).sum(axis=(0, 1, 3))
        return found.reshape(k * features, k * features)

    def _agents_with_levels(self, covariance: FloatArray) -> FloatArray:
        """Return the covariances of a cell's rater and rated effects with all levels, (pairs, orders, k, levels)."""
        cells, levels, found = self.cells, self._part("levels"), np.zeros(1)
        for role in self._names[1:]:
            rows = covariance[self._part(role), levels].reshape(cells.n_agents, cells.mean.shape[2], -1)
            found = found + sum(rows[who] for who in cells.who(role))
        return np.asarray(found)

    def _of_agents(self, covariance: FloatArray) -> FloatArray:
        """Return the covariances of rater plus rated effects among the cells of each pair."""
        cells, found = self.cells, np.zeros(1)
        k, n = cells.mean.shape[2], cells.n_agents
        ends = [(role, who) for role in self._names[1:] for who in cells.who(role)]
        for role, who in ends:
            for other, partner in ends:
                block = covariance[self._part(role), self._part(other)].reshape(n, k, n, k)
                found = found + block[who[:, :, None], :, partner[:, None, :], :]
        # (pairs, orders, orders, k, k): coalitions come after both orders.
        return np.asarray(found).transpose(0, 1, 3, 2, 4).reshape(*self._shape, self._shape[1])


def _kron(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.kron(left, right), dtype=np.float64)


def _summed_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sum of left[p] right[p]' over p."""
    return np.tensordot(left, right, axes=((0, 2), (0, 2)))
