"""Random calls of attention: layouts, masks and tables in all combinations."""

from __future__ import annotations

from typing import Any

from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, integers, pick, requant


def attention(rng: Rng) -> Case:
    heads, queries, keys = int(rng.integers(1, 4)), int(pick(rng, (1, 1, 3, 6))), int(pick(rng, (1, 2, 7, 13)))
    size = int(pick(rng, (1, 3, 4, 8)))
    log2 = int(rng.integers(20, 60))
    attributes: dict[str, Any] = {"a": 1, "b": int(rng.integers(log2, 2 * log2)), "c": int(rng.integers(1, 4000))}
    attributes |= {"log2": log2, "levels": 256, "y_layout": str(pick(rng, ("hsd", "shd")))}
    data = []
    for name, positions in (("q", queries), ("k", keys), ("v", keys)):
        layout = str(pick(rng, ("hsd", "shd")))
        attributes[f"{name}_layout"] = layout
        pair = (heads, positions) if layout == "hsd" else (positions, heads)
        data.append(integers(rng, (1, *pair, size)))
    has_mask, has_table, has_probability = (int(rng.integers(2)) for _ in range(3))
    attributes |= {"has_mask": has_mask, "has_logit_table": has_table, "has_probability": has_probability}
    if has_mask:
        data.append(integers(rng, (keys,) if rng.random() < 0.5 else (1, queries, keys)))
    logit, logit_tensors = requant(rng, 128 * 128 * size, 1, "pulp")
    logit = type(logit)("pulp", logit.shift, 0, -128, 127, wide=logit.wide)
    rule, tensors = requant(rng, 255 * 128 * keys, 1, "pulp")
    data += logit_tensors
    data += [integers(rng, (256,)) for _ in range(has_table + has_probability)]
    return Case("attention", {**attributes, **logit.attributes("logit"), **rule.attributes()}, [*data, *tensors])


CASES = {"attention": attention}
