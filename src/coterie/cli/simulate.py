"""`coterie simulate`: a log with known truth."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import messages
from coterie.game.game import Value
from coterie.log.schema import Feedback
from coterie.simulate import AROUND_PROFILE, POLICIES
from coterie.simulate.models import ModelName, Noise
from coterie.simulate.policies import PolicyName
from coterie.simulate.writing import TableFormat
from coterie.words import said


def command(
    *,
    agents: Annotated[int, typer.Option(help="Number of agents.")],
    coalitions: Annotated[int, typer.Option(help="Number of coalitions.")],
    samples: Annotated[int, typer.Option(help="Number of samples.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist, or be empty.")],
    model: Annotated[ModelName, typer.Option(help="How utilities come about.")] = "gaussian",
    policy: Annotated[
        PolicyName, typer.Option(help="; ".join(f"{name}: {meaning}" for name, meaning in POLICIES.items()) + ".")
    ] = "random",
    feedback: Annotated[Feedback, typer.Option(help="semi-bandit (pairs) or bandit (totals).")] = "semi-bandit",
    actions_per_agent: Annotated[int | None, typer.Option(help="Number of sets to choose from (3).")] = None,
    profile: Annotated[
        Path | None,
        typer.Option(
            help=f"Strategy file for the policies {', '.join(AROUND_PROFILE)}; by default the best stable one found."
        ),
    ] = None,
    noise: Annotated[
        Noise | None,
        typer.Option(
            help="What shares a draw. By default nothing does (pairs); "
            "in the mixed-effects models the pairs of a coalition do (coalitions)."
        ),
    ] = None,
    clip: Annotated[
        bool | None,
        typer.Option(
            "--clip/--no-clip",
            help="Clip normal utilities to [-1, 1], or not. By default yes, except in mixed-effects.",
        ),
    ] = None,
    value: Annotated[
        Value,
        typer.Option(
            help="What a team is worth to whoever evaluates: the total over the others, or their average. "
            "The log is the same, apart from policies around the best stable profile."
        ),
    ] = "total",
    asymmetric: Annotated[bool, typer.Option("--asymmetric", help="Draw both orders of a pair separately.")] = False,
    table_format: Annotated[TableFormat, typer.Option("--format", help="How tables are written.")] = "csv",
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Write a simulated log and the truth behind it."""
    import numpy as np

    from coterie import checks
    from coterie.errors import InputError
    from coterie.files import naming
    from coterie.game.dynamics import best_pure_profile
    from coterie.game.strategy import read_strategy
    from coterie.simulate import Simulation, exploration_policy

    rng = np.random.default_rng(checks.whole(seed, said("seed"), 0))
    is_around = policy in AROUND_PROFILE
    if profile is not None and not is_around:
        raise InputError(
            f"{said('profile')}: the policy {policy} uses no profile; these do: {', '.join(AROUND_PROFILE)}"
        )
    options: Any = {
        "model": model,
        "policy": "random" if is_around else policy,
        "actions_per_agent": actions_per_agent,
        "symmetric": not asymmetric,
        "noise": noise,
        "clip": clip,
        "value": value,
    }
    simulation = Simulation.draw(agents, coalitions, rng, **options)
    if is_around:
        game = simulation.game
        if profile is None:
            around = best_pure_profile(game, rng).strategy
            explores = exploration_policy(policy, game.actions, around)
        else:
            around = read_strategy(profile, game.agents, game.coalitions)
            with naming(profile):
                explores = exploration_policy(policy, game.actions, around)
        provenance = {**simulation.provenance, "policy": policy, "profile": around.to_json()}
        simulation = replace(simulation, policy=explores, provenance=provenance)
    simulation = replace(simulation, provenance={**simulation.provenance, "seed": seed})
    with _progress(samples, quiet=quiet) as advance:
        written: Any = simulation.write_log
        rows = written(out, samples, feedback=feedback, table_format=table_format, progress=advance)
    if not quiet:
        counted = ", ".join(f"{count:,} rows in {name}" for name, count in rows.items())
        messages.print(f"Wrote {samples:,} samples to {out} ({counted}), with the truth in truth.json.")


@contextmanager
def _progress(samples: int, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Give a callback that moves a bar; only a terminal sees one."""
    if quiet or not messages.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=messages, transient=True) as bar:
        task = bar.add_task("Samples", total=samples)
        yield lambda done: bar.update(task, completed=done)
