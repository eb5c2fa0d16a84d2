"""A canonical module as a plain list of layers over named tensors: what planning and code generation work on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvm_pulp.qnn.lineage import Lineage
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.quantization import Quantization
from tvm_pulp.qnn.record import Attributes
from tvm_pulp.qnn.tensor_spec import TensorSpec

# Caches of one buffer begin at multiples of it.
_ALIGNMENT = 16


@dataclass(eq=False)
class Tensor:
    """A named tensor. Views share the bytes of another tensor."""

    name: str  # a C identifier, unique in the network
    spec: TensorSpec
    kind: str  # input, output, constant, activation, workspace
    source: str = ""  # the model's own name
    data: np.ndarray | None = None
    view_of: "Tensor | None" = None
    # Of a view: elements of the other tensor before its first.
    offset: int = 0
    # Where it lives: l2, l3, or a part of the SoC's weight memory. L1 holds only tiles, and state that was put there.
    level: str = "l2"
    # Of an input or output that `--io` made integer.
    quantization: Quantization | None = None
    # Of an output that goes to single bytes of a cache's words: bytes from one to the next.
    apart: int = 0

    @property
    def values(self) -> np.ndarray:
        """Data of a constant."""
        assert self.data is not None, f"{self.name} is no constant"
        return self.data

    @property
    def storage(self) -> "Tensor":
        """The tensor whose bytes these are."""
        return self.view_of.storage if self.view_of else self

    @property
    def first(self) -> int:
        """The place of its first element in the storage."""
        return self.offset + (self.view_of.first if self.view_of else 0)


@dataclass(eq=False)
class Layer:
    """One region: an operator, or several that run as one (see `region.join`)."""

    name: str  # a C identifier, unique in the network
    # Dialect operator, "tir.<name>" for a kernel TVM generated, names joined by "+" for a region of several.
    operator: str
    attributes: Attributes
    inputs: list[Tensor]
    outputs: list[Tensor]
    # Of a kernel that TVM generated: the lowered PrimFunc of inputs, outputs, workspaces.
    function: Any = None
    macs: int = 0
    workspaces: list[Tensor] = field(default_factory=list)
    # Several cores may share the kernel's outermost loop.
    parallel: bool = True
    # Relax variables that it computes, its result last; none for a copy into a buffer of the caller.
    variables: tuple[Any, ...] = ()
    # Operators of a region of several, in order. What they hand on to each other exists only inside.
    parts: "tuple[Layer, ...]" = ()
    # Attributes of its Relax function in a partitioned module: "<engine>.<pattern>" and the engine.
    composite: str = ""
    codegen: str = ""
    # Nodes of the model file that it computes, in their order and under the file's names.
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        operator = OPERATORS.get(self.operator)
        if operator is not None:
            # Of plain values, as other packages may state them.
            self.attributes = operator.stated(self.attributes)

    @property
    def is_float(self) -> bool:
        """Tell if it computes with floats, or is a kernel that TVM generated for an operator outside the dialect."""
        return self.operator.startswith("tir.") or self.has_floats

    @property
    def has_floats(self) -> bool:
        """Tell whether it reads or writes floats, or is a float operator that ends in integers and begins with some."""
        tensors = (*self.inputs, *self.outputs)
        return self.operator.startswith("float_") or any(t.spec.dtype.startswith("float") for t in tensors)

    @property
    def operands(self) -> list[Tensor]:
        """Arguments of the kernel in order."""
        return [*self.inputs, *self.outputs, *self.workspaces]


@dataclass(frozen=True)
class State:
    """A cache: an input with `length` rows, and an output with `rows` new ones that belong behind them.

    Both have a row per position and belong to one buffer of `bytes`, which stays between calls. Where the buffer holds
    several positions of an element `together`, the input has a row for so many; an output of one new row goes out as
    bytes that far apart, one of more new rows is made of such words itself.
    """

    past: int  # place among the inputs
    present: int  # place among the outputs
    length: int | None  # None: the input `counter` tells it at run time
    rows: int
    bytes: int
    counter: int | None = None
    # Where the buffer lies: l1, l2 or l3. In L1 code knows its address, `offset` bytes behind the symbol; in L3 it is
    # `offset` bytes behind the first.
    level: str = "l2"
    symbol: str = ""
    offset: int = 0
    # Positions of an element that lie in a word of the buffer: 1, or as many as a row of the input has.
    together: int = 1


def placed_states(states: Sequence[State], level: str, symbol: str = "") -> tuple[State, ...]:
    """States at a level of memory: in L1 each has a symbol, in L3 they lie one behind the other."""
    made, offset = [], 0
    for number, state in enumerate(states):
        known = f"{symbol}_{number}" if level == "l1" else ""
        made.append(replace(state, level=level, symbol=known, offset=offset if level == "l3" else 0))
        offset += -(-state.bytes // _ALIGNMENT) * _ALIGNMENT
    return tuple(made)


@dataclass(frozen=True)
class Origin:
    """The source of a network: a Relax module with nothing but regions, dialect operators, generated kernels
    and views in `main`, and names of the model's inputs and outputs. `kernels` remembers what was lowered for it."""

    module: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    kernels: Any
    # What the integers of inputs and outputs stand for, as in `Imported`.
    quantization: dict[tuple[str, str], Quantization] = field(default_factory=dict)
    states: tuple[State, ...] = ()
    # What variables of the module were made of.
    made_of: Mapping[str, Lineage] = field(default_factory=dict)
    # Engines of the target: names of their drivers are not for tensors.
    engines: tuple[str, ...] = ()


@dataclass
class Network:
    """Layers in execution order."""

    name: str
    layers: list[Layer]
    inputs: list[Tensor]
    outputs: list[Tensor]
    origin: Origin | None = None

    @property
    def macs(self) -> int:
        return sum(layer.macs for layer in self.layers)

    @property
    def states(self) -> tuple[State, ...]:
        """Inputs and outputs that share a buffer."""
        return self.origin.states if self.origin is not None else ()

    def state_of(self, tensor: Tensor) -> State | None:
        """The cache whose earlier rows, or all of whose rows in L1, a tensor is."""
        joined = self.joined_caches().get(tensor.storage)
        return next((s for s in self.states if self.inputs[s.past] is tensor.storage), joined)

    def joined_caches(self) -> dict[Tensor, State]:
        """Results of joining a cache in L1 with its new rows."""
        pasts = {self.inputs[s.past]: s for s in self.states if s.level == "l1" and s.length is not None}
        return {
            layer.outputs[0]: pasts[layer.inputs[0]]
            for layer in self.layers
            if layer.operator == "concat" and layer.inputs[0] in pasts
        }

    def state_bytes(self, level: str) -> int:
        return sum(-(-s.bytes // _ALIGNMENT) * _ALIGNMENT for s in self.states if s.level == level)

    def constants(self) -> list[Tensor]:
        """Constant tensors in the order of first use."""
        return list(dict.fromkeys(t.storage for layer in self.layers for t in layer.inputs if t.kind == "constant"))

    def lifetimes(self) -> dict[Tensor, tuple[int, int]]:
        """First and last layer index at which each activation or workspace is alive."""
        alive: dict[Tensor, tuple[int, int]] = {}
        for index, layer in enumerate(self.layers):
            for tensor in layer.operands:
                storage = tensor.storage
                if storage.kind in ("activation", "workspace"):
                    alive[storage] = (alive.get(storage, (index, index))[0], index)
        return alive

    def uses_float(self) -> bool:
        """Tell whether any tensor is floating point, or an operator computes so inside."""
        every = [part for layer in self.layers for part in (layer, *layer.parts)]
        tensors: Iterable[Tensor] = (t for layer in every for t in layer.operands)
        return any(t.spec.dtype.startswith("float") for t in tensors) or any(_single_precision(p) for p in every)


def _single_precision(layer: Layer) -> bool:
    operator = OPERATORS.get(layer.operator)
    return operator is not None and operator.uses_float(layer.attributes)
