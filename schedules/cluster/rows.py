"""Row-wise operators: softmax, RMSNorm, LayerNorm, and normalizations of quantize/dequantize graphs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from schedules.byte_tables import tflite_exponential_table
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Tensor, schedule
from schedules.kernel_cycles import Work, family_of, given, share, work
from schedules.kernel_numbers import INT32, TYPES
from tvm_pulp.qnn.qdq_norm import FactorAttributes, QdqNormAttributes, limits_of, stage_operands
from tvm_pulp.qnn.rows import RowNormAttributes
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.softmax_i import ISoftmaxAttributes
from tvm_pulp.qnn.softmax_i_tables import exponentials
from tvm_pulp.qnn.softmax_shift import ShiftSoftmaxAttributes
from tvm_pulp.qnn.softmax_table import TableSoftmaxAttributes
from tvm_pulp.qnn.softmax_tflite import TfliteSoftmaxAttributes
from tvm_pulp.qnn.tensor_spec import BYTES


class RowKernel(KernelForm):
    """Whole rows of the last axis."""

    def rows(self, call: Arguments, box: Box) -> Fields:
        """The operand, and how many rows and columns of it."""
        x = call.load("x", self.layer.inputs[0], box)
        return {"x": x, "rows": box.elements // box.size[-1], "columns": box.size[-1]}


def applies_i_softmax(layer: Layer) -> bool:
    """The form `i_softmax` on bytes, its exponentials rising, their sums inside 31 bits."""
    if SoftmaxAttributes.of(layer).form != "i_softmax" or layer.inputs[0].spec.dtype not in BYTES:
        return False
    table = exponentials(ISoftmaxAttributes.of(layer))
    columns = layer.inputs[0].spec.shape[-1]
    # The kernel takes the first exponential for the largest.
    rising = table.min() >= 1 and table[255] == table.max()
    return bool(ISoftmaxAttributes.of(layer).levels <= 256 and rising and int(table.max()) * columns < 1 << 31)


@schedule("softmax", applies_i_softmax)
class ISoftmaxKernel(RowKernel):
    kernel = "i_softmax"

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, rows = ISoftmaxAttributes.of(self.layer), self.rows(call, box)
        table = call.load_whole("table", self.constant("exponential", exponentials(a).astype(np.uint32)))
        return {**rows, "table": table, **call.scratch(4 * box.size[-1] + 16)}


def applies_ita(layer: Layer) -> bool:
    """The forms `ita_max` on bytes and `ita_partial_max` on int8, both with sums of 256ths."""
    attributes = layer.attributes
    if isinstance(attributes, ShiftSoftmaxAttributes) and attributes.unit != 256:
        return False
    form, dtype = SoftmaxAttributes.of(layer).form, layer.inputs[0].spec.dtype
    return (form == "ita_max" and dtype in BYTES) or (form == "ita_partial_max" and dtype == "int8")


@schedule("softmax", applies_ita)
class ItaSoftmaxKernel(RowKernel):
    kernel = "softmax_ita"

    def fields(self, call: Arguments, box: Box) -> Fields:
        a = ShiftSoftmaxAttributes.of(self.layer)
        return self.rows(call, box) | {"group": a.group if a.form == "ita_partial_max" else 0}


def applies_tflite(layer: Layer) -> bool:
    """The form `tflite` on int8."""
    return SoftmaxAttributes.of(layer).form == "tflite" and layer.inputs[0].spec.dtype == "int8"


@schedule("softmax", applies_tflite)
class TfliteSoftmaxKernel(RowKernel):
    kernel = "softmax_tflite"

    def fields(self, call: Arguments, box: Box) -> Fields:
        rows, table = self.rows(call, box), tflite_exponential_table(TfliteSoftmaxAttributes.of(self.layer))
        return {**rows, "table": call.load_whole("table", self.constant("exponential", table))}


def applies_table(layer: Layer) -> bool:
    """The form `table` from bytes to bytes, the zero point inside the range."""
    a, types = layer.attributes, {layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype}
    if not isinstance(a, TableSoftmaxAttributes):
        return False
    return types <= set(BYTES) and a.low <= a.zero_point <= a.high


@schedule("softmax", applies_table)
class TableSoftmaxKernel(RowKernel):
    kernel = "softmax_table"

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, rows = TableSoftmaxAttributes.of(self.layer), self.rows(call, box)
        reversed_table = self.constant("exponential", self.layer.inputs[1].values[::-1].copy())
        tables = {"table": call.load_whole("table", reversed_table), "gain": call.load_reals("gain", "gain")}
        return {**rows, **tables, **call.scratch(4 * box.size[-1] + 16), "high": a.high - a.zero_point}


def applies_norm(layer: Layer) -> bool:
    """Constant weights whose double fits 32 bits."""
    weight = layer.inputs[1].data
    if layer.inputs[0].spec.dtype not in TYPES or weight is None:
        return False
    return bool(np.abs(weight.astype(np.int64)).max(initial=0) < 1 << 30)


@dataclass(frozen=True)
class RealNorm:
    """Weights and biases with which single precision normalizes integers exactly; norm_real.h says how."""

    weight: np.ndarray
    bias: np.ndarray
    lift: int
    near: int


def real_norm(parameters: Sequence[np.ndarray], shift: int, columns: int) -> RealNorm | None:
    """Weights, and biases if there are any, in units of 2^-16; None where single precision does not hold them.

    With u = 2^-24: the reciprocal of the root, its product with the element and the sum are rounded. A result that is
    not clipped is below 129, so the sum is off by 2 u (129 + |bias|) + 129 u at most. The quotient is truncated, not
    floored: a result below zero may be higher by a unit of the quotient. No element is 2 sqrt(columns) roots away from
    its row's mean.
    """
    unit = 2.0 ** (16 - shift)
    weight, bias = parameters[0] * unit, parameters[1] * unit if len(parameters) > 1 else np.zeros(1)
    furthest = float(np.abs(bias).max(initial=0))
    error = 1.01 * 2.0**-24 * (3 * (129 << 16) + 2 * furthest + 1024)
    lift = math.ceil(1 + error + unit)
    near, bias = lift + math.ceil(error), bias + lift
    exact = all(np.array_equal(v.astype(np.float32), v) for v in (weight, bias))
    reach = 2 * math.sqrt(columns) * float(np.abs(weight).max(initial=0)) + furthest
    # Near results are made by division: they have to be rare. Beyond 31 bits there is no fraction left to look at.
    if not exact or near > 100 or reach + near >= 1 << 31:
        return None
    return RealNorm(weight.astype(np.float32), bias.astype(np.float32), lift, near)


@schedule("rms_norm", applies_norm)
@schedule("layer_norm", applies_norm)
class NormKernel(RowKernel):
    def reach(self) -> int:
        """How far the products go, if that is what decides: 2^30 and more need 64 bits."""
        x = self.layer.inputs[0].spec
        if len(self.layer.inputs) > 2:
            centred = (x.range[1] - x.range[0]) * self.largest(1)
            # With the bias it may go twice as far.
            return max(centred, (centred + self.largest(2)) // 2)
        # The root is at most the largest |x|, plus one under it.
        return x.magnitude * self.largest(1) + ((x.magnitude + 1) << RowNormAttributes.of(self.layer).shift)

    def largest(self, operand: int) -> int:
        return int(np.abs(self.layer.inputs[operand].values.astype(np.int64)).max(initial=0))

    @cached_property
    def reals(self) -> RealNorm | None:
        """Weights and biases in single precision, where two rows at a time are normalized by them."""
        layer, soc = self.layer, self.costs.soc
        x, by_integers = layer.inputs[0].spec, family_of(soc.software.kernels).normalizes_by_integers
        if by_integers or not soc.cluster.isa.single_float or x.dtype not in BYTES or self.reach() >= 1 << 30:
            return None
        if x.shape[-1] % 4 or x.elements // x.shape[-1] < 2 * self.cores or RowNormAttributes.of(layer).levels > 256:
            return None
        return real_norm([t.values for t in layer.inputs[1:]], RowNormAttributes.of(layer).shift, x.shape[-1])

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, weight, reals = self.layer, self.layer.inputs[1].values, self.reals
        fields = self.rows(call, box) | {"wide": int(self.reach() >= 1 << 30), "double_weight": 0, "real_weight": 0}
        fields |= {"lift": reals.lift if reals else 0, "near": reals.near if reals else 0}
        if reals:
            fields["real_weight"] = call.load_constant("real_weight", reals.weight)
        else:
            # Twice the weights, as the kernels take them.
            doubled = self.constant("double_weight", (2 * weight.astype(np.int64)).astype(np.int32))
            fields["double_weight"] = call.load_whole("weight", doubled)
        if len(layer.inputs) > 2:
            fields["bias"] = 0 if reals else call.load_whole("bias", layer.inputs[2])
            fields["real_bias"] = call.load_constant("real_bias", reals.bias) if reals else 0
        return fields


@work("softmax_ita", "softmax_tflite", "softmax_table")
def whole_rows(f: Fields, cores: int) -> Work:
    """Softmax forms whose rows are never shared."""
    mine = share(f["rows"], cores)
    return {"call": 1, "row": mine, "element": mine * f["columns"]}


@work("i_softmax")
def shared_rows(f: Fields, cores: int) -> Work:
    """Every core makes, where there are fewer rows than cores, a row's statistics, then a part of its results."""
    rows, columns = f["rows"], f["columns"]
    if rows >= cores:
        return whole_rows(f, cores)
    part = 4 * share(-(-rows * columns // 4), cores)
    touched = -(-part // columns) + (1 if rows > 1 else 0)
    work = {"call": 1, "row": touched, "element": part, "statistic": max(0, touched * columns - part)}
    return {f"single_{name}": count for name, count in work.items()} if rows == 1 else work


@work("rms_norm", "layer_norm")
def norm_work(f: Fields, cores: int) -> Work:
    """Normalizations have a general form beside the fast ones."""
    if given(f["real_weight"]):
        pairs = share(share(f["rows"], cores), 2)
        return {"real_call": 1, "real_pair": pairs, "real_element": 2 * pairs * f["columns"]}
    if f["wide"] or f["x_type"] == INT32 or f["levels"] > 256:
        mine = share(f["rows"], cores)
        return {"plain_call": 1, "plain_row": mine, "plain_element": mine * f["columns"]}
    return shared_rows(f, cores)


# Stages that the kernel's arguments have room for.
_STAGES = 2
# Elements of a core up to which the only row has a loop over single elements: FEW of qdq_norm.c.
_FEW_NORMALIZED = 32
# Columns from which on rows are not taken in pairs: are_pair of norm_pairs.h.
_SIGNED_BYTES = 128
# Rows of a core that repay the longer loop's code, and those that go through a loop together: LEAST_PAIRED and BATCH of
# qdq_norm.c.
_LEAST_PAIRED, _NORMALIZED_TOGETHER = 4, 8


def applies_qdq_norm(layer: Layer) -> bool:
    """As many stages of weights as the kernel has."""
    return len(QdqNormAttributes.of(layer).biases) <= _STAGES


def is_narrow_norm(attributes: FactorAttributes, parameters: Sequence[np.ndarray], columns: int) -> bool:
    """Tell if one stage makes results of 16 bits: no element is sqrt(columns) deviations away from its mean."""
    furthest = attributes.gain * math.sqrt(columns / attributes.statistic)
    weight, *bias = (float(np.abs(p).max(initial=0)) for p in parameters)
    return furthest * weight + sum(bias) < 32000


@schedule("qdq_norm", applies_qdq_norm)
class QdqNormKernel(RowKernel):
    def is_narrow(self, stages: Sequence[tuple[Tensor, Tensor | None]]) -> bool:
        """Tell if there is one stage without rounding before it, of narrow results."""
        a, parameters = QdqNormAttributes.of(self.layer), [t.values for stage in stages for t in stage if t is not None]
        if len(stages) != 1 or a.has_table or any(a.rounds[:-1]):
            return False
        return is_narrow_norm(a, parameters, self.layer.inputs[0].spec.shape[-1])

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, a, fields = self.layer, QdqNormAttributes.of(self.layer), self.rows(call, box)
        fields["reals"] = call.load_reals("reals", "statistic", "epsilon", "gain")
        table, stages = stage_operands(a, layer.inputs)
        limits = [pair or (0, 0) for pair in limits_of(a)]
        low, high = limits.pop()
        fields |= {
            "table": 0 if table is None else call.load_whole("table", table),
            "stages": len(stages), "narrow": int(self.is_narrow(stages)),
            "rounds": sum(1 << i for i, rounds in enumerate(a.rounds[:-1]) if rounds),
            "index_low": a.index_limits[0], "index_high": a.index_limits[1], "low": low, "high": high,
        }  # fmt: skip
        for i in range(_STAGES):
            weight, bias = stages[i] if i < len(stages) else (None, None)
            lowest, highest = limits[i] if i < len(stages) else (0, 0)
            fields |= {f"low{i}": lowest, f"high{i}": highest}
            for name, tensor in (("weight", weight), ("bias", bias)):
                fields[f"{name}{i}"] = 0 if tensor is None else call.load_whole(f"{name}{i}", tensor)
        return fields


def _parts_of_rows(rows: int, columns: int, cores: int) -> tuple[int, int]:
    """Elements of a core, and rows that one of them belongs to at most; the only row is shared in words."""
    unit = 8 if rows > 1 else 4
    each, rest = divmod(-(-rows * columns // unit), cores)
    ends = [unit * (each * core + min(core, rest)) for core in range(cores + 1)]
    touched = [-(-end // columns) - begin // columns for begin, end in pairwise(ends) if end > begin]
    return ends[1], max(touched)


@work("qdq_norm")
def qdq_norm_work(f: Fields, cores: int) -> Work:
    """Normalizations in single precision: rows are shared where that is fairer; some sequences have fast loops."""
    rows, columns, stages, rounds = f["rows"], f["columns"], f["stages"], f["rounds"]
    most, paired = share(rows, cores), 0
    if rows >= cores and (most * cores - rows < most or most > 8):
        part, touched = most * columns, most
        # Two rows at a time, where the multiplier of an element is a signed byte.
        last = most % _NORMALIZED_TOGETHER
        paired = most if last >= _LEAST_PAIRED and last % 2 == 0 else most - last
        paired = 0 if f["centred"] and columns >= _SIGNED_BYTES else paired * columns
    else:
        part, touched = _parts_of_rows(rows, columns, cores)
    form = "any"
    if f["narrow"]:
        form = "narrow_biased" if given(f["bias0"]) else "narrow"
    elif stages == 1 and not rounds:
        form = "biased" if given(f["bias0"]) else "weighted"
    elif stages == 1 and not given(f["bias0"]):
        form = "rounded"
    elif stages == 2 and rounds == 3 and not given(f["bias0"]) and given(f["bias1"]):
        form = "two_rounded"
    if rows == 1 and part <= _FEW_NORMALIZED and form not in ("any", "two_rounded"):
        form = {"narrow_biased": "biased", "narrow": "weighted"}.get(form, form)
        return {"few_call": 1, "few_sum": columns, f"few_{form}": part}
    work: Work = {"call": 1, "row": touched, "sum": touched * columns}
    if paired and form in ("narrow_biased", "narrow"):
        work = {"paired_call": 1, "paired_row": touched, "sum": touched * columns, f"paired_{form}": paired}
        part -= paired
    return {**work, f"element_{form}": part} if part else work
