"""Caches of a language model as its C knows them: buffers, places of rows, and what appends new rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.language_models.entry_module import CacheRows, EntryModule
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.value_groups import groups_of


@dataclass(frozen=True)
class StateBuffer:
    """A cache of the device: a row per token, or words that hold `together` tokens of an element."""

    symbol: str
    form: CacheRows
    rows: int

    @property
    def kind(self) -> str:
        return c_type(self.form.dtype)

    @property
    def row_bytes(self) -> int:
        return self.form.width * np.dtype(self.form.dtype).itemsize

    @property
    def bytes(self) -> int:
        return aligned(self.rows * self.row_bytes)

    def place(self, cache: str, *, whole: bool = False) -> str:
        """The place of the row `before` as a C expression; `whole`: that of the words that it belongs to."""
        if self.form.together == 1:
            return f"{cache} + before * {self.form.width}u"
        mask = self.form.together - 1
        words = f"{cache} + (before & ~{mask}u) * {self.form.width}u"
        return words if whole else f"{words} + (before & {mask}u)"


def state_buffers(modules: Sequence[EntryModule], capacity: int, level: str) -> tuple[StateBuffer, ...]:
    """The caches of programs at a level of memory. In L2 a whole chunk is written, also behind the last token."""

    def rows(form: CacheRows) -> int:
        if level != "l2":
            return capacity
        if form.together == 1:
            return max(m.past + m.rows for m in modules)
        return form.together * max(m.past // form.together + groups_of(m.rows) for m in modules)

    return tuple(StateBuffer(f"state_{n}", form, rows(form)) for n, form in enumerate(modules[0].caches))


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
