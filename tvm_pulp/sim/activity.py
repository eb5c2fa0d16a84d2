"""What every actor of a machine did from when to when in one inference: what reports and timelines are drawn from."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Activity:
    """One inference."""

    boundaries: Sequence[int]
    """Where layers begin, the first with the inference; and its end."""
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
