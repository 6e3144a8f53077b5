"""Which columns of a small table say what, by the words that people use."""

import pytest

from coterie.game.tables import text_table


@pytest.mark.parametrize("team", ["Practice", "Sector", "Workstream", "Division", "Abteilung", "Team today"])
def test_teams_have_many_names(team):
    table = text_table(f"Employee,{team},Office\nAda,Law,Bonn\nBo,Tax,Ulm\n", ("agent", "coalition"))
    assert table.places(("agent", "coalition")) == {"agent": 0, "coalition": 1}
