"""Steps of attention that the cores take where an engine multiplies: its weights as planes of bits, and the softmax."""

from schedules.cluster.arithmetic import TYPES
from schedules.cluster.base import Fields, kernel_call
from schedules.kernel_cycles import Work, given, share, words, work
from schedules.packed_weights import padded
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer

# Rows of the softmax that the kernel takes at a time at most.
_ROWS_TOGETHER = 16
_PROBABILITY_BYTES = 256


def bit_planes(kernel: Kernel, costs: CostModel) -> Call:
    """Attributes are the fields of the kernel, besides its operands."""
    (x,), (y,) = kernel.inputs, kernel.outputs
    fields = {"x": _pointer(x, kernel.attributes["x_offset"]), "y": _pointer(y), **kernel.attributes}
    del fields["x_offset"]
    return kernel_call("bit_planes", fields, costs, [x], [y])


def attention_weights(kernel: Kernel, costs: CostModel) -> Call:
    """Operands: logits and what `operands` names; the weights take the logits' place."""
    a, logits = kernel.attributes, kernel.inputs[0]
    given_by_name = dict(zip(a["operands"], kernel.inputs[1:], strict=True))
    assert isinstance(logits, Local)
    rows, stride = a["rows"], padded(a["keys"])
    together = min(_ROWS_TOGETHER, share(rows, costs.cores))
    room = (2 if "small_exponential" in given_by_name else 4) * together * stride
    room = padded(room + ("probability" in given_by_name) * _PROBABILITY_BYTES) | 4
    scratch = Local("scratch", TensorSpec((costs.cores * room,), "uint8"))
    names = ("mask", "table", "exponential", "small_exponential", "probability")
    fields: Fields = {n: Pointer(given_by_name[n]) if n in given_by_name else 0 for n in names}
    fields |= {"x": Pointer(logits), "y": Pointer(logits), "scratch": Pointer(scratch), "scratch_stride": room}
    numbers = ("rows", "queries", "keys", "mask_stride", "levels", "step", "lift", "low", "high")
    fields |= {"stride": stride, **{n: a[n] for n in numbers}}
    expected = {"keys": a["expected_keys"]}
    return kernel_call("attention_weights", fields, costs, kernel.inputs, [logits, scratch], expected=expected)


def qdq_weights(kernel: Kernel, costs: CostModel) -> Call:
    """Operands: products, tables, the mask where there is one, the weights; attributes are fields of the kernel."""
    a, (x, table, exponential, reals, *mask), (y,) = kernel.attributes, kernel.inputs, kernel.outputs
    together = min(_ROWS_TOGETHER, share(a["rows"], costs.cores))
    room = 4 * together * a["stride"] | 4
    scratch = Local("scratch", TensorSpec((costs.cores * room,), "uint8"))
    fields: Fields = {"x": _pointer(x), "y": _pointer(y), "table": _pointer(table), "reals": _pointer(reals)}
    fields |= {"exponential": _pointer(exponential), "mask": _pointer(mask[0], a["mask_offset"]) if mask else 0}
    fields |= {"scratch": Pointer(scratch), "scratch_stride": room, **a}
    del fields["mask_offset"]
    return kernel_call("qdq_weights", fields, costs, kernel.inputs, [y, scratch])


def row_sums(kernel: Kernel, costs: CostModel) -> Call:
    """Attributes are the fields of the kernel, besides its operands."""
    (x,), (y,) = kernel.inputs, kernel.outputs
    fields = {"x": _pointer(x, kernel.attributes["x_offset"]), "y": _pointer(y), **kernel.attributes}
    del fields["x_offset"]
    fields["x_type"] = TYPES[kernel.attributes["x_type"]]
    return kernel_call("row_sums", fields, costs, [x], [y])


def translated_rows(kernel: Kernel, costs: CostModel) -> Call:
    """Rows of bytes through a table, which is indexed by the stored byte."""
    (x, table), (y,), a = kernel.inputs, kernel.outputs, kernel.attributes
    fields = {"x": _pointer(x, a["x_offset"]), "y": _pointer(y), "table": _pointer(table), "table_stride": 0}
    fields |= {n: a[n] for n in ("rows", "row_bytes", "x_stride", "y_stride")}
    return kernel_call("copy_rows", fields, costs, [x, table], [y])


def _pointer(operand: Local | Tensor, offset: int = 0) -> Pointer:
    assert isinstance(operand, Local)
    return Pointer(operand, offset)


@work("qdq_weights")
def qdq_weights_work(f: Fields, cores: int) -> Work:
    mine = share(f["rows"], cores)
    logits = mine * f["stride"]
    work: Work = {"call": 1, "row": mine, "shifted" if f["shift"] else "scaled": logits}
    return {**work, "masked": logits} if given(f["mask"]) else work


@work("row_sums")
def row_sums_work(f: Fields, cores: int) -> Work:
    mine = share(f["matrices"] * f["rows"], cores)
    return {"call": 1, "row": mine, "word": mine * words(f["depth"])}


@work("bit_planes")
def bit_planes_work(f: Fields, cores: int) -> Work:
    """Groups of four rows, or four columns where the matrix is turned; words beyond the depth are cleared."""
    matrices, rows, depth = f["matrices"], f["rows"], f["depth"]
    behind = f["y_stride"] // 4 - words(depth)
    if f["turned"]:
        groups, last = share(matrices * words(depth), cores), share(matrices, cores)
        work: Work = {"turned_call": 1, "turned_group": groups, "turned_four_words": groups * words(rows)}
        if depth % 4:
            work["turned_few"] = last * rows
        return {**work, "turned_cleared": last * rows * behind}
    groups = share(matrices * words(rows), cores)
    parts = share(matrices, cores)
    work = {"call": 1, "column": parts * f["y_stride"] // 4, "four_words": groups * words(depth)}
    if rows % 4:
        work["few"] = parts * (rows % 4) * words(depth)
    return {**work, "cleared": 4 * groups * behind}


@work("attention_weights")
def attention_weights_work(f: Fields, cores: int) -> Work:
    keys, small, has_mask = f["keys"], given(f["small_exponential"]), given(f["mask"])
    if small and not given(f["table"]) and (has_mask or f["step"] > 1):
        return _pairs_work(f, cores)
    mine = share(f["rows"], cores)
    logits = mine * 4 * words(keys)
    work: Work = {"row": mine, "logit": logits}
    if given(f["probability"]):
        work["probability"] = logits
    work = {f"{'' if small else 'large_'}{name}": count for name, count in work.items()}
    if given(f["table"]) or has_mask or keys % 4:
        work["prepared"] = mine
        work["looked_up" if given(f["table"]) else "copied"] = logits
    if has_mask:
        work["masked"] = logits
    return {"call": 1, **work}


def _pairs_work(f: Fields, cores: int) -> Work:
    """Two rows at a time, of one query where there is a mask; a row that is left over counts twice."""
    queries, heads, stride = share(f["queries"], cores), f["rows"] // f["queries"], 4 * words(f["keys"])
    room = f["scratch_stride"] - (_PROBABILITY_BYTES if given(f["probability"]) else 0)
    pairs = queries * -(-heads // 2) if given(f["mask"]) else -(-queries * heads // 2)
    mine = 2 * (queries * heads if room < 4 * stride else pairs)
    work: Work = {"call": 1, "row": mine, "logit": mine * stride}
    if given(f["probability"]):
        work["probability"] = mine * stride
    if f["lift"]:
        work["lifted"] = mine * stride
    if given(f["mask"]):
        work["masked"] = mine
    if f["keys"] % 4:
        work["rest"] = mine
    return {f"pairs_{name}": count for name, count in work.items()}
