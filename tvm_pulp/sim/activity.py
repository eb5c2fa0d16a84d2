"""Activities of a machine's actors in one inference, with their times: reports and timelines are drawn from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spans:
    """Stretches of time of one actor in order: cycles of the machine's clock, and bytes or multiply-accumulates."""

    starts: np.ndarray
    ends: np.ndarray
    amounts: np.ndarray


@dataclass(frozen=True)
class CoreSpans:
    """The life of a core without gaps: it is awake, held at an access, or asleep."""

    name: str
    starts: np.ndarray
    ends: np.ndarray
    awake: np.ndarray
    held: np.ndarray
    stalls: Mapping[str, np.ndarray]
    """Of each stretch by cause; what is left of it are instructions and their latencies."""
    computes: bool = True
    """False for a core that only gives commands."""
    group: str = ""
    """Cores of a group are shown as one, where there are too many to be told apart."""


@dataclass(frozen=True)
class Activity:
    """One inference."""

    boundaries: Sequence[int]
    """Cycles at which layers begin, the first with the inference; and its end."""
    cores: Sequence[CoreSpans]
    accelerators: Mapping[str, Spans]
    loads: Spans
    stores: Spans
    from_l3: Spans
    to_l3: Spans

    @property
    def start(self) -> int:
        return self.boundaries[0]

    @property
    def end(self) -> int:
        return self.boundaries[-1]

    @property
    def core_groups(self) -> dict[str, list[int]]:
        """Places of the cores by what they are shown as."""
        groups: dict[str, list[int]] = {}
        for place, core in enumerate(self.cores):
            groups.setdefault(core.group or core.name, []).append(place)
        return groups


@dataclass(frozen=True)
class Cover:
    """Cycles that spans cover, each counted once: disjoint intervals in order."""

    starts: np.ndarray
    ends: np.ndarray
    before: np.ndarray  # covered in front of each interval

    @staticmethod
    def of(starts: np.ndarray, ends: np.ndarray) -> "Cover":
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(ends[order]) if len(order) else ends
        first = np.ones(len(starts), bool)
        first[1:] = starts[1:] > reach[:-1]
        last = np.append(np.flatnonzero(first)[1:] - 1, len(starts) - 1) if len(starts) else np.zeros(0, int)
        begins, finals = starts[first], reach[last]
        lengths = finals - begins
        return Cover(begins, finals, np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths)

    def until(self, cycles: np.ndarray) -> np.ndarray:
        """Covered cycles before each of the given ones."""
        if not len(self.starts):
            return np.zeros(len(cycles), np.int64)
        at = np.searchsorted(self.starts, cycles, side="right") - 1
        inside = np.clip(np.minimum(cycles, self.ends[at]) - self.starts[at], 0, None)
        return np.where(at < 0, 0, self.before[at] + inside)
