"""Work of attention and rotary embedding."""

from __future__ import annotations

from schedules.kernel_cycles.model import Fields, Work, given, is_four, kind_of, share, words


def attention(f: Fields, cores: int) -> Work:
    heads, queries, keys, size = (f[n] for n in ("heads", "queries", "keys", "size"))
    mine = share(heads * queries, cores)
    logits, batch = mine * 4 * words(keys), _queries_together(f)
    if not given(f["small_exponential"]):
        packed = max(1, -(-mine // queries)) * words(keys) * size
        batches = -(-mine // min(batch, queries))
        work: Work = {"call": 1, "query": mine, "batch": batches, "logit": logits, "word": logits * words(size)}
        return {f"large_{name}": count for name, count in work.items()} | {"large_value_word": packed}
    work = {"call": 1, "query": mine, "logit": logits}
    if not f["table_covers"]:
        work["clip"] = logits
    if given(f["mask"]):
        work["mask"] = logits
    if keys % 4:
        work["rest"] = mine
    if queries < 3:
        # Code of its own: nothing is shared among queries.
        return {f"few_{name}": count for name, count in work.items()}
    work["batch"] = -(-mine // min(batch, queries))
    work["value_word"] = max(1, -(-mine // queries)) * words(keys) * size
    return work


def _queries_together(f: Fields) -> int:
    """Queries that the scratch area has room for."""
    room = f["scratch_stride"] // (4 * words(f["keys"]))
    each = 3 if given(f["small_exponential"]) else 5
    return int(max(1, min(16, (room - f["size"]) // each)))


def qdq_attention(f: Fields, cores: int) -> Work:
    """Values are turned once for every head that a core has rows of."""
    heads, queries, keys, size = (f[n] for n in ("heads", "queries", "keys", "size"))
    elements = size
    if cores % heads == 0:
        mine, touched = share(queries, cores // heads), 1
        # Of one query the cores of a head share the elements of the values.
        elements = 4 * share(words(size), cores // heads) if queries == 1 else size
    else:
        mine = share(heads * queries, cores)
        touched = max(1, -(-mine // queries)) + (1 if queries > 1 and mine % queries else 0)
    fours, logits = words(keys), mine * words(keys)
    work: Work = {
        "call": 1,
        "row": mine,
        "key": mine * keys,
        "dot": logits * words(size),
        "result": mine * words(elements),
    }
    work |= {"value_word": touched * fours * words(elements), "product": mine * words(elements) * fours, "four": logits}
    if f["zero_point_q"] != (128 if f["q_type"] == 1 else 0):
        work["correction"] = touched * fours
        work["correction_word"] = touched * fours * words(size)
    translated = mine * size * given(f["q_table"]) + touched * keys * size * given(f["k_table"])
    return work | ({"translated": translated} if translated else {})


def past_qdq_attention(f: Fields, cores: int) -> Work:
    """A call does not tell how many keys there are: plans state `keys` as they expect it."""
    whole = {name.removeprefix("whole."): value for name, value in f.items()}
    if "keys" not in f:
        whole["keys"] = int(f["length"][0]) + f["rows"]
    row = whole["heads"] // whole["group"] * whole["size"]
    return qdq_attention(whole, cores) | {"appended": f["rows"] * words(row)}


def rope(f: Fields, cores: int) -> Work:
    positions, heads, size = f["positions"], f["heads"], f["size"]
    if size != 4 or not is_four(f):
        outputs = share(positions * heads, cores) * size
        return {"plain_call": 1, f"plain_output_{kind_of(f)}": outputs, "plain_tap": outputs * size}
    mine = share(positions * heads, cores)
    return {"call": 1, "position": -(-mine // heads) + (1 if positions > 1 else 0), "head": mine}


def rotary(f: Fields, cores: int) -> Work:
    mine = share(f["positions"] * f["heads"], cores)
    return {"call": 1, "head": mine, "pair": mine * f["size"] // 2}


def past_attention(f: Fields, cores: int) -> Work:
    """Queries of a head go in pairs. A call does not tell how many keys they see: plans state `keys` as expected."""
    queries = 2 * share(f["heads"] * -(-f["queries"] // 2), cores)
    keys = f["keys"] if "keys" in f else int(f["length"][0]) + f["first"] + f["queries"] / 2
    work: Work = {"call": 1, "query": queries, "result": queries * words(f["size"]), "key": queries * keys}
    work["word"] = queries * keys * words(f["size"])
    return work | ({"any_key": queries * keys, "any_word": work["word"]} if f["size"] != 32 else {})


def past_scores(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    keys = f["keys"] if "keys" in f else int(f["length"][0])
    kind = "" if f["size"] == 32 else "any_"
    work: Work = {"call": 1, "head": mine, "key": mine * keys, "rest": mine * (f["capacity"] - keys)}
    return {f"{kind}{name}": count for name, count in work.items()} | (
        {"any_word": mine * keys * words(f["size"])} if kind else {}
    )


def past_mix(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    keys = f["keys"] if "keys" in f else int(f["length"][0])
    work: Work = {"call": 1, "head": mine, "key": mine * keys, "eight": mine * (f["size"] // 8)}
    work["key_eight"] = keys * work["eight"]
    return work | ({"key_four": mine * keys} if f["size"] % 8 else {})


def past_mean(f: Fields, cores: int) -> Work:
    mine = share(f["heads"], cores)
    return {"call": 1, "head": mine, "element": mine * f["size"]}


def qdq_rope(f: Fields, cores: int) -> Work:
    """Signed bytes by rows, few of them by halves."""
    mine = share(f["rows"], cores)
    if f["x_type"] == f["cosine_type"] == f["sine_type"] == f["partner_type"] == 0:
        if f["rows"] >= cores:
            return {"call": 1, "row": mine, "element": mine * f["size"]}
        halves = share(2 * f["rows"], cores)
        return {"call": 1, "half": halves, "element": halves * f["size"] // 2}
    return {"plain_call": 1, "plain_row": mine, "plain_element": mine * f["size"]}
