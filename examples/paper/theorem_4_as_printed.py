"""Theorem 4 as printed: bandit feedback is said to leave a gap of 1/20 in one of two games.

With the printed utilities (three agents, three coalitions; those of coalition 3 read with its own
size) the totals are indeed the same in both games. But ({2}, {2}, {3}) and its permutations are
stable in both, so a learner who always answers that has gap 0, whatever the game: nothing is
forced. Smaller slips: ({1}, {1}, {1}) is missing from the first game's list of stable profiles,
and two agents in {1, 2} beside one in {3} see a total of 2, not 4.

Proven here by enumeration. `theorem_4_repaired.py` has a pair of games that does what is claimed.
"""

from coterie import Game
from coterie.coverage import coverage
from coterie.theory import mean_feedback, telling_joint_action, theorem_4_as_printed

instance = theorem_4_as_printed()


def stable(game: Game) -> set[tuple[str, ...]]:
    """Return the stable profiles, up to the order of agents."""
    return {tuple(sorted("".join(action) for action in s.actions.values())) for s in game.stable_profiles()}


first, second = (stable(game) for game in instance.games)
printed_first = {("1", "12", "12"), ("2", "2", "3")}
printed_second = {("1", "12", "2"), ("12", "12", "3"), ("1", "1", "3"), ("2", "2", "3")}
assert first == printed_first | {("1", "1", "1")}
assert second == printed_second
assert first & second == {("2", "2", "3")}

# Totals do not tell the games apart, pair utilities do; all sizes that Assumption 1 asks for are seen.
assert len(instance.policy.joint_actions) == 10
assert telling_joint_action(instance.games, instance.policy, "bandit") is None
assert telling_joint_action(instance.games, instance.policy, "semi-bandit") is not None
for game in instance.games:
    assert all(coverage(instance.policy, s, game.actions).assumption_1 for s in game.stable_profiles())

game = instance.games[0]
two_in_both = game.strategy({"1": ["1", "2"], "2": ["1", "2"], "3": ["3"]})
assert mean_feedback(game, two_in_both.sets[None], "bandit").tolist() == [[2, 2, 0]]

# Slips in Lemma 10: joining both gains nothing beside two in {1}, and 1 (from 1 to 2) beside one in {1, 2}.
all_in_1 = game.strategy({agent: ["1"] for agent in game.agents})
assert game.gain(all_in_1, "1", ["1", "2"]) == 0
one_in_both = all_in_1.replace("1", ["1", "2"])
assert game.values(one_in_both).tolist() == [1, 1, 1]
assert game.gain(one_in_both, "2", ["1", "2"]) == 1

print("Theorem 4 as printed: ({2}, {2}, {3}) is stable in both games, so no gap is forced")
