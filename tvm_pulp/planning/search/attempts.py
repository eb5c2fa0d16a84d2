"""Plans that are tried, and how they were made."""

from dataclasses import dataclass

from tvm_pulp.planning.tiling.plan import Plan

# Networks of more layers than these are tried less often: their plans take long, and gain little by one try more.
FEW_LAYERS = 64


@dataclass(frozen=True)
class TileLimit:
    """A limit that is tried with a layer: bytes that a tile may take, and whether what streams has two copies."""

    cap: int
    two_copies: bool = True


@dataclass(frozen=True)
class Attempt:
    """A plan with its expected cycles, and how it was made."""

    name: str
    plan: Plan
    lead: int = 0
    limits: tuple[TileLimit, ...] = ()

    @property
    def cycles(self) -> int:
        return self.plan.estimated_cycles
