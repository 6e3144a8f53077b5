"""Why an agent is where they are, in numbers and in sentences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from coterie.certificates.certificate import Witness
from coterie.words import GUESS, counted, signed


@dataclass(frozen=True)
class Partner:
    """Somebody who would share a coalition with the agent."""

    name: str
    value: float
    """What the agent gets from the partner there, a sum or not: the mean that is expected, times their chance of being
    there."""
    observed: int | None
    """How often the two were observed there; None where that is not known, as in bandit logs."""
    elsewhere: int | None = None
    """How often they were observed in other coalitions; None where that is not known, or in older files."""

    @property
    def unseen(self) -> str:
        """That the two were never seen together there, in a few words; "" where they were, or nobody knows."""
        if self.observed != 0:
            return ""
        if not self.elsewhere:
            return f"{GUESS}: never seen together{' there' if self.elsewhere is None else ''}"
        return f"{GUESS}: never seen together there; {counted(self.elsewhere, 'time')} elsewhere"


@dataclass(frozen=True)
class Room:
    """What a coalition is worth to the agent, given what the others do."""

    coalition: str
    joined: float
    """The chance that they are there: 1 or 0 under a pure strategy."""
    value: float
    lower: float
    upper: float
    """With probability 1 - delta, all agents' values of all coalitions lie between `lower` and `upper`."""
    partners: tuple[Partner, ...]
    seen: bool | None = None
    """Whether the agent was ever seen there with anybody who is there; None where nobody else is, or in older files."""
    others: int = 0
    """How many more than `partners` may be there; 0 in older files."""
    met_elsewhere: tuple[str, ...] = ()
    """With whom of those who are there they were seen in other coalitions, if with nobody there."""

    @property
    def unseen(self) -> str:
        """That they were never seen there with anybody who is there, in a few words; "" where they were."""
        return _never_there(self.met_elsewhere) if self.seen is False else ""


def _never_there(met_elsewhere: Collection[str]) -> str:
    if not met_elsewhere:
        return f"{GUESS}: never seen with anybody there"
    return f"{GUESS}: never seen there with any of them, but with {len(met_elsewhere)} elsewhere"


def what_it_does(step: Witness, change: Callable[[float], str] = signed) -> str:
    """Return what a step would do: one of several is worth what whoever gains less has of it."""
    gain, told = step.estimated_gain, change(step.estimated_gain)
    if len(step.movers) < 2:
        return f"would make it about {told}" if " " in told else f"would change that by about {told}"
    every, amount = "both" if len(step.movers) == 2 else "all of them", told.lstrip("+-").partition(" ")[0]
    if not amount.strip("0."):  # whoever reads it sees no difference
        return "would bring next to nothing to one of them"
    if gain < 0:
        return f"would not suit {every}: somebody would lose about {amount}"
    return f"would suit {every}, by about {told.partition(' ')[0]} or more each"


def how_sure(step: Witness, least: float | None, change: Callable[[float], str] = signed) -> str:
    """Return between what limits that surely is, as the end of the same sentence."""
    low, high = "" if least is None else change(least), change(step.bound)
    if len(step.movers) < 2:
        return f", surely by {f'{low} at least and ' if low else ''}{high} at most"
    return f" (surely {f'{low} to {high}' if low else f'{high} at most'} for whoever gets less by it)"


def with_others(
    witness: Witness,
    now: Mapping[str, Sequence[str]],
    *,
    moving: str = "move",
    swapping: str = "swap",
    shown: Callable[[str], str] = str,
) -> str:
    """Word a step that several take: those who join the same move together, the others swap with them.

    Wherever such a step is told these are its words; `now` is where people are, as far as that is known.
    """
    joins = {agent: set(to) - set(now.get(agent, ())) for agent, to in witness.movers.items()}
    others = [agent for agent in witness.movers if agent != witness.agent]
    beside = " and ".join(shown(agent) for agent in others if joins[agent] == joins[witness.agent])
    opposite = " and ".join(shown(agent) for agent in others if joins[agent] != joins[witness.agent])
    if not opposite:
        return f"{moving} together with {beside}"
    return f"{swapping}{f', together with {beside},' if beside else ''} with {opposite}"


@dataclass(frozen=True)
class Explanation:
    """Everything that speaks for and against one agent's coalitions."""

    agent: str
    value: float
    """Their expected utility."""
    rooms: tuple[Room, ...]
    """The coalitions they are in first, then the others, the most valuable first."""
    alternative: Witness | None
    """What is expected to be best among what they could do; None where they have no choice."""
    least: float | None = None
    """What that move changes at least, with probability 1 - delta for all agents at once; None where not known."""

    @classmethod
    def of(cls, agent: str, rooms: Sequence[Room], alternative: Witness | None, least: float | None) -> "Explanation":
        """Return an agent's explanation: their value is what their rooms add up to."""
        return cls(agent, sum(room.joined * room.value for room in rooms), tuple(rooms), alternative, least)

    @property
    def ends(self) -> tuple[float, float]:
        """What their place is worth at least and at most: the ends of their coalitions added up."""
        joined = [room for room in self.rooms if room.joined]
        return sum(room.joined * room.lower for room in joined), sum(room.joined * room.upper for room in joined)

    @property
    def unseen(self) -> str:
        """That they were never seen with anybody who is in their coalitions; "" where they were, or nobody is."""
        rooms = [room for room in self.rooms if room.joined and room.seen is not None]
        if not rooms or any(room.seen for room in rooms):
            return ""
        return _never_there({name for room in rooms for name in room.met_elsewhere})

    def __str__(self) -> str:
        """Say it in sentences."""
        return "\n".join(self.told())

    def told(
        self,
        *,
        limits: bool = True,
        worth: Callable[[float], str] = signed,
        change: Callable[[float], str] = signed,
        ends: Callable[[float, float], tuple[str, str]] | None = None,
        about: Mapping[str, str] | None = None,
        own: str = "",
    ) -> list[str]:
        """Return the verdict, and a sentence for each room.

        Parameters
        ----------
        limits
            Whether what is sure is told.
        worth, change
            How values, and what changes them, are written.
        ends
            How it is written between what two values something is; as the two are by default.
        about
            What there is to know of rooms, such as that one is full.
        own
            How what they have is written, where more than the value is told of it.
        """
        between = ends or (lambda low, high: (worth(low), worth(high)))
        words = _Words(limits, worth, change, between, about or {}, own)
        return [self._verdict(words), *(_line(room, words) for room in self.rooms)]

    def __repr__(self) -> str:
        home = " and ".join(room.coalition for room in self.rooms if room.joined) or "no coalition"
        return f"Explanation({self.agent} in {home}: {signed(self.value)}, alternative {self.alternative})"

    def _verdict(self, words: "_Words") -> str:
        change = words.change
        said = f"{self.agent} is expected to get {words.own or words.worth(self.value)}"
        said += f", {self.unseen}." if self.unseen else "."
        if self.alternative is None:
            return f"{said} They have no other choice."
        to = " and ".join(self.alternative.deviation) or "no coalition"
        if len(self.alternative.movers) > 1:
            to = f"to {with_others(self.alternative, {})} (then in {to})"
        sure = how_sure(self.alternative, self.least, change) if words.limits else ""
        return f"{said} Their best alternative, {to}, {what_it_does(self.alternative, change)}{sure}."


@dataclass(frozen=True)
class _Words:
    """How an explanation is told."""

    limits: bool
    worth: Callable[[float], str]
    change: Callable[[float], str]
    ends: Callable[[float, float], tuple[str, str]]
    about: Mapping[str, str]
    own: str


def _line(room: Room, words: _Words) -> str:
    where = {1.0: "in", 0.0: "not in"}.get(room.joined, f"{room.joined:.0%} in")
    # Where nobody there was seen with them the room says so, and each of its partners need not.
    made_by = ", ".join(
        f"{partner.name} {words.worth(partner.value)}"
        + (f" ({partner.unseen})" if partner.unseen and room.seen else "")
        for partner in room.partners
    )
    made_by += f" and {room.others} more" if made_by and room.others else ""
    nobody = "nobody there" if room.seen is None else "nobody stands out"
    sure = f" (surely {' to '.join(words.ends(room.lower, room.upper))})" if words.limits else ""
    guess = f", {room.unseen}" if room.unseen else ""
    about = f", {words.about[room.coalition]}" if room.coalition in words.about else ""
    return f"  {where} {room.coalition}{about}: worth {words.worth(room.value)}{guess}{sure}; {made_by or nobody}"
