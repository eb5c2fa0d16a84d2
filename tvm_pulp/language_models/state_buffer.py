"""Caches of a language model as its C knows them: buffers, places of rows, and what appends new rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.planning.tiling.alignment import aligned


@dataclass(frozen=True)
class StateBuffer:
    """A cache of the device: a row per token, or words that hold `together` tokens of an element."""

    symbol: str
    dtype: str
    width: int
    rows: int
    together: int = 1

    @property
    def kind(self) -> str:
        return c_type(self.dtype)

    @property
    def row_bytes(self) -> int:
        return self.width * np.dtype(self.dtype).itemsize

    @property
    def bytes(self) -> int:
        return aligned(self.rows * self.row_bytes)

    def place(self, cache: str, *, whole: bool = False) -> str:
        """The place of the row `before` as a C expression; `whole`: that of the words that it belongs to."""
        if self.together == 1:
            return f"{cache} + before * {self.width}u"
        mask = self.together - 1
        words = f"{cache} + (before & ~{mask}u) * {self.width}u"
        return words if whole else f"{words} + (before & {mask}u)"


def append_marks(level: str, buffers: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Marks of the templates: a function that puts new rows behind others, and its calls after the programs.

    In L2 the programs have written them there. Buffers are a cache and its new rows in L2, both as C expressions,
    and the bytes of a row.
    """
    if level == "l2":
        return {"APPEND": "", "APPEND_CHUNK": "tvm_pulp_barrier();", "APPEND_ONE": "tvm_pulp_barrier();"}
    if level == "l1":
        begin, end = "is_agent()) {\n    const uint32_t group = tvm_pulp_dma_begin();", "dma_wait(group);"
        copy = "dma_load((uint8_t *)({0}) + before * {2}, {1}, count * {2});"
    else:
        begin, end = "core_id() == 0u) {", "l3_wait();"
        copy = "l3_store({0}u + before * {2}u, {1}, count * {2}u);"
    lines = [
        "/* New rows are in L2; the past is not touched. */",
        "static void append(uint32_t before, uint32_t count) {",
        "  tvm_pulp_barrier();",
        f"  if (tvm_pulp_{begin}",
        *(f"    tvm_pulp_{statement}" for statement in (*(copy.format(*b) for b in buffers), end)),
    ]
    text = "\n".join([*lines, "  }", "}", "", ""])
    return {"APPEND": text, "APPEND_CHUNK": "append(before, count);", "APPEND_ONE": "append(before, 1);"}
