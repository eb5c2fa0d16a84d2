"""The sum of unrounded results: whole pixels, channels last."""

import numpy as np

from schedules.cluster.arithmetic import typed
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.add_accumulators import SIDES
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES


def applies(layer: Layer) -> bool:
    """Channels last, bytes as the result."""
    rank = len(layer.outputs[0].spec.shape)
    last = layer.attributes["axis"] % rank == rank - 1
    return all(t.data is not None for t in layer.inputs[2:]) and last and layer.outputs[0].spec.dtype in BYTES


class AddAccumulatorsKernel(KernelForm):
    kernel = "add_accumulators"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)[:-1]

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, a, columns = self.layer, self.layer.attributes, box.size[-1]
        fields: Fields = {"rows": box.elements // columns, "columns": columns, "fraction": a["fraction"]}
        # The kernel wants accumulators first.
        order = (0, 1) if layer.inputs[0].spec.dtype == "int32" else (1, 0)
        for side, position in zip(SIDES, order, strict=True):
            x, mul, theirs = layer.inputs[position], layer.inputs[2 + position], SIDES[position]
            if x.spec.dtype == "int32" and mul.spec.elements < columns:
                spread = np.broadcast_to(mul.values.reshape(-1), (columns,))
                mul = self.constant(f"mul_{side}", np.ascontiguousarray(spread))
            fields |= {
                side: call.load(side, x, box), f"mul_{side}": call.load_whole(f"mul_{side}", mul),
                f"{side}_type": typed(x), f"left_{side}": a[f"left_{theirs}"],
                f"zero_point_{side}": a[f"zero_point_{theirs}"],
            }  # fmt: skip
        rule = Requant.of(a)
        return fields | {"zero_point": rule.zero_point, "low": rule.low, "high": rule.high}


@work("add_accumulators")
def add_accumulators_work(f: Fields, cores: int) -> Work:
    rows = share(f["rows"], cores)
    return {"call": 1, "row": rows, "words" if f["b_type"] == 2 else "bytes": rows * f["columns"]}


register("add_accumulators", Schedule(applies, AddAccumulatorsKernel))
