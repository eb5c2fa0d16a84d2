"""Values that depend on positions alone: rotations, learned positions, masks.

Such values are compared for several numbers of tokens before. A value of the same shape everywhere must be rows of
one table, the first row that of the first new token; it becomes an input. A value that grows is one of two masks:

* It only grows at its beginning, where tokens before are, by what is the same for all of them: a constant, of which
  the part of tokens that are not there is never looked at.
* What a new token sees of those before depends on its own position, as a window does: rows of the table that says it
  for every position, in front of what new tokens see of each other, which is a constant.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_fold import fold
from tvm_pulp.frontend.onnx_protos import constant_of, label, node_of, reached, replace_all
from tvm_pulp.language_models.entry_module import Purpose, Source
from tvm_pulp.language_models.exported.specialize import Specialized

# Operands that say where, not what.
_SHAPE_OPERANDS = {
    "ConstantOfShape": (0,), "CumSum": (1,), "Expand": (1,), "Pad": (1, 3), "ReduceMax": (1,), "ReduceMean": (1,),
    "ReduceMin": (1,), "ReduceSum": (1,), "Reshape": (1,), "Slice": (1, 2, 3, 4), "Split": (1,), "Squeeze": (1,),
    "Tile": (1,), "Unsqueeze": (1,),
}  # fmt: skip


class BoundPositions:
    """Values of a decoder that depend on positions: graphs for some tokens behind others, and for all tokens at once.

    `moving` are the inputs that hold data.
    """

    def __init__(self, samples: Sequence[Specialized], whole: Specialized, opset: int, moving: set[str]) -> None:
        self._samples, self._whole, self._opset = list(samples), whole, opset
        self._graph = samples[0].graph
        self._makers = {name: node for node in self._graph.node for name in node.output}
        self._moving = reached(moving, self._graph.node)
        self._tables: dict[str, Source] = {}
        self._kept: list[Any] = []

    def bind(self) -> list[Source]:
        """Changes the graph of the first sample: values that depend on positions are inputs or constants."""
        first = self._samples[0].values
        varying = {name for name in first if self._varies(name)}
        gone: set[str] = set()
        for node in self._graph.node:
            if not any(n in varying for n in node.input) or any(o in self._moving for o in node.output):
                continue
            for sample in (*self._samples, self._whole):
                self._evaluate(node, sample)
            varying |= {o for o in node.output if self._varies(o)}
            gone |= set(node.output)
        for node in self._graph.node:
            if node.output[0] in gone:
                continue
            for place, name in enumerate(node.input):
                if name in varying or name in gone:
                    node.input[place] = self._bound(node, place, name)
            self._kept.append(node)
        replace_all(self._graph.node, self._kept)
        return list(self._tables.values())

    def _add(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """A node in front of what reads it, and the name of what it makes."""
        self._kept.append(node_of(operator, inputs, output, **attributes))
        return output

    def _varies(self, name: str) -> bool:
        values = [s.values.get(name) for s in self._samples]
        first = values[0]
        return any(v is None or first is None or not _equal(first, v) for v in values)

    def _evaluate(self, node: Any, sample: Specialized) -> None:
        if all(o in sample.values for o in node.output):
            return
        operands = {}
        for name in {n for n in node.input if n}:
            if name not in sample.values:
                maker = self._makers.get(name)
                if maker is None:
                    raise UserError(
                        f"value '{name}' depends on positions in a way that is not understood: export it so"
                    )
                self._evaluate(maker, sample)
            operands[name] = sample.values[name]
        results = fold(node, operands, self._opset)
        if results is None:
            raise UserError(f"{label(node)} computes with positions and cannot be evaluated: export it so")
        sample.values |= dict(zip(node.output, results, strict=True))

    def _bound(self, node: Any, place: int, name: str) -> str:
        """The name that a reader takes instead of a value of positions."""
        if place in _SHAPE_OPERANDS.get(node.op_type, ()):
            return self._constant(name)
        maker = self._makers.get(name)
        if maker is None or maker.op_type != "DequantizeLinear":
            return self._held(name)
        # The integers are what the network computes with.
        made = f"{name}_of_held"
        if not any(n.output[0] == made for n in self._kept):
            self._add("DequantizeLinear", [self._held(maker.input[0]), *maker.input[1:]], made)
            self._kept[-1].attribute.extend(maker.attribute)
        return made

    def _held(self, name: str) -> str:
        """A constant, or rows of a table."""
        if not self._varies(name):
            return self._constant(name)
        if len({s.values[name].shape for s in self._samples}) == 1:
            return self._rows(name)
        return self._constant(name) if self._is_mask(name) else self._moving_mask(name)

    def _constant(self, name: str, value: np.ndarray | None = None) -> str:
        if not any(i.name == name for i in self._graph.initializer):
            held = self._samples[0].values[name] if value is None else value
            self._graph.initializer.append(constant_of(name, held))
        return name

    def _rows(self, name: str) -> str:
        """The input that holds the rows of a value, in the value's own shape."""
        if name in self._tables:
            return f"{name}_at"
        first, whole = self._samples[0].values[name], self._whole.values.get(name)
        axes = [] if whole is None or whole.ndim != first.ndim else [
            a for a in range(first.ndim) if first.shape[a] != whole.shape[a]
        ]  # fmt: skip
        if whole is None or len(axes) != 1 or whole.shape[axes[0]] != self._whole.rows:
            raise _not_rows(name)
        for sample in self._samples:
            rows = np.take(whole, np.arange(sample.past, sample.past + sample.rows), axes[0])
            if not _equal(rows, sample.values[name]):
                raise _not_rows(name)
        return self._looked_up(name, whole, axes[0])

    def _looked_up(self, name: str, whole: np.ndarray, axis: int) -> str:
        """Rows of a table by position along an axis, as nodes behind a new input."""
        table = np.ascontiguousarray(np.moveaxis(whole, axis, 0)).reshape(whole.shape[axis], -1)
        self._tables[name] = Source(f"{name}_rows", Purpose.POSITIONS, table)
        rows, rest = self._samples[0].rows, [s for a, s in enumerate(whole.shape) if a != axis]
        element = helper.np_dtype_to_tensor_dtype(table.dtype)
        self._graph.input.append(helper.make_tensor_value_info(f"{name}_rows", element, (rows, table.shape[1])))
        apart = self._constant(f"{name}_apart", np.array([rows, *rest], np.int64))
        first = self._add("Reshape", [f"{name}_rows", apart], f"{name}_first")
        if int(np.prod(whole.shape[:axis])) == 1:
            shape = [rows if a == axis else s for a, s in enumerate(whole.shape)]
            whole_shape = self._constant(f"{name}_shape", np.array(shape, np.int64))
            return self._add("Reshape", [first, whole_shape], f"{name}_at")
        order = [*range(1, axis + 1), 0, *range(axis + 1, whole.ndim)]
        return self._add("Transpose", [first], f"{name}_at", perm=order)

    def _is_mask(self, name: str) -> bool:
        """Tell if a value grows with the tokens before: without some of them it is what it is for fewer."""
        first = self._samples[0]
        value = first.values[name]
        for sample in self._samples[1:]:
            other = sample.values[name]
            axes = [a for a in range(value.ndim) if value.ndim == other.ndim and value.shape[a] != other.shape[a]]
            places = [*range(sample.past), *range(first.past, first.past + first.rows)]
            if (
                len(axes) > 1
                or value.ndim != other.ndim
                or any(value.shape[a] != first.past + first.rows for a in axes)
                or any(not _equal(np.take(value, places, axis), other) for axis in axes)
            ):
                return False
        return True

    def _moving_mask(self, name: str) -> str:
        """Rows of what every position sees of those before, joined with what new tokens see of each other."""
        joined = f"{name}_joined"
        if name in self._tables:
            return joined
        first, whole = self._samples[0], self._whole.values.get(name)
        value = first.values[name]
        # Positions that see, then positions that are seen.
        if whole is None or whole.ndim != value.ndim or whole.ndim < 2 or whole.shape[-2:] != (self._whole.rows,) * 2:
            raise _not_rows(name)
        for sample in self._samples:
            seen = sample.past + sample.rows
            new, wanted = sample.values[name][..., sample.past :], value[..., first.past :]
            if not _equal(whole[..., sample.past : seen, :seen], sample.values[name]) or not _equal(new, wanted):
                raise _not_rows(name)
        # No input of a network is a truth value.
        is_bool = whole.dtype == np.bool_
        held = self._looked_up(name, whole.astype(np.uint8) if is_bool else whole, whole.ndim - 2)
        if is_bool:
            held = self._add("Cast", [held], f"{held}_cast", to=TensorProto.BOOL)
        bounds = [self._constant(f"{name}_{end}", np.array([n])) for end, n in (("begin", 0), ("end", first.past))]
        bounds.append(self._constant(f"{name}_axis", np.array([whole.ndim - 1])))
        before = self._add("Slice", [held, *bounds], f"{name}_before")
        among = self._constant(f"{name}_among", value[..., first.past :])
        return self._add("Concat", [before, among], joined, axis=-1)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _not_rows(name: str) -> UserError:
    return UserError(
        f"value '{name}' depends on the number of tokens before, but is neither rows of a table of positions nor a "
        "mask of what a position sees: such a decoder is not understood"
    )
