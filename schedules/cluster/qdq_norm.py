"""Normalizations of quantize/dequantize graphs: whole rows, single precision inside."""

import numpy as np

from schedules.cluster.arithmetic import typed
from schedules.cluster.base import Arguments, Box, Fields, Layer, Schedule, register
from schedules.cluster.rows import RowKernel
from schedules.kernel_cycles import Work, given, share, work
from tvm_pulp.qnn.qdq_norm import limits_of, stage_operands

# Stages that the kernel's arguments have room for.
_STAGES = 2
# Elements of a core up to which the only row has a loop over single elements: FEW of qdq_norm.c.
_FEW_NORMALIZED = 32


def applies(layer: Layer) -> bool:
    """As many stages of weights as the kernel has."""
    return len(layer.attributes["biases"]) <= _STAGES


class QdqNormKernel(RowKernel):
    kernel = "qdq_norm"

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, a, fields = self.layer, self.layer.attributes, self.rows(call, box)
        reals = np.array([a[n] for n in ("statistic", "epsilon", "gain")], np.float32)
        fields["reals"] = call.load_constant("reals", reals)
        table, stages = stage_operands(a, layer.inputs)
        limits = [pair or (0, 0) for pair in limits_of(a)]
        low, high = limits.pop()
        fields |= {
            "table": 0 if table is None else call.load_whole("table", table), "centred": a["centred"],
            "x_type": typed(layer.inputs[0]), "stages": len(stages), "zero_point_x": a["zero_point_x"],
            "rounds": sum(1 << i for i, rounds in enumerate(a["rounds"][:-1]) if rounds),
            "index_low": a["index_limits"][0], "index_high": a["index_limits"][1], "low": low, "high": high,
            "zero_point": a["zero_point"],
        }  # fmt: skip
        for i in range(_STAGES):
            weight, bias = stages[i] if i < len(stages) else (None, None)
            lowest, highest = limits[i] if i < len(stages) else (0, 0)
            fields |= {f"low{i}": lowest, f"high{i}": highest}
            for name, tensor in (("weight", weight), ("bias", bias)):
                fields[f"{name}{i}"] = 0 if tensor is None else call.load_whole(f"{name}{i}", tensor)
        return fields


@work("qdq_norm")
def qdq_norm_work(f: Fields, cores: int) -> Work:
    """Normalizations in single precision: rows are shared where that is fairer; some sequences have fast loops."""
    rows, columns, stages, rounds = f["rows"], f["columns"], f["stages"], f["rounds"]
    most = share(rows, cores)
    if rows >= cores and (most * cores - rows < most or most > 8):
        part, touched = most * columns, most
    else:
        part = 4 * share(-(-rows * columns // 4), cores)
        touched = -(-part // columns) + (1 if rows > 1 else 0)
    form = "any"
    if stages == 1 and not rounds:
        form = "biased" if given(f["bias0"]) else "weighted"
    elif stages == 1 and not given(f["bias0"]):
        form = "rounded"
    elif stages == 2 and rounds == 3 and not given(f["bias0"]) and given(f["bias1"]):
        form = "two_rounded"
    if rows == 1 and part <= _FEW_NORMALIZED and form in ("biased", "weighted", "rounded"):
        return {"few_call": 1, "few_sum": columns, f"few_{form}": part}
    return {"call": 1, "row": touched, "sum": touched * columns, f"element_{form}": part}


register("qdq_norm", Schedule(applies, QdqNormKernel))
