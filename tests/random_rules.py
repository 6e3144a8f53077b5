"""Random rules of every kind about agents and coalitions "1", "2", ..."""

from typing import Any

from coterie import Rules


def random_rules(rng, n, k, often=0.4, *, moves=False):
    """Return rules of which each kind occurs with the given frequency; they may contradict each other."""
    names, rooms = [str(i + 1) for i in range(n)], [str(l + 1) for l in range(k)]

    def some():
        return rng.random() < often

    def size():
        least, most = sorted(rng.integers(0, n + 1, 2).tolist())
        return {"min": least, "max": most if some() else None, "or_empty": bool(rng.integers(2))}

    found: dict[str, Any] = {"team_size": {}}
    if some():
        found["team_size"]["*"] = size()
    if some():
        found["team_size"][str(rng.choice(rooms))] = size()
    if some():
        found["per_person"] = tuple(sorted(rng.integers(0, k + 1, 2).tolist()))
    for kind in ("together", "apart"):
        pairs = [rng.choice(n, 2, replace=False) for _ in range(2) if n > 1 and some()]
        where = {"coalition": str(rng.choice(rooms))} if rng.random() < 0.3 else {}
        found[kind] = [{"agents": [names[i] for i in pair], **where} for pair in pairs]
    for kind in ("fix", "ban"):
        if some():
            found[kind] = {str(rng.choice(names)): [str(rng.choice(rooms))]}
    if some():
        found["staff"] = [name for name in names if rng.random() < 0.8] or names[:1]
    if some():
        found["labels"] = {name: {"site": "Paris"} for name in names if rng.random() < 0.5} or {"1": {"site": "Paris"}}
        limit = {"at_most": int(rng.integers(0, 3))} if rng.integers(2) else {"at_least": int(rng.integers(1, 3))}
        where = {"coalition": str(rng.choice(rooms))} if rng.integers(2) else {}
        found["quota"] = [{"label": "site", "equals": "Paris", **limit, **where}]
    if moves and some():
        found["max_moves"] = int(rng.integers(0, n + 1))
    return Rules(**found)
