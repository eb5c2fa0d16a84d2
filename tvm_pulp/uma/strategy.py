"""The statement of an engine about a layer, once: iteration space, footprints, limits, cost and how a tile is run.

The same statement feeds the tiler, code generation, `tvmc explain` and the conformance kit.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tvm_pulp.canonicalize.match import Mismatch
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tiles import TileAxis
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Recipe

__all__ = [
    "EXACT",
    "AvoidableCycles",
    "Form",
    "HasAvoidableCycles",
    "Refusal",
    "Refused",
    "Strategy",
    "TileAxis",
    "refuse_if",
]


@dataclass(frozen=True)
class Rounding:
    """How the results of a form differ from the model's: by so many steps of the output at most.

    `on_cores`: the reason why the cores requantize what the engine computes; nothing where they do not.
    """

    deviation: int = 0
    on_cores: str = ""


EXACT = Rounding()


class Form(Protocol):
    """One way to run a layer on an engine."""

    @property
    def name(self) -> str:
        """Its name for people: "3x3 direct", "im2col + 1x1"."""

    @property
    def engine(self) -> str:
        """The engine it runs on."""

    @property
    def rounding(self) -> Rounding:
        """How far its results may be from the model's; `EXACT` for nearly all."""

    def axes(self) -> tuple[TileAxis, ...]:
        """Axes of the first output that may be cut; none means the layer runs whole."""

    def recipe(self, box: Box) -> Recipe:
        """How the given part of the output is computed."""

    def bound_cycles(self) -> int:
        """Cycles below which the engine cannot do the layer, data movement not counted."""


@dataclass(frozen=True)
class AvoidableCycles:
    """Part of an engine's cycles that a layer of nearly the same sizes would not take, and how people are told."""

    share: float
    reason: str


@runtime_checkable
class HasAvoidableCycles(Protocol):
    """A form that knows such sizes. Most engines have none, so a `Form` need not be one."""

    def avoidable_cycles(self) -> AvoidableCycles | None:
        """The largest such part; None where the layer's sizes suit the engine."""


@dataclass(frozen=True)
class Refusal:
    """Why an engine does not take a layer, and what change would let it."""

    engine: str
    reason: str
    remedy: str = ""


class Refused(Mismatch):
    """Raised by a strategy instead of a `Refusal`; a pass that asks before it rewrites leaves the layer as it was."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


def refuse_if(condition: object, reason: str, remedy: str = "") -> None:
    """Refuse a layer where a condition holds."""
    if condition:
        raise Refused(reason, remedy)


class Strategy(Protocol):
    """Offers forms for layers of one operator."""

    def __call__(self, layer: Layer, context: Any) -> list[Form] | Refusal:
        """Ways to run the layer, or why there is none: returned, or raised as `Refused`."""
