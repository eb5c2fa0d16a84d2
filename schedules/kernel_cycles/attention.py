"""Attention and rotary embedding."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share, words


def attention_work(
    heads: int, queries: int, keys: int, size: int, cores: int, *, covers: bool, mask: bool, batch: int
) -> Work:
    mine = share(heads * queries, cores)
    logits = mine * 4 * words(keys)
    if size > 4:
        packed = max(1, -(-mine // queries)) * words(keys) * size
        batches = -(-mine // min(batch, queries))
        large = {"call": 1, "query": mine, "batch": batches, "logit": logits, "word": logits * words(size)}
        return {f"large_{name}": value for name, value in large.items()} | {"large_value_word": packed}
    work: dict[str, float] = {"call": 1, "query": mine, "logit": logits}
    work["clip"], work["mask"] = logits * (not covers), logits * mask
    if queries < 3 or batch == 1:
        work["single"], work["single_query"] = logits, mine
    else:
        work["batch"] = -(-mine // min(batch, queries))
        work["value_word"] = max(1, -(-mine // queries)) * words(keys) * size
    if keys % 4:
        work["rest"] = mine
    return work


def attention_cycles(
    heads: int, queries: int, keys: int, size: int, cores: int = 8, *, covers: bool = True, mask: bool = True,
    batch: int = 16,
) -> int:  # fmt: skip
    """`batch`: queries that the scratch area has room for; `covers`: as in the kernel; narrow requantization.

    Heads of four elements have 16-bit exponentials, larger ones those of 32 bits.
    """
    work = attention_work(heads, queries, keys, size, cores, covers=covers, mask=mask, batch=batch)
    return predict("attention", work)


def rope_work(positions: int, heads: int, cores: int) -> Work:
    mine = share(positions * heads, cores)
    return {"call": 1, "position": -(-mine // heads) + (1 if positions > 1 else 0), "head": mine}


def rope_cycles(positions: int, heads: int, cores: int = 8) -> int:
    """Heads of four elements."""
    return predict("rope", rope_work(positions, heads, cores))
