"""`coterie simulate`: a log with known truth."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.output import messages


def command(
    *,
    agents: Annotated[int, typer.Option(help="Number of agents.")],
    coalitions: Annotated[int, typer.Option(help="Number of coalitions.")],
    samples: Annotated[int, typer.Option(help="Number of samples.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist, or be empty.")],
    model: Annotated[
        str,
        typer.Option(
            help="uniform, gaussian, gaussian-redrawn, size-uniform, size-gaussian, size-gaussian-redrawn, "
            "mixed-effects or mixed-effects-clipped."
        ),
    ] = "gaussian",
    policy: Annotated[
        str,
        typer.Option(
            help="random; 1rand or coalition-size (one agent explores); or around a profile: deviations (one agent "
            "deviates), toggles (one agent joins or leaves one coalition), strategy (the profile itself)."
        ),
    ] = "random",
    feedback: Annotated[str, typer.Option(help="semi-bandit (pairs) or bandit (totals).")] = "semi-bandit",
    actions_per_agent: Annotated[int | None, typer.Option(help="Number of sets to choose from (3).")] = None,
    profile: Annotated[
        Path | None,
        typer.Option(help="Strategy file for the policies around a profile; by default the best stable one found."),
    ] = None,
    noise: Annotated[str | None, typer.Option(help="What shares a draw: pairs, coalitions or samples.")] = None,
    clip: Annotated[
        bool | None, typer.Option("--clip/--no-clip", help="Clip normal utilities to [-1, 1], or not.")
    ] = None,
    asymmetric: Annotated[bool, typer.Option("--asymmetric", help="Draw both orders of a pair separately.")] = False,
    table_format: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Write a simulated log and the truth behind it."""
    import numpy as np

    from coterie import __version__, checks
    from coterie.errors import InputError
    from coterie.simulate import Simulation, exploration_policy, numbered
    from coterie.strategy import read_strategy

    rng = np.random.default_rng(checks.whole(seed, "seed", 0))
    needs_profile = policy in {"deviations", "toggles", "strategy"}
    around = None
    if profile is not None:
        if not needs_profile:
            raise InputError(f"--profile: the policy {policy} uses no profile; deviations, toggles and strategy do")
        around = read_strategy(profile, numbered("p", agents), numbered("c", coalitions))
    found = needs_profile and around is None
    options: Any = {
        "model": model,
        "policy": "random" if found else policy,
        "profile": around,
        "actions_per_agent": actions_per_agent,
        "symmetric": not asymmetric,
        "noise": noise,
        "clip": clip,
    }
    simulation = Simulation.draw(agents, coalitions, rng, **options)
    if found:
        from coterie.solve.dynamics import best_pure_profile

        around = best_pure_profile(simulation.game, rng).strategy
        provenance = {**simulation.provenance, "policy": policy, "profile": around.to_json()}
        explores = exploration_policy(policy, simulation.game.actions, around)
        simulation = replace(simulation, policy=explores, provenance=provenance)
    simulation = replace(simulation, provenance={**simulation.provenance, "seed": seed, "version": __version__})
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
