"""How one tile of a layer is computed: a short list of steps on buffers in L1.

A form (see `strategy.py`) writes recipes; the tiler places their buffers and code generation turns the steps into DMA
commands, kernel calls and accelerator jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.box import Box, Transfer
from tvm_pulp.uma.contiguous import contiguous_offset, tensor_transfers
from tvm_pulp.uma.teams import ALL_CORES


@quick_record(eq=False, slots=False)
class Local:
    """A buffer in L1. `slack` more bytes behind the tensor belong to it: engines read and write whole beats.

    Of these, `fill` are computed with, as rows that make a picture full: nobody may write them meanwhile.
    One `inside` another is the other's first bytes under a name of their own: a result that begins as an operand.
    """

    name: str
    spec: TensorSpec
    slack: int = 0
    fill: int = field(default=0, kw_only=True)
    inside: "Local | None" = None

    @cached_property
    def bytes(self) -> int:
        return self.spec.bytes + self.slack


@quick_record()
class CoreCost:
    """Cost of a step on the cores: cycles with its code at hand, and how much later all of that code arrives."""

    cycles: int
    # Cycles of fetching all of its code, and the name by which steps that run the same code know it.
    cold_cycles: int = 0
    code: str = ""


FREE = CoreCost(0)


class _Moves:
    """Bytes of a box of a tensor: planning asks for them again and again."""

    tensor: Tensor
    box: Box

    @cached_property
    def transfers(self) -> tuple[Transfer, ...]:
        """Fewest commands that move them."""
        return tensor_transfers(self.tensor, self.box)

    @cached_property
    def offset(self) -> int | None:
        """Their place in the tensor where they are one run of whole words, else None."""
        return contiguous_offset(self.tensor, self.box)


@quick_record(slots=False)
class Load(_Moves):
    """Bring a box of a tensor into L1. With a pitch its rows, the box being one run of `rows`, lie that far apart.

    What lies between the rows is undefined then.
    """

    tensor: Tensor
    box: Box
    local: Local
    rows: int = 1
    pitch: int = 0

    @staticmethod
    def of(tensor: Tensor, name: str, box: Box | None = None, slack: int = 0) -> "Load":
        """Bring a box of a tensor, or all of it, into a buffer of its own."""
        if box is None:
            return Load(tensor, Box.whole(tensor.spec.shape), Local(name, tensor.spec, slack))
        return Load(tensor, box, Local(name, TensorSpec(box.size, tensor.spec.dtype), slack))

    @property
    def operands(self) -> tuple[Local | Tensor, ...]:
        return (self.tensor, self.local)


@quick_record(slots=False)
class Store(_Moves):
    """Write a buffer back to a box of a tensor."""

    local: Local
    tensor: Tensor
    box: Box

    @property
    def operands(self) -> tuple[Local | Tensor, ...]:
        return (self.local, self.tensor)


@quick_record(slots=False)
class Kernel:
    """Run a kernel on the cores. Operands are L1 buffers, or tensors where they lie."""

    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[Local | Tensor, ...]
    outputs: tuple[Local | Tensor, ...]
    # Kernels that TVM generated come with their function; others are lowered from the operator.
    function: Any = None
    workspaces: tuple[Local | Tensor, ...] = ()
    parallel: bool = True
    cost: CoreCost = FREE
    team: int = ALL_CORES  # that runs it

    @cached_property
    def operands(self) -> tuple[Local | Tensor, ...]:
        return (*self.inputs, *self.outputs, *self.workspaces)

    @property
    def words(self) -> int:
        """Words of its descriptor: the addresses of its operands."""
        return len(self.operands)


@quick_record()
class Pointer:
    """The address of an operand, plus bytes, as a word of a descriptor."""

    operand: Local | Tensor  # a tensor: state that lies in L1
    offset: int = 0


@quick_record(slots=False)
class Call:
    """Run a hand-written kernel on the cores: one function for all shapes, its arguments a structure of words in L1.

    `fields` names the words, those of a member that is a structure itself with a dot.
    """

    function: str
    structure: str
    fields: tuple[str, ...]
    arguments: tuple[int | Pointer, ...]
    reads: tuple[Local | Tensor, ...]
    writes: tuple[Local | Tensor, ...]
    cost: CoreCost = FREE
    team: int = ALL_CORES  # that runs it

    @cached_property
    def operands(self) -> tuple[Local | Tensor, ...]:
        return (*self.reads, *self.writes)

    @property
    def words(self) -> int:
        return len(self.arguments)


@dataclass(frozen=True)
class Changes:
    """Registers of a job that differ from those of the earlier job that they still hold, by number and value."""

    registers: tuple[tuple[int, int], ...]
    words: int  # that the driver reads and writes, as `Job.words`


@quick_record(slots=False)
class Job:
    """Run an accelerator job. The engine's code generator turns the description and addresses into C."""

    engine: str
    description: Any
    # Size of the driver's job structure, which lies in L1: the driver reads it word by word.
    words: int
    reads: tuple[Local, ...]
    writes: tuple[Local, ...]
    # What lies in weight memory, or constants in L1 beside `reads`; most engines have none.
    weights: Tensor | Local | None = None
    macs: int = 0
    cycles: int = 0  # of the engine, from its start to its event
    # Jobs that the engine holds, the one it works on included. They end in order, and the driver's submit returns only
    # when all but this many are over.
    queue: int = 1
    # Jobs so many apart are written to the same registers, which keep their values: `description.changes(before)` tells
    # the changes, or None where there are too many. 0: every job is told everything.
    contexts: int = 0
    # Runs of the engine that the driver makes of it, which a simulator measures one by one.
    runs: int = 1
    # Of its cycles, those in which it uses its port to L1; None: as if each byte of its operands passed once.
    port_cycles: int | None = None

    @cached_property
    def operands(self) -> tuple[Local | Tensor, ...]:
        return (*self.reads, *self.writes, *([] if self.weights is None else [self.weights]))

    @property
    def cost(self) -> CoreCost:
        """Cycles of its engine; programming it is not part of them."""
        return CoreCost(self.cycles)


Step = Load | Store | Kernel | Call | Job


def descriptor_words(steps: Sequence[Any]) -> int:
    """Words of all descriptors of a tile: they travel to L1 together."""
    return sum(s.words for s in steps if isinstance(s, Call | Job))


@quick_record(slots=False)
class Recipe:
    """Steps in order. `together`: cores and accelerator work on different parts at the same time."""

    steps: tuple[Step, ...]
    together: bool = False

    @property
    def engine_cycles(self) -> int:
        """Cycles of an accelerator's jobs."""
        return sum(s.cycles for s in self.steps if isinstance(s, Job))

    @property
    def core_cycles(self) -> int:
        """Cycles of the cores' kernels."""
        return sum(s.cost.cycles for s in self.steps if isinstance(s, Kernel | Call))

    @property
    def cycles(self) -> int:
        """Cycles of the compute steps, one after the other, their code at hand; data movement is not counted."""
        engine, cores = self.engine_cycles, self.core_cycles
        return max(engine, cores) if self.together else engine + cores

    @property
    def code(self) -> tuple[str, ...]:
        """Hand-written functions that the cores run; what is generated for a layer is named after none."""
        return tuple(s.function for s in self.steps if isinstance(s, Call))

    @cached_property
    def locals(self) -> tuple[Local, ...]:
        """L1 buffers in the order of first use."""
        found: dict[Local, None] = {}
        for step in self.steps:
            for operand in operands_of(step):
                if isinstance(operand, Local) and operand.inside is None:
                    found.setdefault(operand)
        return tuple(found)

    @cached_property
    def loads(self) -> tuple[Load, ...]:
        return tuple(step for step in self.steps if isinstance(step, Load))

    @cached_property
    def stores(self) -> tuple[Store, ...]:
        return tuple(step for step in self.steps if isinstance(step, Store))

    @cached_property
    def constants(self) -> tuple[Tensor, ...]:
        """Constant tensors that some step reads, in order of first use."""
        tensors = (o.storage for step in self.steps for o in operands_of(step) if isinstance(o, Tensor))
        return tuple(dict.fromkeys(tensor for tensor in tensors if tensor.kind == "constant"))

    @cached_property
    def moved(self) -> dict[Local, Load | Store]:
        """The step that brings a buffer's bytes, or takes them away."""
        return {step.local: step for step in self.steps if isinstance(step, Load | Store)}

    @cached_property
    def activations(self) -> dict[Local | Tensor, Tensor]:
        """The tensors that buffers hold parts of, as far as they are no constants."""
        return {o: m.tensor.storage for o, m in self.moved.items() if m.tensor.storage.kind != "constant"}

    @cached_property
    def contents(self) -> dict[Local, str]:
        """Names of what loaded and stored buffers hold: a tensor and the box of it."""
        pitches = {m.local: f" every {m.pitch} bytes" for m in self.moved.values() if isinstance(m, Load) and m.pitch}
        return {o: f"{m.tensor.storage.name}{m.box}{pitches.get(o, '')}" for o, m in self.moved.items()}


def operands_of(step: Step) -> Sequence[Local | Tensor]:
    """Everything a step touches."""
    return step.operands


@dataclass(eq=False)
class Derived:
    """Constants a form makes once per layer (packed weights, folded biases), shared by all its tiles."""

    tensors: dict[str, Tensor] = field(default_factory=dict)

    def constant(self, name: str, data: np.ndarray, level: str = "l2") -> Tensor:
        """A new constant tensor, or the one of that name."""
        if name not in self.tensors:
            spec = TensorSpec(tuple(data.shape), str(data.dtype))
            self.tensors[name] = Tensor(name, spec, "constant", data=data, level=level)
        return self.tensors[name]
