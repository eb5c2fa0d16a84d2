"""Parts that all forms of an array share: packed constants, the job and its cycles, work of the cores after it.

The array is asked for what differs from engine to engine by `ArrayContext`, which its backend derives.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from tvm_pulp.planning.tiling.cost.core_step import core_step
from tvm_pulp.qnn.block_diagonal import block_diagonal
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import (
    Box,
    Derived,
    Job,
    Kernel,
    Load,
    Local,
    Pointer,
    Recipe,
    Rounding,
    Step,
    Store,
    TileAxis,
    has_kernel,
)
from tvm_pulp.uma.box import tiles
from tvm_pulp.uma.strategy import AvoidableCycles
from tvm_pulp.uma.windows import InputSpan, window_spans
from uma_backends.conv_array.arithmetic.layer_arithmetic import Arithmetic
from uma_backends.conv_array.array_description import ArrayDescription
from uma_backends.conv_array.forms.channel_parts import in_parts
from uma_backends.conv_array.forms.padded_channels import padded_channels
from uma_backends.conv_array.modes import CONTEXTS, Mode

# The array fetches activations in whole pixels, of at most as many channels: it may read behind an operand.
ACTIVATION_SLACK = 64


@dataclass(frozen=True)
class ArrayContext(ABC):
    """The compilation as forms see it, and the array of its SoC."""

    engine: ClassVar[str]
    # Of the driver's structure.
    job_words: ClassVar[int]
    # Widths of scales.
    scale_bits: ClassVar[tuple[int, ...]] = (8, 32)
    # Whether a layer may run as two jobs between whose results the cores decide.
    has_bounds: ClassVar[bool] = False

    # TFLite's and ONNX's rounding on the array, with its proven deviation.
    native_tflite: bool
    costs: CostModel
    # int8 activations run as x + 128.
    unsigned_only: bool

    @property
    @abstractmethod
    def rows(self) -> int:
        """Output rows of a subtile."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Output columns of a subtile."""

    @property
    @abstractmethod
    def output_channels(self) -> int:
        """Output channels of a subtile."""

    @property
    @abstractmethod
    def depthwise_channels(self) -> int:
        """Channels of a depthwise subtile, whose weights lie together."""

    @property
    def row_step(self) -> int:
        """Rows of a matrix are best cut into multiples of so many."""
        return 1

    @property
    def weight_level(self) -> str:
        """The memory where packed weights live."""
        return "l2"

    @property
    def weights_in_l1(self) -> bool:
        """Tell if weights travel to L1 before a job, or the array has a port to where they live."""
        return True

    def plane_bits(self, mode: Mode, weight_bits: int) -> int:
        """Bits of packed weights."""
        return weight_bits

    @abstractmethod
    def pack(self, filters: np.ndarray, mode: Mode, weight_bits: int, offset: int) -> np.ndarray:
        """Bytes of filters [outputs, inputs, rows, columns] as the array reads them."""

    @abstractmethod
    def job(self, mode: Mode, shape: tuple[int, int, int, int], input_signed: bool, **how: Any) -> Any:
        """A job of so many output rows, columns, input and output channels; raises UserError for what cannot be."""

    @abstractmethod
    def cycles(self, job: Any) -> int:
        """Cycles of a job from its start to its event."""

    def port_cycles(self, job: Any) -> int | None:
        """Of these, the cycles in which a job uses its port to L1, where that is known."""
        return None

    def step(self, description: ArrayDescription) -> Job:
        """A job with its operands as a step."""
        d, job = description, description.job
        parts = (d.input, d.scale, d.bias, d.shift, d.weights)
        reads = tuple(p.operand for p in parts if p is not None and isinstance(p.operand, Local))
        work = (job.macs, self.cycles(job), self.costs.job_queue(self.engine), CONTEXTS)
        moved, port = (reads, (cast(Local, d.output.operand),), d.weights.operand), self.port_cycles(job)
        return Job(self.engine, d, self.job_words, *moved, *work, port_cycles=port)

    @abstractmethod
    def describe(self, job: Any, *operands: Any) -> ArrayDescription:
        """A job and its operands in the order of `ArrayDescription`."""


@dataclass(frozen=True)
class JobForm:
    """A layer that runs as jobs of an array, with the constants that are made for it."""

    layer: Layer
    context: ArrayContext
    name: str
    derived: Derived = field(default_factory=Derived, kw_only=True)

    @property
    def engine(self) -> str:
        return self.context.engine

    def axes(self) -> tuple[TileAxis, ...]:
        raise NotImplementedError

    def recipe(self, box: Box) -> Recipe:
        raise NotImplementedError

    def bound_cycles(self) -> int:
        """The engine's own cycles with as few jobs as its limits allow, everything at hand."""
        shape = self.layer.outputs[0].spec.shape
        limits = {a.axis: a.limit for a in self.axes() if a.limit is not None}
        boxes = tiles(shape, [min(extent, limits.get(axis, extent)) for axis, extent in enumerate(shape)])
        known: dict[tuple[int, ...], int] = {}
        total = 0
        for box in boxes:
            if box.size not in known:
                known[box.size] = self.recipe(box).engine_cycles
            total += known[box.size]
        return max(1, total)

    @property
    def parameter_slack(self) -> int:
        """Parameters are fetched for all outputs of a subtile: the array may read behind them."""
        return 4 * self.context.output_channels


@dataclass(frozen=True)
class ArrayForm(JobForm):
    """Common part: constants of the layer, requantization on the cores where it is not native."""

    arithmetic: Arithmetic
    mode: Mode
    # Groups of a convolution whose filters are those of one job, with zeros where groups do not meet.
    groups_at_once: int = field(default=1, kw_only=True)
    # What the cores add to the layer's result while they round it: `summed.Residual`.
    residual: Any = field(default=None, kw_only=True)
    # A second job, and what the cores decide between the results of both: `bounded_form.Settled`.
    settled: Any = field(default=None, kw_only=True)

    @property
    def rounding(self) -> Rounding:
        return Rounding(self.arithmetic.deviation, self.arithmetic.why_not_native)

    def filters(self) -> np.ndarray:
        """Weights as output channel, input channel, row, column; whatever is multiplied as 1x1 has one tap."""
        weights, at_once = self.arithmetic.weights, self.groups_at_once
        if at_once > 1:
            bundles = np.split(weights, Conv2dAttributes.of(self.layer).groups // at_once)
            weights = np.concatenate([block_diagonal(bundle, at_once) for bundle in bundles])
        is_1x1 = self.mode.kernel == 1
        return weights.reshape(len(weights), -1, 1, 1) if is_1x1 else weights.transpose(0, 3, 1, 2)

    def avoidable_cycles(self) -> AvoidableCycles | None:
        """Those of steps of the array that few channels need."""
        patch = (self.context.rows, self.context.columns)
        return padded_channels(self.layer, self.mode, lambda *c: self.context.cycles(self.array_job(*patch, *c)))

    @property
    def raw_dtype(self) -> str:
        return self.layer.outputs[0].spec.dtype if self.arithmetic.native else "int32"

    @property
    def in_pieces(self) -> bool:
        """Tell if weights of each job are stored by themselves: nobody else reads this packing."""
        return False

    @cached_property
    def packed(self) -> Tensor:
        """Packed weights: one row per output channel, depthwise one per group of channels."""
        a, context, filters = self.arithmetic, self.context, self.filters()
        data = context.pack(filters, self.mode, context.plane_bits(self.mode, a.weight_bits), a.weight_offset)
        per_row = context.depthwise_channels if self.mode is Mode.DEPTHWISE_3X3 else 1
        name = f"{self.layer.name}_{self.mode.name.lower()}_packed"
        return self.derived.constant(name, data.reshape(-(-len(filters) // per_row), -1), context.weight_level)

    def channels_read(self, box: Box) -> tuple[int, int]:
        """First input channel and number of those that output channels of a box are made of."""
        if self.mode is Mode.DEPTHWISE_3X3:
            return box.start[-1], box.size[-1]
        groups, depth = int(self.layer.attributes.get("groups", 1)), self.layer.inputs[0].spec.shape[-1]
        if groups == 1:
            return 0, depth
        of_group = self.layer.outputs[0].spec.shape[-1] // groups
        return box.start[-1] // of_group * (depth // groups), self.groups_at_once * (depth // groups)

    def array_job(self, height: int, width: int, depth: int, channels: int, **how: Any) -> Any:
        a = self.arithmetic
        return self.context.job(
            self.mode,
            (height, width, depth, channels),
            a.input_signed,
            weight_bits=self.context.plane_bits(self.mode, a.weight_bits),
            weight_offset=a.weight_offset,
            output_bits=a.output_bits,
            requantization=a.requantization,
            **how,
        )

    def picture(self, box: Box, slack: int) -> tuple[list[Step], Local, InputSpan, InputSpan]:
        """Bring what a tile of a convolution reads into L1; rows and columns of that."""
        layer, (first, channels) = self.layer, self.channels_read(box)
        x, kernel = layer.inputs[0].spec, layer.inputs[1].spec.shape[1:3]
        rows, columns = window_spans(Conv2dAttributes.of(layer), x, box, kernel)
        start, size = (box.start[0], rows.start, columns.start, first), (box.size[0], rows.size, columns.size, channels)
        return *self.source(Box(start, size), slack), rows, columns

    def source(self, box: Box, slack: int, fill: int = 0) -> tuple[list[Step], Local]:
        """Bring a part of the input into L1, as the array takes it: the cores add 128 to int8 where it has no sign."""
        x, added = self.layer.inputs[0], self.arithmetic.input_added
        # Bytes as they lie, where the cores turn them into others.
        source = Local("x", TensorSpec(box.size, "uint8" if added else x.spec.dtype), slack, fill=fill)
        load = Load(x, box, source)
        if not added:
            return [load], source
        table = self.derived.constant(f"{self.layer.name}_plus_{added}", (np.arange(256) + added).astype(np.uint8))
        brought, moved = Load.of(table, "table"), Local("unsigned", source.spec, slack, fill=fill)
        return [load, brought, Kernel("lookup", {}, (source, brought.local), (moved,))], moved

    def job_steps(
        self, job: Any, first: int, source: Local, target: Local, channels: int | None = None
    ) -> tuple[list[Step], Job]:
        """Loads of filters, scale and bias for channels from `first` on, and the job; `channels`: of several jobs."""
        packed, a, channels = self.packed, self.arithmetic, channels or job.output_channels
        row, rows = first, channels
        if self.mode is Mode.DEPTHWISE_3X3:
            group = self.context.depthwise_channels
            row, rows = first // group, -(-channels // group)
        steps: list[Step] = []
        weights, offset, in_l1 = packed, row * packed.spec.shape[1], self.context.weights_in_l1
        if in_l1 or (self.in_pieces and rows < packed.spec.shape[0]):
            # A constant of its own: what does not fit into L2 comes from L3 piece by piece, and others may have
            # the rest of the channels, and read it elsewhere.
            name, piece = f"{packed.name}_{row}_{rows}", packed.values[row : row + rows]
            weights, offset = self.derived.constant(name, piece, self.context.weight_level), 0
        place: Tensor | Local = weights
        if in_l1:
            steps.append(brought := Load.of(weights, "weights", slack=ACTIVATION_SLACK))
            place = brought.local
        vectors: dict[str, Local] = {}
        for name, constant, data in (
            ("scale", "scale", a.scale),
            ("bias", "folded_bias", a.bias if a.requantization.bias else None),
            ("shift", "shift", a.shift),
        ):
            if data is not None:
                tensor = self.derived.constant(f"{self.layer.name}_{constant}", data)
                steps.append(load := Load.of(tensor, name, Box((first,), (channels,)), self.parameter_slack))
                vectors[name] = load.local
        if "bias" in vectors:
            steps += self.whole_bias(vectors, first, source)
        parameters = (Pointer(vectors[n]) if n in vectors else None for n in ("scale", "shift", "bias"))
        operands = (Pointer(place, offset), Pointer(source), Pointer(target), *parameters)
        return steps, self.context.step(self.context.describe(job, *operands))

    def whole_bias(self, vectors: dict[str, Local], first: int, source: Local) -> list[Step]:
        """Steps before a job that replace its bias, where the array does not take all inputs."""
        return []

    def rest(self) -> tuple[dict[str, Any], list[Tensor]]:
        """Rule and constants of what the cores do with 32-bit results."""
        rest, name = self.arithmetic.rest or self.arithmetic.rest_of_halves, self.layer.name
        if rest is None:
            rule = {k: v for k, v in self.layer.attributes.items() if k.startswith("requant")}
            return rule, list(self.layer.inputs[-2:])
        parts = (("shift", rest.shift), ("summand", rest.add))
        constants = [self.derived.constant(f"{name}_rest_{part}", data.astype(np.int32)) for part, data in parts]
        whole = Requant.of(self.layer.attributes)
        kind = "shift" if self.arithmetic.rest else "shift_away" if rest.away else "shift_even"
        zero_point = 0 if self.arithmetic.rest else whole.zero_point
        return Requant(kind, rest.away, zero_point, whole.low, whole.high, dtype=whole.dtype).attributes(), constants

    def finish(self, raw: Local, box: Box, taken: Sequence[int] = ()) -> list[Step]:
        """From the array's output to the stored tile; requantize on the cores where the array cannot.

        `taken`: steps between the lines and pixels of the output that are kept.
        """
        out = self.layer.outputs[0]
        if self.residual is not None:
            return list(self.residual.finish(self, raw, box, taken))
        if self.arithmetic.native or out.spec.dtype == "int32":
            return [Store(raw, out, box)]
        first, channels = box.start[-1], box.size[-1]
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        rule, constants = self.rest()
        loads = [
            Load.of(t, f"requant{i}", Box.whole((1,)) if t.spec.elements == 1 else Box((first,), (channels,)))
            for i, t in enumerate(constants)
        ]
        attributes = {**rule, "zero_point": 0, "axis": len(raw.spec.shape) - 1, "reach": self.arithmetic.reach}
        if taken:
            attributes["taken"] = list(taken)
        if self.arithmetic.rest_of_halves:
            attributes["even_share"] = self.arithmetic.rest_of_halves.share_of_halves
        kernel = Kernel("requantize", attributes, (raw, *(load.local for load in loads)), (y,))
        return [*loads, kernel, Store(y, out, box)]

    def assemble(self, before: list[Step], job: Job, raw: Local, box: Box) -> Recipe:
        if self.settled is not None:
            return cast("Recipe", self.settled.assemble(self, before, job, raw, box))
        return self.arranged([*before, *self.job_and_end(job, raw, self.finish(raw, box), box)])

    def job_and_end(self, job: Job, raw: Local, end: list[Step], box: Box) -> list[Step]:
        """In parts of channels where that is faster and the layer one subtile of pixels, which is not cut by rows."""
        is_whole = box.size == self.layer.outputs[0].spec.shape
        is_whole = is_whole and box.elements // box.size[-1] <= self.context.rows * self.context.columns
        return (in_parts(self, job, raw, end) if is_whole else None) or [job, *end]

    def assemble_taken(self, before: list[Step], job: Job, raw: Local, box: Box, taken: Sequence[int]) -> Recipe | None:
        """As `assemble`, requantizing only some of the array's results; None where the cores have no kernel for it."""
        end = [] if self.arithmetic.native else self.finish(raw, box, taken)
        kernels = [s for s in end if isinstance(s, Kernel)]
        if not kernels or not all(has_kernel(k, self.context.costs) for k in kernels):
            return None
        return self.arranged([*before, *self.job_and_end(job, raw, end, box)])

    def arranged(self, given: list[Step]) -> Recipe:
        """A recipe of the steps, kernels with their costs."""
        steps = [core_step(s, self.context.costs) if isinstance(s, Kernel) else s for s in given]
        # Loads first: one wait and one barrier serve them all.
        return Recipe(tuple(sorted(steps, key=lambda step: not isinstance(step, Load))))
