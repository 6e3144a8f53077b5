"""Search for stable strategies, and for the best ones that keep rules. Every solver takes a `Control`.

Those that look for stability return a `Solution`:

| solver | over | minimises | proof |
| --- | --- | --- | --- |
| `pure` | pure profiles | any `Objective` | none |
| `mixed` | mixed strategies | any `SmoothObjective` | none |
| `enumerate_profiles` | pure profiles, up to 2^20 | any `Objective` | optimal |
| `mixed_integer` | pure profiles, up to 120 agents x actions | box form of `paired`, gap | optimal, or a bound |
| `polymatrix` | mixed strategies of size-free games | gap | equilibrium |
| `paper` | both | the paper's certificate | none |

Those that look for profiles that keep rules return a profile, or a `Best`:

| solver | over | finds | proof |
| --- | --- | --- | --- |
| `Assignments` | admissible profiles | one at random, the nearest; rules that contradict each other | both |
| `largest_value` | admissible profiles, up to 250,000 teams | largest value, fairest | optimal, or a bound |
"""

from coterie.solve.columns import Best, largest_value
from coterie.solve.control import Control, Progress
from coterie.solve.exact import enumerate_profiles, mixed_integer
from coterie.solve.feasible import Assignments, Conflict
from coterie.solve.mixed import mixed
from coterie.solve.objective import GapObjective, HoldoutObjective, Objective, PairedObjective, estimated_gap
from coterie.solve.paper_scheme import RELEASED, RELEASED_MIXED_EFFECTS, Samples, SurrogateObjective, paper
from coterie.solve.polymatrix import polymatrix
from coterie.solve.pure import pure
from coterie.solve.smooth import SmoothGap, SmoothObjective, smooth_objective
from coterie.solve.solution import Solution, Status

__all__ = [
    "Control",
    "Progress",
    "Solution",
    "Status",
    "Objective",
    "GapObjective",
    "PairedObjective",
    "HoldoutObjective",
    "SurrogateObjective",
    "estimated_gap",
    "SmoothObjective",
    "SmoothGap",
    "smooth_objective",
    "pure",
    "mixed",
    "enumerate_profiles",
    "mixed_integer",
    "polymatrix",
    "paper",
    "Assignments",
    "Conflict",
    "Best",
    "largest_value",
    "Samples",
    "RELEASED",
    "RELEASED_MIXED_EFFECTS",
]
