"""Tables in which teams share a name, or the two of a team got different numbers."""

import pytest

import coterie
from coterie.errors import InputError

TWINS = """Event,Team,Members,Score
1,Foxes,"Ada, Bo",5
1,Foxes,"Cy, Di",6
1,Owls,"Ed, Flo",6
2,Owls,"Ada, Cy",5
2,Apes,"Bo, Ed",6
2,Bees,"Di, Flo",4
"""

TWOS = """Week,Group,Name,Points
1,A,Ann,6.5
1,A,Bo,7
1,A,Cy,6
1,B,Di,6.8
1,B,Ed,6.4
2,A,Ann,7
2,A,Di,6
2,A,Ed,7.5
2,B,Bo,5
2,B,Cy,5.5
"""


def guessed(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    guess = coterie.start(tmp_path / "table.csv")
    found = {one.name: one for one in (*guess.parts, *guess.answers)}
    return found, guess.write(tmp_path / "log")


def test_two_teams_of_one_name_in_one_round_are_two_teams(tmp_path):
    found, log = guessed(tmp_path, TWINS)
    assert found["coalition"].value == "#"
    assert found["coalition"].why == (
        "1 round has several teams of one name, such as 2 'Foxes' in '1': each row is a team"
    )
    assert (log.n_samples, len(log.agents)) == (2, 6)


def test_different_numbers_of_two_alone_mean_that_pairs_are_not_symmetric(tmp_path):
    found, log = guessed(tmp_path, TWOS)
    assert found["symmetric"].value is False
    assert found["symmetric"].why == "2 teams of two had different numbers for the two"
    assert not log.symmetric


def test_names_that_differ_within_a_round_are_kept(tmp_path):
    found, _ = guessed(tmp_path, TWINS.replace('1,Foxes,"Cy', '1,Hens,"Cy'))
    assert found["coalition"].value == "Team"


def test_teams_of_one_name_are_refused_where_somebody_said_that_it_parts_them(tmp_path):
    """All rows were left out then, and the mean of nothing was divided by nothing."""
    path = tmp_path / "rooms.csv"
    path.write_text(
        'Week,Room,Players,Minutes\n1,Red,"Ann, Bob",40\n1,Red,"Cy, Dee",50\n2,Red,"Ann, Cy",42\n2,Red,"Bob, Dee",47\n'
    )
    with pytest.raises(InputError) as refused:
        coterie.start(path, columns={"coalition": "Room"})
    told = str(refused.value)
    assert "rooms.csv" in told
    assert "rows 2 and 3: teams share the name 'Red' in '1', and so do teams in 1 further row" in told
    assert 'leave out columns={"coalition": "Room"}, and each row is a team of its own, or say which column' in told
    assert coterie.start(path).options["columns"]["coalition"] == "#"


def test_a_team_counts_of_which_only_some_have_the_score(tmp_path):
    """Each such team was counted as none, and an average over none was a division by zero."""
    rows = [
        f"{week},{team},{name},{week + len(team)}"
        for week in range(1, 9)
        for team in ("x", "yy")
        for name in ("Al", "Bo")
    ]
    rows = [row.replace("yy,Al", "yy,Cy").replace("yy,Bo", "yy,Di") for row in rows]
    rows += ["9,x,Al,7", *(f"9,x,{name}," for name in ("Bo", "Cy", "Di"))]
    path = tmp_path / "part.csv"
    path.write_text("\n".join(["Week,Team,Name,Score", *rows, ""]))
    assert coterie.start(path).options["totals"]
