"""Random calls of the kernels of attention, for the fit of their cost models."""

from collections.abc import Callable

from tests.kernels.attention_cases import (
    attention_case,
    attention_weights_case,
    past_qdq_attention_case,
    qdq_attention_case,
    qdq_rope_case,
    rope_case,
)
from tests.kernels.matrix_cases import Case
from tests.kernels.matrix_shapes import Shapes
from tests.kernels.past_attention_cases import past_attention_case, past_parts_case, rotary_case, value_groups_case
from tests.kernels.qdq_weights_cases import qdq_weights_case, row_sums_case


def attention(s: Shapes) -> Case:
    heads, queries, keys = s.size(1, 16), s.pick(1, s.size(1, 48)), s.size(4, 96, s.pick(1, 4, 4))
    size, batch = s.pick(4, 4, 8, 16, 32), s.pick(1, 8, 16, 16)
    small, covered = size == 4, size == 4 and s.flag()
    forms = {"with_table": s.flag(), "with_mask": s.flag(), "small": small, "covered": covered}
    return attention_case(s.rng, heads, queries, keys, size, batch=batch, **forms)


def attention_weights(s: Shapes) -> Case:
    forms = {"with_mask": s.flag(), "with_table": s.rng.random() < 0.3, "with_probability": s.flag()}
    small, batch, heads, step = s.rng.random() < 0.8, s.pick(1, 16, 16, 16), s.pick(1, 1, 2, 4, 4), s.pick(1, 1, 2)
    return attention_weights_case(
        s.rng, s.size(1, 96 // heads), s.size(4, 128, s.pick(1, 4, 4)), small=small, batch=batch, heads=heads,
        step=step, causal_mask=not forms["with_table"] and small, **forms,
    )  # fmt: skip


def qdq_weights(s: Shapes) -> Case:
    forms = {"classes": s.pick(1, 1, 2), "shifted": s.flag(), "gain": s.pick(255.0, 255.0, 500.0)}
    return qdq_weights_case(s.rng, s.pick(1, 1, 4), s.size(1, 64), s.size(4, 96, s.pick(1, 4, 4)), **forms)


def row_sums(s: Shapes) -> Case:
    return row_sums_case(s.rng, s.size(1, 8), s.size(4, 96), 4 * s.size(1, 16))


def qdq_attention(s: Shapes) -> Case:
    group, queries, keys = s.pick(1, 1, 2), s.pick(1, s.size(1, 48)), s.size(4, 96)
    heads, size = group * s.size(1, 8), s.pick(4, 8, 16, 16, 32, 64)
    forms = {"classes": s.pick(1, 2), "by_head": s.flag(), "tables": s.pick("", "", "qk")}
    return qdq_attention_case(s.rng, heads, queries, keys, size, group=group, **forms)


def past_qdq_attention(s: Shapes) -> Case:
    group, new, length = s.pick(1, 1, 2), s.pick(1, 1, s.size(1, 24)), s.size(3, 96)
    forms = {"classes": s.pick(1, 2), "tables": s.pick("", "", "qk")}
    rows = (length, length + s.size(1, 32), new)
    return past_qdq_attention_case(s.rng, s.size(1, 8), group, rows, s.pick(4, 8, 16, 16, 32, 64), **forms)


def rope(s: Shapes) -> Case:
    return rope_case(s.rng, s.pick(1, s.size(1, 64)), s.size(4, 32), s.pick(4, 4, 4, 8), s.kind())


def rotary(s: Shapes) -> Case:
    return rotary_case(s.rng, s.pick(1, s.size(1, 32)), s.size(2, 16), s.pick(4, 32, 32))


def past_attention(s: Shapes) -> Case:
    heads, group, rows, length = s.size(1, 8), s.pick(1, 1, 2), s.pick(1, s.size(1, 32)), s.size(1, 192)
    cache, by_element = (length, 192), s.flag()
    return past_attention_case(s.rng, (rows, rows), heads, group, s.pick(4, 32, 32, 16), cache, by_element=by_element)


def value_groups(s: Shapes) -> Case:
    return value_groups_case(s.rng, s.size(2, 33), 4 * s.size(4, 96), s.size(1, 200))


def past_part(part: str) -> Callable[[Shapes], Case]:
    def case(s: Shapes) -> Case:
        heads, group, length = s.size(1, 16), s.pick(1, 1, 2), s.pick(0, *[s.size(1, 192)] * 9)
        return past_parts_case(s.rng, part, heads, group, s.pick(4, 32, 32, 16, 12), (length, 192))

    return case


def qdq_rope(s: Shapes) -> Case:
    dtype = s.pick("int8", "int8", "int8", "uint8")
    return qdq_rope_case(s.rng, s.pick(1, s.size(1, 48)), s.size(1, 16), s.pick(8, 16, 32, 64), dtype=dtype)
