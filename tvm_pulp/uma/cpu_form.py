"""Forms of layers on a CPU by itself: a hand-written kernel that computes a whole layer, and the C call of it."""

from collections.abc import Callable
from dataclasses import dataclass

from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cpu import Cpu

# The name of the function around a call, which is known when all are.
FUNCTION = "@FUNCTION@"


class NotOffered(Exception):
    """A kernel cannot compute a layer; the message says why."""


@dataclass(frozen=True)
class KernelCall:
    """The layer with the operands of the call, and the function's parameters, helpers before it and body.

    `overwrites`: operands whose place the result may take.
    """

    layer: Layer
    parameters: list[str]
    before: list[str]
    body: list[str]
    header: str
    overwrites: tuple[int, ...] = ()

    @property
    def constant_bytes(self) -> int:
        """Bytes of the constants that it reads."""
        return sum(t.spec.bytes for t in self.layer.inputs if t.kind == "constant")


@dataclass(frozen=True)
class CpuForm:
    """A way to compute layers of an operator: `call` makes the call, or raises `NotOffered`.

    `takes_spare_flash`: it needs fewer instructions than the form before it, and more flash.
    """

    name: str
    call: Callable[[Layer, Cpu], KernelCall]
    takes_spare_flash: bool = False
