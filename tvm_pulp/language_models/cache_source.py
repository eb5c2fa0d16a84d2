"""C of a language model's state at its level of memory: its place, and how new rows get there."""

from collections.abc import Sequence

from tvm_pulp.codegen.state_source import l3_symbol

_MEMORIES = {"l1": "L1, beside the arena", "l2": "L2", "l3": "L3"}


def contract(name: str, level: str) -> str:
    """A sentence of the header's first comment."""
    kept = f" It lies in {_MEMORIES[level]}."
    if level == "l3":
        kept += f" Of two models in one firmware define {l3_symbol(name)}, its first byte there, for one."
    return kept


def place_in_l3(name: str, level: str, offset: int) -> str:
    """The macro itself; empty for other levels."""
    if level != "l3":
        return ""
    symbol = l3_symbol(name)
    return f"\n#ifndef {symbol}\n#define {symbol} {offset}u /* first byte of the state in L3 */\n#endif\n"


def past(cache: str, kind: str, level: str) -> str:
    """The pointer to a cache that a program gets; of one in L3 its place there."""
    return cache if level != "l3" else f"(const {kind} *)(uintptr_t)({cache}u)"


def append(level: str, buffers: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Marks of the templates: a function that puts new rows behind others, and its calls after the programs.

    In L2 the programs have written them there. Buffers are a cache and its new rows in L2, both as C expressions,
    and the bytes of a row.
    """
    if level == "l2":
        return {"APPEND": "", "APPEND_CHUNK": "tvm_pulp_barrier();", "APPEND_ONE": "tvm_pulp_barrier();"}
    head = "static void append(uint32_t before, uint32_t count) {"
    lines = ["/* New rows are in L2; the past is not touched. */", head, "  tvm_pulp_barrier();"]
    if level == "l1":
        lines += ["  if (tvm_pulp_is_agent()) {", "    const uint32_t group = tvm_pulp_dma_begin();"]
        lines += [
            f"    tvm_pulp_dma_load((uint8_t *)({cache}) + before * {size}, {rows}, count * {size});"
            for cache, rows, size in buffers
        ]
        lines += ["    tvm_pulp_dma_wait(group);"]
    else:
        lines += ["  if (tvm_pulp_core_id() == 0u) {"]
        lines += [
            f"    tvm_pulp_l3_store({cache}u + before * {size}u, {rows}, count * {size}u);"
            for cache, rows, size in buffers
        ]
        lines += ["    tvm_pulp_l3_wait();"]
    text = "\n".join([*lines, "  }", "}", "", ""])
    return {"APPEND": text, "APPEND_CHUNK": "append(before, count);", "APPEND_ONE": "append(before, 1);"}
