"""The plan of a network for a CPU by itself: layers as calls of C functions, and addresses of what they work on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.kernel_offers import KernelOffers
from tvm_pulp.planning.program import CpuPlanJson, StatedDecisions
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.soc.cpu_platform import ram_beside
from tvm_pulp.uma.cpu_form import KernelCall


@dataclass(frozen=True)
class CpuRequest:
    """The machine, limits of its memories, and the kind of program that is wanted.

    `cpu`: None on a machine that nothing is known of. `keep_layers`: no result gives way to another. `guard`: bytes
    behind every buffer that nothing may touch. `alone`: no other program shares the memories. `stated`: decisions to
    which the search keeps.
    """

    soc: str
    cpu: Cpu | None = None
    ram_limit: int | None = None
    flash_limit: int | None = None
    threads: int = 1
    keep_layers: bool = False
    guard: int = 0
    alone: bool = True
    stated: StatedDecisions = field(default_factory=StatedDecisions)

    def arena_room(self, network: Network) -> int | None:
        """RAM that inputs, outputs and the stack leave for activations; None where nothing limits it."""
        return ram_beside(self.cpu, self.ram_limit, bytes_of_ends(network))


@dataclass(frozen=True)
class CalledLayer:
    """A layer, or a part of one, as the network states it and as a C function computes it.

    `of`: the layer's name in the whole network. `called` has the function's operands; `call` is None where loops are
    generated.
    """

    of: str
    stated: Layer
    called: Layer
    form: str
    call: KernelCall | None = None


@dataclass(frozen=True, eq=False)
class CpuPlan:
    """Decisions carried out.

    `groups`: so many layers each are parts of one; empty where there are no threads. `taken`: results with the tensors
    whose places they take.
    """

    request: CpuRequest
    decisions: CpuDecisions
    # The network as it was stated, before anything was cut.
    whole: Network
    layers: tuple[CalledLayer, ...]
    groups: tuple[int, ...]
    arena: Arena
    taken: Mapping[Tensor, Tensor]
    # What kernels offer for the layers.
    offers: KernelOffers

    @cached_property
    def stated(self) -> Network:
        """Layers and their parts over the network's own constants."""
        return replace(self.whole, layers=[layer.stated for layer in self.layers])

    @cached_property
    def network(self) -> Network:
        """Layers and their parts over the operands of their C functions."""
        return replace(self.whole, layers=[layer.called for layer in self.layers])

    @property
    def constant_bytes(self) -> int:
        return sum(t.spec.bytes for t in self.network.constants())


@dataclass(frozen=True, eq=False)
class LoweredCpuPlan:
    """A plan with the record of it and of its program, which the verifier has read."""

    plan: CpuPlan
    record: CpuPlanJson


def bytes_of_ends(network: Network) -> int:
    """Bytes of inputs and outputs."""
    return sum(t.spec.bytes for t in (*network.inputs, *network.outputs))
