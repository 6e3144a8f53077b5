"""The announcement: a page of who is in which team and nothing else, to be sent to everybody.

The report says what people are worth to each other, which is for whoever decides. Nothing of that is in this page: it
is made of the assignment, its title and its date alone.
"""

from coterie.errors import InputError
from coterie.learn.result import Result
from coterie.learn.summary import assigned_people, listed_teams
from coterie.learn.team_names import with_team_names
from coterie.report.page import hashed, rendered, source


def announcement_html(result: Result) -> str:
    """Return a page of the teams alone: no values, no alternatives, nothing about anybody but where they are."""
    from markupsafe import Markup

    result = with_team_names(result)
    strategy = result.strategy
    if not strategy.is_pure:
        raise InputError("there are no fixed teams to announce: people draw between several")
    style = source("page.css")
    return rendered(
        "announcement.html",
        title=result.title or "Who is in which team",
        date=result.date,
        version=result.version,
        teams=[(name, members) for name, members in listed_teams(result).items() if members],
        people=[(agent, strategy.actions[agent]) for agent in assigned_people(result)],
        style=Markup(style),  # noqa: S704  (our own file)
        style_hash=hashed(style),
    )
