"""C of an exported decoder around its two programs: state, tables, entry points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.codegen import weights as constants
from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.state_source import l3_symbol
from tvm_pulp.language_models.decoder import state_source
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.uma.backend import Codegen

TEMPLATES = Path(__file__).parent / "templates"
# What hides a row of a cache that holds nothing.
_LEAST = np.float32(-1e9)


@dataclass(frozen=True)
class RowTable:
    """Rows by token or by position."""

    symbol: str
    data: np.ndarray  # [rows, width]

    @property
    def width(self) -> int:
        return int(self.data.shape[1])

    @property
    def kind(self) -> str:
        return c_type(str(self.data.dtype))


@dataclass(frozen=True)
class StateBuffer:
    """A cache of the device: a row per token."""

    symbol: str
    dtype: str
    width: int

    @property
    def row_bytes(self) -> int:
        return self.width * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class ExportedFacts:
    """What the C is made for. Inputs are, in the programs' order, a table or a state, `hidden` or `length`."""

    name: str
    vocabulary: int
    capacity: int
    chunk: int
    tokens: tuple[RowTable, ...]
    positions: tuple[RowTable, ...]
    states: tuple[StateBuffer, ...]
    decode_inputs: tuple[str, ...]
    prefill_inputs: tuple[str, ...]
    hides: bool
    level: str  # where the state lies
    l3_bytes: int = 0  # of the machine: state lies at its end

    def cache_bytes(self, state: StateBuffer) -> int:
        return self.capacity * state.row_bytes

    def cache(self, state: StateBuffer) -> str:
        """Where a cache begins, as a C expression: in L3 they lie one behind the other."""
        if self.level != "l3":
            return f"tvmgen_{self.name}_{state.symbol}"
        before = self.states[: self.states.index(state)]
        return f"{l3_symbol(self.name)} + {sum(aligned(self.cache_bytes(s)) for s in before)}"

    @property
    def tables(self) -> tuple[RowTable, ...]:
        """All constants that the entry points read."""
        unwritten = np.repeat(np.array([0, _LEAST], np.float32), self.capacity)[:, None]
        return (*self.tokens, *self.positions, *([RowTable("hidden", unwritten)] if self.hides else []))


def header(facts: ExportedFacts) -> str:
    """`tvmgen_<name>.h`."""
    name = facts.name
    logits = f"""/* The numbers above are integers in the order of the logits; this is the logit that one stands for. */
static inline float tvmgen_{name}_logit(int32_t number) {{
  union {{
    int32_t bits;
    float real;
  }} logit = {{number ^ (int32_t)((uint32_t)(number >> 31) >> 1)}};
  return logit.real;
}}
/* The same in steps of 2^-16, for sampling. */
static inline int32_t tvmgen_{name}_steps(int32_t number) {{
  const float logit = tvmgen_{name}_logit(number);
  const float held = logit < -32000.0f ? -32000.0f : logit > 32000.0f ? 32000.0f : logit;
  return (int32_t)(held * 65536.0f);
}}
"""
    tables = [f"extern const {t.kind} tvmgen_{name}_{t.symbol}[{t.data.size}];" for t in facts.tables]
    if facts.level != "l3":
        tables += [
            f"extern {c_type(s.dtype)} tvmgen_{name}_{s.symbol}[{facts.capacity} * {s.width}];" for s in facts.states
        ]
    offset = facts.l3_bytes - sum(aligned(facts.cache_bytes(s)) for s in facts.states)
    more = {"LOGITS": logits, "TABLES": "\n".join(tables), "STATE": state_source.contract(name, facts.level)}
    return _filled("decoder.h.in", facts, more | {"PLACE": state_source.place_in_l3(name, facts.level, offset)})


def source(facts: ExportedFacts) -> str:
    """`<name>_decoder.c`: state and entry points."""
    aligned16 = "__attribute__((aligned(16)))"
    place, level = f"TVM_PULP_IN_{facts.level.upper()}", facts.level
    state = [
        f"{place} {aligned16} {c_type(s.dtype)} tvmgen_{facts.name}_{s.symbol}[{facts.capacity} * {s.width}];"
        for s in (facts.states if level != "l3" else ())
    ]
    if level != "l2":
        state.append("/* New rows, until they are appended. */")
        state += [
            f"TVM_PULP_IN_L2 static {aligned16} {c_type(s.dtype)} {s.symbol}_rows[{facts.chunk} * {s.width}];"
            for s in facts.states
        ]
    rooms = [
        f"TVM_PULP_IN_L2 static {aligned16} {t.kind} {t.symbol}_rows[{facts.chunk} * {t.width}];" for t in facts.tokens
    ]
    looked = []
    for table in facts.tokens:
        own, width = f"{table.symbol}_rows", table.width
        looked += [
            f"    const {table.kind} *{table.symbol} =",
            f"        tvmgen_{facts.name}_{table.symbol} + (uint32_t)tokens[i] * {width}u;",
            f"    for (uint32_t j = 0; j < {width}u; ++j) {own}[i * {width}u + j] = {table.symbol}[j];",
        ]
    new = [f"{facts.cache(s)} + before * {s.width}u" if level == "l2" else f"{s.symbol}_rows" for s in facts.states]
    buffers = [state_source.Buffer(facts.cache(s), f"{s.symbol}_rows", s.row_bytes) for s in facts.states]
    more = {
        "STATE": "\n".join(state),
        "ROOMS": "\n".join(rooms),
        "CLEAR": _clear(facts),
        **state_source.append(level, buffers),
        "LOOK_UP": "\n".join(looked),
        "OUTPUTS": ", ".join(["(float *)(void *)logits", *new]),
        "PREFILL_INPUTS": ", ".join(_input(facts, name, "chunk") for name in facts.prefill_inputs),
        "DECODE_INPUTS": ", ".join(_input(facts, name, "one") for name in facts.decode_inputs),
    }
    return _filled("exported.c.in", facts, more)


def _clear(facts: ExportedFacts) -> str:
    """Memory that holds anything may hold what is no number, and not even a weight of 0 makes that vanish."""
    lines = []
    for state in facts.states:
        if not facts.hides or state.dtype != "float32":
            continue
        rows = facts.capacity if facts.level != "l3" else 1
        symbol = f"{state.symbol}_rows" if facts.level == "l3" else facts.cache(state)
        count = f"{rows}u * {state.width}u"
        lines.append(f"  for (uint32_t i = tvm_pulp_core_id(); i < {count}; i += TVM_PULP_CORES) {symbol}[i] = 0.0f;")
        if facts.level == "l3":
            to = f"{facts.cache(state)}u + i * {state.row_bytes}u"
            store = f"tvm_pulp_l3_store({to}, {symbol}, {state.row_bytes}u);"
            lines += ["  tvm_pulp_barrier();", "  if (tvm_pulp_core_id() == 0u) {"]
            lines += [f"    for (uint32_t i = 0; i < {facts.capacity}u; ++i) {store}", "    tvm_pulp_l3_wait();", "  }"]
    return (
        "\n".join(["  /* Rows without a token are multiplied by 0: they must be numbers. */", *lines, ""])
        if lines
        else ""
    )


def _input(facts: ExportedFacts, symbol: str, entry: str) -> str:
    """What an input of a program points to."""
    whole = f"tvmgen_{facts.name}_{symbol}"
    if symbol == "length":
        return "(const int32_t *)(uintptr_t)&length"
    if symbol == "hidden":
        return f"{whole} + ({facts.capacity}u - before)"
    for table in facts.tokens:
        if table.symbol == symbol:
            return f"{symbol}_rows" if entry == "chunk" else f"{whole} + (uint32_t)token * {table.width}u"
    for state in facts.states:
        if state.symbol == symbol:
            return state_source.past(facts.cache(state), c_type(state.dtype), facts.level)
    widths = {t.symbol: t.width for t in facts.positions}
    return f"{whole} + before * {widths[symbol]}u" if symbol in widths else whole


def program(facts: ExportedFacts, engines: Mapping[str, Codegen]) -> str:
    """`<name>_program.c`: what the simulator runs, from the first token to the last."""
    includes = "\n".join(f'#include "{c.header}"' for c in engines.values())
    inits = " ".join(f"{c.init}();" for c in engines.values())
    steps = f"tvmgen_{facts.name}_steps(logits[i])"
    return _filled("program.c.in", facts, {"INCLUDES": includes, "INITS": inits or "(void)0;", "STEPS": steps})


def tables(facts: ExportedFacts) -> str:
    """`<name>_tables.c`: rows of embeddings and positions."""
    parts = [f'#include "tvmgen_{facts.name}.h"', ""]
    for table in facts.tables:
        symbol = f"tvmgen_{facts.name}_{table.symbol}"
        parts.append(f"/* {table.data.shape[0]}x{table.width} */")
        parts.append(f"__attribute__((aligned(16))) const {table.kind} {symbol}[{table.data.size}] = {{")
        parts += [*constants.rows(table.data), "};", ""]
    return "\n".join(parts)


def unique_rows(tables: Sequence[np.ndarray], stem: str) -> tuple[tuple[RowTable, ...], dict[int, str]]:
    """Tables without repetition, and the symbol of each by its place."""
    made: list[RowTable] = []
    symbols: dict[int, str] = {}
    for place, data in enumerate(tables):
        same = next((t for t in made if t.data.dtype == data.dtype and np.array_equal(t.data, data)), None)
        if same is None:
            same = RowTable(f"{stem}_{len(made)}", data)
            made.append(same)
        symbols[place] = same.symbol
    return tuple(made), symbols


def _filled(template: str, facts: ExportedFacts, more: Mapping[str, str]) -> str:
    values = {
        "NAME": facts.name,
        "UPPER": facts.name.upper(),
        "CAPACITY": str(facts.capacity),
        "CHUNK": str(facts.chunk),
        "VOCABULARY": str(facts.vocabulary),
        "MEMORY": facts.level.upper(),
        **more,
    }
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for mark, value in values.items():
        text = text.replace(f"@{mark}@", value)
    return text
