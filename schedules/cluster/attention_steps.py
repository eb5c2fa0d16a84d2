"""Steps of attention that the cores take where an engine multiplies: its weights as planes of bits, and the softmax."""

from schedules.cluster.base import Fields, scratch
from schedules.cluster.steps import step
from schedules.kernel_cycles import Work, given, share, words, work
from schedules.kernel_numbers import TYPES
from schedules.packed_weights import padded
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Kernel, Pointer

# Rows of the softmax that the kernel takes at a time at most.
_ROWS_TOGETHER = 16
_PROBABILITY_BYTES = 256
_TABLES = ("mask", "table", "exponential", "small_exponential", "probability")


@step("attention_weights", "x", expected={"keys": "expected_keys"})
def _attention_weights(kernel: Kernel, costs: CostModel) -> Fields:
    """Operands: logits and what `operands` names; the weights take the logits' place."""
    a, given_by_name = kernel.attributes, dict.fromkeys(_TABLES, 0)
    given_by_name |= {n: Pointer(o) for n, o in zip(a["operands"], kernel.inputs[1:], strict=True)}
    stride = padded(a["keys"])
    room = (2 if given_by_name["small_exponential"] else 4) * _together(a["rows"], costs) * stride
    room = padded(room + (_PROBABILITY_BYTES if given_by_name["probability"] else 0))
    return {**given_by_name, "stride": stride, **scratch(room, costs)}


@step("qdq_weights", "x table exponential reals mask")
def _qdq_weights(kernel: Kernel, costs: CostModel) -> Fields:
    """Operands: products, tables, the mask where there is one."""
    return scratch(4 * _together(kernel.attributes["rows"], costs) * kernel.attributes["stride"], costs)


def _together(rows: int, costs: CostModel) -> int:
    """Rows that a core takes at a time."""
    return min(_ROWS_TOGETHER, share(rows, costs.cores))


@step("row_sums", "x")
def _row_sums(kernel: Kernel, _costs: CostModel) -> Fields:
    return {"x_type": TYPES[kernel.attributes["x_type"]]}


@step("translated_rows", "x table", kernel="copy_rows")
def _translated_rows(_kernel: Kernel, _costs: CostModel) -> Fields:
    """Rows of bytes through a table, which is indexed by the stored byte."""
    return {"table_stride": 0}


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
