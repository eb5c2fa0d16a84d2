"""A CPU without anything to plan for, as data: how C is built for it, what its kernels are made of, who emulates it."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tvm_pulp.soc.compiler_flag import CompilerFlag

# No file names: an archive must not make the compiler read others.
_Flag = Annotated[str, Field(pattern=r"^[\w=,+.-]+$")]
# Of a block's channels or depths. Limits keep padded weights small; the largest block of ours has 16 of each.
_Parts = Annotated[tuple[Annotated[int, Field(ge=1, le=256)], ...], Field(min_length=1, max_length=4)]


def _check_order(name: str, order: Sequence[str], channels: Sequence[int], depth: Sequence[int]) -> None:
    """Every part of a block has one place in an order."""
    parts = [f"c{i}" for i in range(len(channels))] + [f"d{i}" for i in range(len(depth))]
    if sorted(order) != parts:
        raise ValueError(f"{name} names each of {', '.join(parts)} once")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class AddressRange(_Section):
    """A range of addresses."""

    base: int = Field(default=0, ge=0, lt=1 << 32)
    size: int = Field(default=0, ge=0)


class ProductBlock(_Section):
    """The block that products are computed in: so many pixels and channels at once, depths in multiples.

    `channels` and `depth` are products of parts, outermost first; `order` tells in which order weights of a block lie,
    c0 and d0 being the outermost parts. `lane_bytes`: of a value of a pixel in a patch. `values`: the type that
    values have there, those of the other sign with 128 added or subtracted; none: their own. `by_constant`: of a
    block's constants the first of all channels comes first, then the second; else all of the first channel.
    `wide_order`: of weights that are stored with 16 bits, which take fewer instructions; none: there is no such form.
    """

    pixels: int = Field(default=1, ge=1, le=256)
    channels: _Parts = (1,)
    depth: _Parts = (1,)
    order: tuple[str, ...] = ("c0", "d0")
    lane_bytes: Literal[1, 2, 4] = 1
    values: Literal["int8", "uint8", ""] = ""
    by_constant: bool = False
    wide_order: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "ProductBlock":
        _check_order("order", self.order, self.channels, self.depth)
        if self.wide_order:
            _check_order("wide_order", self.wide_order, self.channels, self.depth)
        return self


class DepthwiseBlock(_Section):
    """The same of depthwise convolutions: channels at once, and in which order weights of a tap lie.

    `tails`: the last channels may be fewer.
    """

    channels: _Parts = (1,)
    order: tuple[str, ...] = ("c0",)
    dtype: Literal["int8", "int16"] = "int8"
    tails: bool = False

    @model_validator(mode="after")
    def _check(self) -> "DepthwiseBlock":
        _check_order("order", self.order, self.channels, ())
        return self


class Cpu(_Section):
    """One core with flat memory.

    `zig`: the packaged compiler's arguments that name it; where an operating system starts programs, `flags` are those
    of any compiler, and `needs` the names by which the system lists the instructions that must be there. `hal`:
    start-up and linker script, a folder of c_runtime/cpu; none: an operating system starts the program. `kernels`: the
    folder of c_runtime/cpu/kernels that products are made of, in blocks; none: plain loops. `doubled`:
    the upper half of a product comes doubled, so that kernels shift by one less. `devices`: who runs
    programs for it, the default first, each with the name by which it knows the core.
    """

    zig: tuple[_Flag, ...] = ()
    flags: tuple[CompilerFlag, ...] = ()
    needs: tuple[str, ...] = ()
    hal: str = ""
    kernels: str = ""
    doubled: bool = False
    block: ProductBlock = ProductBlock()
    depthwise: DepthwiseBlock = DepthwiseBlock()
    stack_bytes: int = Field(default=8192, ge=128, multiple_of=64)
    flash: AddressRange = AddressRange()
    ram: AddressRange = AddressRange()
    machine: Literal["arm", "aarch64", "riscv64", ""] = ""
    devices: dict[str, str] = Field(min_length=1)

    @property
    def pointer_bytes(self) -> int:
        """Bytes of an address in its programs."""
        return 4 if self.machine == "arm" else 8
