"""The clock on which steps are tried on paper: the cores work in order, engines and DMAs beside them, each in order.

Whoever expects something of time asks it: how long jobs run beside the cores, which step or layer is best next, how
early a transfer has to begin, what a whole program takes.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field


@dataclass
class StepClock:
    """`now`: when the cores are free. `ends`: of what every engine or DMA was given, in order. `made`: when results,
    by whatever name, are there."""

    now: int = 0
    ends: dict[str, list[int]] = field(default_factory=dict)
    made: dict[Hashable, int] = field(default_factory=dict)

    def ready(self, names: Iterable[Hashable]) -> int:
        """When all of these are there; 0 where nobody makes them."""
        found = 0
        for name in names:
            end = self.made.get(name, 0)
            if end > found:
                found = end
        return found

    def free_at(self, engine: str) -> int:
        """When an engine has done all that it was given."""
        return self.ends[engine][-1] if self.ends.get(engine) else 0

    def room_at(self, engine: str, queue: int) -> int:
        """When an engine that holds so many jobs takes another one."""
        given = self.ends.get(engine, ())
        return given[-queue] if len(given) >= queue else 0

    def next_end(self) -> int:
        """When the next of the jobs that are under way ends."""
        return min(end for given in self.ends.values() for end in given if end > self.now)

    def wait(self, until: int) -> None:
        """The cores do nothing until then."""
        self.now = max(self.now, until)

    def run(self, cycles: int, makes: Iterable[Hashable] = ()) -> int:
        """A step of the cores; returns when it ends."""
        self.now += cycles
        self._make(makes, self.now)
        return self.now

    def submit(self, engine: str, cycles: int, makes: Iterable[Hashable] = (), *, after: int = 0) -> int:
        """A job for an engine, which begins it when it has done all others; returns when it ends."""
        end = max(self.now, after, self.free_at(engine)) + cycles
        self.ends.setdefault(engine, []).append(end)
        self._make(makes, end)
        return end

    def over(self) -> int:
        """When everybody is done."""
        return max([self.now, *(given[-1] for given in self.ends.values())])

    def _make(self, names: Iterable[Hashable], end: int) -> None:
        for name in names:
            if end >= self.made.get(name, 0):
                self.made[name] = end
