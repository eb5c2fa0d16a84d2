"""Energy coefficients of a SoC: what one count of the simulator takes, how sure that is, and who says so."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

UNKNOWN_SPREAD = 1.0


class Coefficient(BaseModel):
    """Picojoules of one count. `spread`: relative standard deviation. `source`: where the figure comes from.

    A plain number is a figure that nobody vouches for: it may be off by as much as it says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pj: float = Field(ge=0)
    spread: float = Field(default=UNKNOWN_SPREAD, ge=0)
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, stated: Any) -> Any:
        return {"pj": stated} if isinstance(stated, int | float) and not isinstance(stated, bool) else stated


class Energy(BaseModel):
    """Coefficients at one operating point; None where nothing is known.

    `static_cycle`: of every cycle, whatever happens: leakage, clocks that never stop, and a core that only boots.
    `core_idle_cycle`: of a core that sleeps. Bytes are those that pass a memory's ports; `l2_byte` includes the way
    from there to L1. `engine_busy_cycle`: of a cycle in which an engine works, besides its multiply-accumulates;
    nothing where it is not stated. `common_spread`: relative standard deviation of all of them together, such as that
    of a voltage that is not known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    operating_point: str = ""
    common_spread: float = Field(default=0.0, ge=0)
    core_active_cycle: Coefficient | None = None
    core_idle_cycle: Coefficient | None = None
    l1_byte: Coefficient | None = None
    l2_byte: Coefficient | None = None
    l3_byte: Coefficient | None = None
    weight_byte: Coefficient | None = None
    engine_busy_cycle: dict[str, Coefficient] = {}
    engine_mac: dict[str, Coefficient] = {}
    static_cycle: Coefficient | None = None
