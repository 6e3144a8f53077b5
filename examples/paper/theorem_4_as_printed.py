"""Theorem 4 as printed: bandit feedback is said to leave a gap of 1/20 in one of two games.

With the printed utilities (three agents, three coalitions; those of coalition 3 read with its own
size) the totals are indeed the same in both games. But ({2}, {2}, {3}) and its permutations are
stable in both, so a learner who always answers that has gap 0, whatever the game: nothing is
forced. Smaller slips: ({1}, {1}, {1}) is missing from the first game's list of stable profiles,
and two agents in {1, 2} beside one in {3} see a total of 2, not 4.

Proven here by enumeration. `theorem_4_repaired.py` has a pair of games that does what is claimed.
"""

from coterie import Game, Strategy
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


def profile(*actions: str) -> Strategy:
    """Return who joins what: "12" joins both 1 and 2."""
    return game.strategy({agent: list(action) for agent, action in zip(game.agents, actions, strict=True)})


# Lemma 10, the first kind of stable profile: utilities are 2, 2 and 1; who moves to {1} or {2} has 1, to {3} nothing.
two_in_both = profile("12", "12", "1")
assert game.values(two_in_both).tolist() == [2, 2, 1]
assert [game.gain(two_in_both, "1", list(action)) for action in "123"] == [-1, -1, -2]
# The second: nobody gains, agents 2 and 3 neither, and {1, 2} is as bad as {2} for agent 1.
apart = profile("3", "2", "2")
assert game.gain(apart, "1", ["1", "2"]) == game.gain(apart, "1", ["2"]) == -2
assert game.best_response(apart, "2").gain == 0
# All others: these are left out, ...
assert min(game.gap(profile("12", "12", other)) for other in ("2", "3", "12")) > 0
# ... here the agent in {2} gains, and not the one in {1}, ...
one_each = profile("12", "1", "2")
assert game.values(one_each).tolist() == [2, 1, 1]
assert (game.gain(one_each, "2", ["1", "2"]), game.gain(one_each, "3", ["1", "2"])) == (-2, 1)
# ... and joining both gains nothing beside two in {1}, and 1 (from 1 to 2) beside one in {1} and one in {1, 2}.
all_in_1, one_in_both = profile("1", "1", "1"), profile("12", "1", "1")
assert game.gain(all_in_1, "1", ["1", "2"]) == 0
assert game.values(one_in_both).tolist() == [1, 1, 1]
assert game.gain(one_in_both, "2", ["1", "2"]) == 1
# Lemma 11: who is in both coalitions has 2.
assert instance.games[1].values(one_each).tolist() == [2, 1, 1]

print("Theorem 4 as printed: ({2}, {2}, {3}) is stable in both games, so no gap is forced")
