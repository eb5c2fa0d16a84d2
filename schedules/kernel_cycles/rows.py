"""Work of the softmax forms and the normalizations."""

from __future__ import annotations

from schedules.kernel_cycles.model import Fields, Work, given, share

# Elements of a core up to which the only row has a loop over single elements: FEW of qdq_norm.c.
_FEW_NORMALIZED = 32


def whole_rows(f: Fields, cores: int) -> Work:
    """Softmax forms whose rows are never shared."""
    mine = share(f["rows"], cores)
    return {"call": 1, "row": mine, "element": mine * f["columns"]}


def shared_rows(f: Fields, cores: int) -> Work:
    """Where there are fewer rows than cores, every core makes a row's statistics, then a part of its results."""
    rows, columns = f["rows"], f["columns"]
    if rows >= cores:
        return whole_rows(f, cores)
    part = 4 * share(-(-rows * columns // 4), cores)
    touched = -(-part // columns) + (1 if rows > 1 else 0)
    work = {"call": 1, "row": touched, "element": part, "statistic": max(0, touched * columns - part)}
    return {f"single_{name}": count for name, count in work.items()} if rows == 1 else work


def norm(f: Fields, cores: int) -> Work:
    """Normalizations have a general form beside the fast one."""
    if f["wide"] or f["x_type"] == 2 or f["levels"] > 256:
        mine = share(f["rows"], cores)
        return {"plain_call": 1, "plain_row": mine, "plain_element": mine * f["columns"]}
    return shared_rows(f, cores)


def qdq_norm(f: Fields, cores: int) -> Work:
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
