"""Rotary positions: on pairs of integers, and embeddings of quantize/dequantize graphs by whole rows."""

from schedules.byte_tables import by_stored_byte
from schedules.cluster.arithmetic import typed
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.qnn.qdq_rope import QdqRopeAttributes


def applies(layer: Layer) -> bool:
    """Heads of an even size."""
    return layer.inputs[1].spec.shape[1] % 2 == 0


@schedule("rotary", applies)
class RotaryKernel(KernelForm):
    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0), TileAxis(1, self.layer.inputs[1].spec.shape[1]))

    def fields(self, call: Arguments, box: Box) -> Fields:
        x, rotation = self.layer.inputs
        size = rotation.spec.shape[1]
        return {
            "x": call.load("x", x, box),
            "rotation": call.load("rotation", rotation, Box((box.start[0], 0), (box.size[0], size))),
            "positions": box.size[0], "heads": box.size[1] // size, "size": size,
        }  # fmt: skip


@work("rotary")
def rotary_work(f: Fields, cores: int) -> Work:
    mine = share(f["positions"] * f["heads"], cores)
    return {"call": 1, "head": mine, "pair": mine * f["size"] // 2}


def applies_qdq_rope(layer: Layer) -> bool:
    """Constant tables."""
    return all(t.data is not None for t in layer.inputs[3:])


@schedule("qdq_rope", applies_qdq_rope)
class QdqRopeKernel(KernelForm):
    # The outer axis: a tile has whole positions, or all of them.
    cut = (TileAxis(1),)

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, (x, cosine, sine, first, second) = QdqRopeAttributes.of(self.layer), self.layer.inputs
        by_outer = a.position_axis == 1
        start, count = (box.start[1], box.size[1]) if by_outer else (0, box.size[2])
        fields: Fields = {"x": call.load("x", x, box)}
        for name, tensor in (("cosine", cosine), ("sine", sine)):
            shape = tensor.spec.shape
            axis = next((i for i, d in enumerate(shape[:-1]) if d == tensor.spec.elements // shape[-1]), 0)
            begin, size = [0] * len(shape), list(shape)
            begin[axis], size[axis] = start, count
            fields[name] = call.load(name, tensor, Box(tuple(begin), tuple(size)))
        for name, tensor in (("first", first), ("second", second)):
            fields[name] = call.load_constant(name, by_stored_byte(tensor.values, x.spec.dtype))
        return fields | {
            "reals": call.load_reals("reals", "kept_scale", "turned_scale", "kept_weight", "turned_weight"),
            "rows": box.size[1] * box.size[2], "size": box.size[3],
            "rows_per_position": box.size[2] if by_outer else 1, "positions": count,
            "partner_type": typed(first),
        }  # fmt: skip


@work("qdq_rope")
def qdq_rope_work(f: Fields, cores: int) -> Work:
    """Signed bytes by rows, few of them by halves."""
    mine = share(f["rows"], cores)
    if f["x_type"] == f["cosine_type"] == f["sine_type"] == f["partner_type"] == 0:
        if f["rows"] >= cores:
            return {"call": 1, "row": mine, "element": mine * f["size"]}
        halves = share(2 * f["rows"], cores)
        return {"call": 1, "half": halves, "element": halves * f["size"] // 2}
    return {"plain_call": 1, "plain_row": mine, "plain_element": mine * f["size"]}
