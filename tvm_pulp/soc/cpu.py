"""A CPU without anything to plan for, as data: how C is built for it, what its kernels are made of, who emulates it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# No file names: an archive must not make the compiler read others.
_Flag = Annotated[str, Field(pattern=r"^[\w=,+.-]+$")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Region(_Section):
    """A range of addresses."""

    base: int = Field(default=0, ge=0, lt=1 << 32)
    size: int = Field(default=0, ge=0)


class Cpu(_Section):
    """One core with flat memory.

    `zig`: the compiler's arguments that name it. `hal`: start-up and linker script, a folder of c_runtime/cpu; none: an
    operating system starts the program. `devices`: who runs programs for it, the default first, each with the name by
    which it knows the core.
    """

    zig: tuple[_Flag, ...] = ()
    hal: str = ""
    stack_bytes: int = Field(default=8192, ge=128, multiple_of=64)
    flash: Region = Region()
    ram: Region = Region()
    machine: Literal["arm", ""] = ""
    devices: dict[str, str] = Field(min_length=1)
