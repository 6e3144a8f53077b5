"""The best pure profile with proof: enumeration, or a mixed-integer program. Oracles for small games."""

import numpy as np

from coterie.arrays import BoolArray
from coterie.errors import TooLargeError
from coterie.solve.control import Control
from coterie.solve.objective import Objective
from coterie.solve.solution import Solution

MOST_PROFILES = 2**20
"""Up to so many pure profiles are enumerated."""


def enumerate_profiles(objective: Objective, control: Control | None = None, *, limit: int = MOST_PROFILES) -> Solution:
    """Look at every pure profile; refuses above `limit` of them.

    Agents are looked at one after the other, and a profile is dropped as soon as one of them has a
    larger margin than the best profile so far.
    """
    control = control or Control()
    spaces = objective.spaces
    if spaces.size > limit:
        raise TooLargeError(f"there are {spaces.size:.3g} pure profiles; at most {limit} are enumerated")
    best: BoolArray | None = None
    value, blocks = np.inf, 0
    agents = np.arange(spaces.n_agents)
    total = -(-spaces.size // 4096)
    with control.running():
        for block in spaces.joint_actions(4096):
            kept, largest = block, np.full(len(block), -np.inf)
            for i in agents:
                largest = np.maximum(largest, objective.margins(kept, agents[i : i + 1])[:, 0])
                promising = largest < value
                kept, largest = kept[promising], largest[promising]
                if not len(kept):
                    break
            if len(kept):
                first = int(largest.argmin())
                best, value = kept[first].copy(), float(largest[first])
            blocks += 1
            control.report("enumeration", blocks, total, value)
    if best is None:
        best = spaces.sample(control.rng, 1)[0]
    found = objective.value(best)
    return Solution(
        objective.strategy(best),
        found,
        "enumeration",
        objective.label,
        control.ended or "optimal",
        1,
        blocks,
        control.seconds,
        bound=None if control.ended else found,
    )
