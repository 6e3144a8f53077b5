"""`coterie certify`: how stable a given strategy surely is."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie import checks
from coterie.certificates.given import CertificateName
from coterie.cli.log_options import reads_log
from coterie.cli.result_text import deliver
from coterie.cli.targets import KINDS, Announce, Date, Details, Explain, Out, Report, Title, targets_of, whom
from coterie.cli.team_options import JUDGED, RULES, about_teams, say_sheet_of_teams
from coterie.log import Log
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.words import said


@reads_log
@about_teams(RULES, JUDGED)
def command(
    log: Log,
    strategy_file: Annotated[
        Path,
        typer.Argument(
            metavar="STRATEGY", help="A result file, its strategy part, or a table (CSV, .xlsx) of who is where."
        ),
    ],
    *,
    wishes: dict[str, Any],
    certificate: Annotated[CertificateName, typer.Option(help="holdout is tighter and needs --fresh.")] = "paired",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="The strategy was fixed without looking at the outcomes of this log.")
    ] = False,
    delta: Annotated[float, typer.Option(help="The certificate holds with probability 1 - delta.")] = 0.01,
    sizes: Annotated[Sizes, typer.Option(help="aware: outcomes may depend on the size of teams.")] = "ignore",
    noise: Annotated[
        NoiseChoice,
        typer.Option(help="samples: the pairs of one round may depend on each other; auto: if they seem to."),
    ] = "auto",
    min_samples: Annotated[
        int,
        typer.Option(
            metavar="N", help="Leave people seen in fewer rounds out of the promise, by name; they take part."
        ),
    ] = 0,
    target_gap: Annotated[
        float | None, typer.Option(metavar="EPS", help="Exit with code 3 if the certificate is above this.")
    ] = None,
    title: Title = "",
    date: Date = "",
    explain: Explain = None,
    out: Out = None,
    report: Report = None,
    announce: Announce = None,
    details: Details = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors (and JSON).")] = False,
) -> int:
    """Certify how far anybody could gain by leaving a given assignment, such as today's teams.

    The certificate's confidence is that of one run: trying options and keeping the smallest is not covered.
    """
    from coterie.learn.certify import certify
    from coterie.statistics import Statistics

    targets = targets_of(out, report, announce)
    explain = whom(explain, log.agents, wishes)
    if not quiet:
        say_sheet_of_teams(strategy_file, log)
    if target_gap is not None:
        checks.number(target_gap, said("target_gap"), at_least=0)
    wishes.pop("any_size", None)  # a given assignment is as large as it is
    statistics = None
    if any(one.kind == KINDS[".html"] for one in targets):
        statistics = Statistics.for_learning(log, sizes=sizes, noise=noise, paper=certificate == "paper", parts=(1.0,))
    found = certify(
        statistics or log, strategy_file, certificate=certificate, fresh=fresh, delta=delta, sizes=sizes, noise=noise,
        min_samples=min_samples, **wishes,
    )  # fmt: skip
    found = replace(found, title=title, date=date)
    return deliver(
        found, target_gap=target_gap, out=targets, as_json=json, quiet=quiet, explain=explain, details=details,
        statistics=statistics,
    )  # fmt: skip
