"""The sum of two tensors: as one multiply-accumulate, by tables of operands or results; that of unrounded results."""

from dataclasses import asdict, replace
from functools import cached_property, lru_cache

import numpy as np

from schedules.byte_functions import LinearSum, SumTable, find_linear_sum, find_sum_table
from schedules.byte_tables import byte_values
from schedules.cluster.base import (
    Arguments,
    Box,
    Fields,
    KernelForm,
    Layer,
    Schedule,
    Tensor,
    TileAxis,
    register,
    schedule,
)
from schedules.cluster.elementwise import ElementwiseKernel, bytes_in_rows, elements_work, plain_work, same_or_row
from schedules.kernel_cycles import Work, given, is_four, kind_of, share, work
from schedules.kernel_numbers import INT32
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.add import Add, AddAttributes, rules, split
from tvm_pulp.qnn.add_accumulators import SIDES, AddAccumulatorsAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES


def linear_sum(layer: Layer) -> LinearSum | None:
    """A sum with roundings of its own as one multiply-accumulate, where that is exact."""
    attributes, constants = AddAttributes.of(layer), layer.inputs[2:]
    types = tuple(t.spec.dtype for t in layer.inputs[:2])
    if attributes.form == "plain" or "int32" in types or any(t.spec.elements != 1 for t in constants):
        return None
    scalars = tuple(int(t.data.reshape(-1)[0]) for t in constants if t.data is not None)
    if len(scalars) < len(constants):
        return None
    return linear_sum_of(attributes, types, scalars)


def linear_sum_of(attributes: AddAttributes, types: tuple[str, ...], scalars: tuple[int, ...]) -> LinearSum | None:
    """As `linear_sum`, by attributes, types of the operands and constants of the rounding."""
    return _linear_sum(Add().stated(attributes), types, scalars)


@lru_cache(maxsize=1024)
def _linear_sum(attributes: AddAttributes, types: tuple[str, ...], scalars: tuple[int, ...]) -> LinearSum | None:
    rule = Requant.of(attributes)
    if rule.out_dtype == "int32":
        return None
    a, b = (byte_values(dtype) for dtype in types)
    result = Add().reference(attributes, [a[:, None], b[None, :], *(np.array([s], np.int32) for s in scalars)])
    first, second = (float(m) for m in attributes["multipliers"])
    if attributes["form"] == "tflite":
        mul, exponent = scalars
        left, right = (2.0 ** (e + attributes.left_shift - 31 + exponent - 31) * mul for e in attributes["exponents"])
        slopes = first * left, second * (-right if attributes["subtract"] else right)
    else:
        slopes = first * 2.0 ** -attributes["shift"], second * 2.0 ** -attributes["shift"]
    return find_linear_sum(result, a, b, slopes, rule.low, rule.high)


# Elements up to which the only row of a sum has a loop over single elements: TVM_PULP_ADD_FEW of add_few.h.
_FEW_SUMS = 128
# Elements from which on bringing a table of sums pays, beside a short loop and beside a long one.
_WORTH_A_TABLE, _WORTH_A_TABLE_ANYWAY = 1024, 32


def applies(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it; both roundings of frameworks, by tables where that is exact."""
    form = AddAttributes.of(layer).form
    if form != "plain" and linear_sum(layer) is not None:
        return all(same_or_row(t.spec, layer.outputs[0].spec.shape) for t in layer.inputs[:2])
    if not bytes_in_rows(layer, 2) or form not in ("plain", "tflite"):
        return False
    tabled = form == "tflite" or any(rule.kind != "none" for rule in rules(AddAttributes.of(layer))[:2])
    return not tabled or all(t.spec.dtype != "int32" for t in layer.inputs[:2])


class AddKernel(ElementwiseKernel):
    names = "ab"

    def tables(self) -> tuple[list[np.ndarray | None], int]:
        """Tables of both operands, and what must be added to every sum.

        The kernel is fast with two int8 tables or none. An operand without a table gets one that keeps its values, and
        values up to 255 are stored 128 lower.
        """
        found = [self.table(0), self.table(1)]
        specs = [t.spec for t in self.layer.inputs[:2]]
        if all(t is None for t in found) and specs[0].dtype == specs[1].dtype:
            return found, 0
        if Requant.of(self.layer.attributes).kind != "pulp" or any(s.dtype == "int32" for s in specs):
            return found, 0
        moved, total = [], 0
        for table, spec in zip(found, specs, strict=True):
            values = table.astype(np.int64) if table is not None else byte_values(spec.dtype)
            shift = 128 if values.min() >= 0 and values.max() > 127 else 0
            if values.min() - shift < -128 or values.max() - shift > 127:
                return found, 0
            moved.append((values - shift).astype(np.int8))
            total += shift
        return list(moved), total

    def table(self, side: int) -> np.ndarray | None:
        """The values of an operand before the sum, for every byte."""
        a, spec = AddAttributes.of(self.layer), self.layer.inputs[side].spec
        values = byte_values(spec.dtype)
        if a.form == "tflite":
            shifted = (values - a["zero_point_a" if side == 0 else "zero_point_b"]) << a.left_shift
            scaled = fixed_point.multiply(shifted, np.array(a.multipliers[side]), np.array(a.exponents[side]))
            return (-scaled if side == 1 and a.subtract else scaled).astype(np.int32)
        rule, constants = rules(a)[side], split(a, self.layer.inputs[2:])[side]
        if rule.kind == "none":
            return None
        result = rule.apply(values, [t.values for t in constants])
        return result if result.dtype == np.int8 else result.astype(np.int32)

    @cached_property
    def by_table(self) -> SumTable | None:
        """The sum by a table of its results, where there is much to add."""
        a, constants = AddAttributes.of(self.layer), self.layer.inputs[2:]
        rule, specs = Requant.of(a), [t.spec for t in self.layer.inputs[:2]]
        known = all(t.spec.elements == 1 and t.data is not None for t in constants)
        least = _WORTH_A_TABLE if rule.kind == "pulp" and not rule.wide else _WORTH_A_TABLE_ANYWAY
        worth = known and a.form == "plain" and self.layer.outputs[0].spec.elements >= least
        if not worth or "int32" in (rule.out_dtype, *(s.dtype for s in specs)):
            return None
        last = [t.data for t in rule.tensors(constants) if t.data is not None]
        return find_sum_table(
            [self.table(0), self.table(1)], [s.dtype for s in specs], lambda total: rule.apply(total, last)
        )

    def moved_add(self, offset: int) -> Tensor | None:
        """The summand of the requantization with `offset` put back into every sum."""
        if not offset:
            return None
        mul, add = (t.data.astype(np.int64) for t in self.layer.inputs[-2:] if t.data is not None)
        return self.constant("moved_add", (add + offset * mul).astype(np.int32))

    def linear_requant(self, call: Arguments, linear: LinearSum) -> Fields:
        """Shift and clip of a linear sum: the multipliers are applied before."""
        rule = replace(Requant.of(self.layer.attributes), kind="pulp", shift=linear.shift, zero_point=0, wide=False)
        constants = [
            self.constant(f"linear_{name}", np.array([value], np.int32))
            for name, value in (("mul", 1), ("add", linear.add))
        ]
        return call.requant_member("requant", rule, constants)

    def fields(self, call: Arguments, box: Box) -> Fields:
        fields = self.rows(call, box)
        linear, summed = linear_sum(self.layer), self.by_table
        tables, offset = (list(summed.operands), 0) if summed else self.tables() if linear is None else ([], 0)
        fields |= dict.fromkeys(("table_a", "table_b", "wide_table_a", "wide_table_b", "sum_table"), 0)
        for side, table in zip("ab", tables, strict=False):
            if table is not None:
                place = call.load_constant(f"table_{side}", table)
                fields[f"table_{side}" if table.dtype == np.int8 else f"wide_table_{side}"] = place
        if summed:
            fields["sum_table"] = call.load_constant("sums", summed.results)
            requant = call.requant_member("requant", Requant(), [])
        elif linear is None:
            requant = call.requant(box.span(-1), self.moved_add(offset))
        else:
            requant = self.linear_requant(call, linear)
        factors = (linear.mul_a, linear.mul_b) if linear else (1, 1)
        return fields | dict(zip(("mul_a", "mul_b"), factors, strict=True)) | requant | {
            "sum_low": summed.low if summed else 0,
        }  # fmt: skip


def applies_in_range(layer: Layer) -> bool:
    """Sums of bytes that are one multiply-accumulate, to a range that no single instruction clips."""
    rule = Requant.of(layer.attributes)
    if rule.low in (0, ~rule.high) or linear_sum(layer) is None:
        return False
    return all(same_or_row(t.spec, layer.outputs[0].spec.shape) for t in layer.inputs[:2])


class AddInRangeKernel(ElementwiseKernel):
    kernel, names = "add_in_range", "ab"

    def fields(self, call: Arguments, box: Box) -> Fields:
        rule, linear = Requant.of(self.layer.attributes), linear_sum(self.layer)
        assert linear is not None
        return self.rows(call, box) | asdict(linear) | {"low": rule.low, "high": rule.high}


@work("add_in_range")
def add_in_range_work(f: Fields, cores: int) -> Work:
    return elements_work(f, "element", cores)


@work("add")
def add_work(f: Fields, cores: int) -> Work:
    tables = given(f["table_a"]) and given(f["table_b"])
    one = given(f["table_a"]) != given(f["table_b"])
    if given(f["sum_table"]):
        return elements_work(f, "sums" + "_of_tables" * tables + "_of_table" * one, cores)
    wide = given(f["wide_table_a"]) or given(f["wide_table_b"]) or INT32 in (f["a_type"], f["b_type"])
    if wide or one or not is_four(f):
        return plain_work(f, kind_of(f), cores)
    if f["rows"] == 1 and f["columns"] <= _FEW_SUMS and not tables:
        return {"few_call": 1, "few": 4 * share(-(-f["columns"] // 4), cores)}
    return elements_work(f, "tables" if tables else "plain", cores)


register("add", Schedule(applies_in_range, AddInRangeKernel), Schedule(applies, AddKernel))


def applies_accumulators(layer: Layer) -> bool:
    """Channels last, bytes as the result."""
    rank = len(layer.outputs[0].spec.shape)
    last = AddAccumulatorsAttributes.of(layer).axis % rank == rank - 1
    return all(t.data is not None for t in layer.inputs[2:]) and last and layer.outputs[0].spec.dtype in BYTES


@schedule("add_accumulators", applies_accumulators)
class AddAccumulatorsKernel(KernelForm):
    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)[:-1]

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, a, columns = self.layer, AddAttributes.of(self.layer), box.size[-1]
        fields: Fields = {"rows": box.elements // columns, "columns": columns}
        # The kernel wants accumulators first.
        order = (0, 1) if layer.inputs[0].spec.dtype == "int32" else (1, 0)
        for side, position in zip(SIDES, order, strict=True):
            x, mul, theirs = layer.inputs[position], layer.inputs[2 + position], SIDES[position]
            if x.spec.dtype == "int32" and mul.spec.elements < columns:
                spread = np.broadcast_to(mul.values.reshape(-1), (columns,))
                mul = self.constant(f"mul_{side}", np.ascontiguousarray(spread))
            fields |= {
                side: call.load(side, x, box), f"mul_{side}": call.load_whole(f"mul_{side}", mul),
                f"left_{side}": a[f"left_{theirs}"], f"zero_point_{side}": a[f"zero_point_{theirs}"],
            }  # fmt: skip
        rule = Requant.of(a)
        return fields | {"zero_point": rule.zero_point, "low": rule.low, "high": rule.high}


@work("add_accumulators")
def add_accumulators_work(f: Fields, cores: int) -> Work:
    rows = share(f["rows"], cores)
    return {"call": 1, "row": rows, "words" if f["b_type"] == INT32 else "bytes": rows * f["columns"]}
