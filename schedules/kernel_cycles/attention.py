"""Attention and rotary embedding."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share, words


def attention_work(
    heads: int, queries: int, keys: int, size: int, cores: int, *, table: bool, mask: bool, batch: int
) -> Work:
    mine = share(heads * queries, cores)
    groups = 4 * words(keys)
    packed = max(1, -(-mine // queries))
    logits = mine * groups
    work: dict[str, float] = {"call": 1, "query": mine, "batch": -(-mine // min(batch, queries)), "logit": logits}
    work["value_word"] = packed * words(keys) * size
    work["table"], work["mask"] = logits * table, logits * mask
    if size > 4:
        work["large_logit"], work["large_word"] = logits, logits * words(size)
    if queries == 1 or batch == 1:
        work["single"] = logits
    if keys % 4 and size == 4:
        work["rest"] = mine
    return work


def attention_cycles(
    heads: int, queries: int, keys: int, size: int, cores: int = 8, *, table: bool = True, mask: bool = True,
    batch: int = 16,
) -> int:  # fmt: skip
    """`batch`: queries that the scratch area has room for; narrow requantization."""
    return predict("attention", attention_work(heads, queries, keys, size, cores, table=table, mask=mask, batch=batch))


def rope_work(positions: int, heads: int, cores: int) -> Work:
    mine = share(positions * heads, cores)
    return {"call": 1, "position": -(-mine // heads) + (1 if positions > 1 else 0), "head": mine}


def rope_cycles(positions: int, heads: int, cores: int = 8) -> int:
    """Heads of four elements."""
    return predict("rope", rope_work(positions, heads, cores))
