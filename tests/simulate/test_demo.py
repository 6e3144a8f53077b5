"""The consulting firm of the demo."""

import pyarrow.parquet as pq

from coterie.simulate.demo import DAYS, consulting_firm, todays_teams


def test_todays_teams_are_those_of_the_last_day(tmp_path):
    consulting_firm().simulation.write_log(tmp_path / "firm", DAYS, table_format="parquet")
    rows = pq.read_table(tmp_path / "firm" / "memberships.parquet").to_pylist()
    last = {(row["agent"], row["coalition"]) for row in rows if row["sample"] == str(DAYS)}
    assert last == {(agent, team) for team, members in todays_teams().members().items() for agent in members}
