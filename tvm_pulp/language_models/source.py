"""C of a language model around its programs: state, tables, entry points, and the loop that the simulator runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.codegen import weights as constants
from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.state_source import l3_symbol
from tvm_pulp.language_models.entry_module import DECODE, ENCODE, PREFILL, EntryModule, Purpose, Source
from tvm_pulp.language_models.exported.cache_rows import LEAST
from tvm_pulp.language_models.given_source import (
    GivenArray,
    declarations,
    definitions,
    encoder_function,
    encoding_marks,
)
from tvm_pulp.language_models.prompt_cuts import choice, cuts_table
from tvm_pulp.language_models.state_buffer import StateBuffer, append_marks
from tvm_pulp.uma.backend import Codegen

_TEMPLATES = Path(__file__).parent / "templates"
_ALIGNED = "__attribute__((aligned(16)))"
_WORD = 4
# Beginnings of tables' names by the purpose of their rows, and the name of the table that hides rows.
_STEMS, _HIDDEN = {Purpose.TOKENS: "embedding", Purpose.POSITIONS: "positions"}, "hidden"
_MEMORIES = {"l1": "L1, beside the arena", "l2": "L2", "l3": "L3"}

_KEEP = """  if (tvmgen_keep_logits == 0u || tvm_pulp_core_id() != 0u) return;
  tvm_pulp_l3_store(kept, logits, 4u * @VOCABULARY@u * rows);
  tvm_pulp_l3_wait();
  kept += 4u * @VOCABULARY@u * rows;"""
_NOT_KEPT = """  /* There is no L3 to keep them in. */
  (void)logits;
  (void)rows;"""


@dataclass(frozen=True)
class RowTable:
    """Rows by token or by position."""

    symbol: str
    purpose: Purpose
    data: np.ndarray  # [rows, width]

    @property
    def width(self) -> int:
        return int(self.data.shape[1])

    @property
    def kind(self) -> str:
        return c_type(str(self.data.dtype))


@dataclass(frozen=True)
class SourceFacts:
    """The properties of a language model that its C depends on."""

    name: str
    capacity: int
    programs: Mapping[str, EntryModule]  # those of tokens, by entry point
    cuts: tuple[int, ...]  # tokens that the cheapest next program takes, by those that are left
    logits: str  # type of the network's logits
    rows: Mapping[str, RowTable]  # by the inputs that point into them
    states: tuple[StateBuffer, ...]
    level: str  # memory of the state
    l3_bytes: int  # of the machine: state lies at its end
    given: tuple[GivenArray, ...]  # what all tokens share
    encoder: EntryModule | None  # the program that makes some of it
    by_itself: bool = False  # on a CPU by itself

    @property
    def chunks(self) -> list[tuple[str, EntryModule]]:
        """Programs that see several tokens, with their names; the largest first."""
        several = ((name, program) for name, program in self.programs.items() if name != DECODE)
        return sorted(several, key=lambda chunk: -chunk[1].rows)

    def tables_of(self, purpose: Purpose) -> list[RowTable]:
        """Tables by token or by position, each once."""
        return list({t.symbol: t for t in self.rows.values() if t.purpose is purpose}.values())

    @property
    def vocabulary(self) -> int:
        return len(self.tables_of(Purpose.TOKENS)[0].data)

    @property
    def chunk(self) -> int:
        """Tokens of the largest program."""
        return max(program.rows for program in self.programs.values())

    @property
    def hides(self) -> bool:
        """Rows without a token are hidden by a table."""
        sources = (source for program in self.programs.values() for source in program.sources)
        return any(source.purpose is Purpose.UNWRITTEN for source in sources)

    @property
    def has_real_logits(self) -> bool:
        return self.logits == "float32"

    @property
    def state_bytes(self) -> int:
        return sum(state.bytes for state in self.states)

    def symbol(self, name: str) -> str:
        """The C name of a table or a state."""
        return f"tvmgen_{self.name}_{name}"

    def cache(self, state: StateBuffer) -> str:
        """The beginning of a cache as a C expression: in L3 they lie one behind the other."""
        if self.level != "l3":
            return self.symbol(state.symbol)
        before = self.states[: self.states.index(state)]
        return f"{l3_symbol(self.name)} + {sum(s.bytes for s in before)}"

    @property
    def tables(self) -> tuple[RowTable, ...]:
        """All constants that the entry points read."""
        unwritten = np.repeat(np.array([0, LEAST], np.float32), self.capacity)[:, None]
        hidden = [RowTable(_HIDDEN, Purpose.UNWRITTEN, unwritten)] if self.hides else []
        return (*self.tables_of(Purpose.TOKENS), *self.tables_of(Purpose.POSITIONS), *hidden)


def header(facts: SourceFacts) -> str:
    """The text of `tvmgen_<name>.h`."""
    tables = [f"extern const {t.kind} {facts.symbol(t.symbol)}[{t.data.size}];" for t in facts.tables]
    in_l3, symbol = facts.level == "l3", l3_symbol(facts.name)
    advice = f" Of two models in one firmware define {symbol}, its first byte there, for one."
    place = f"{facts.l3_bytes - facts.state_bytes}u /* first byte of the state in L3 */"
    more = {
        "LOGITS": _template("logit.h.in") if facts.has_real_logits else "",
        "TABLES": "\n".join(tables),
        "GIVEN": declarations(facts.name, facts.given, facts.encoder),
        "STATE": f" It lies in {_MEMORIES[facts.level]}.{advice if in_l3 else ''}",
        "PLACE": f"\n#ifndef {symbol}\n#define {symbol} {place}\n#endif\n" if in_l3 else "",
    }
    return _filled("decoder.h.in", facts, more)


def source(facts: SourceFacts) -> str:
    """The text of `<name>_decoder.c`: state and entry points."""
    in_l2 = facts.level == "l2"
    one, several = (
        [s.place(facts.cache(s), whole=whole) if in_l2 else f"{s.symbol}_rows" for s in facts.states]
        for whole in (False, True)
    )
    buffers = [(facts.cache(s), f"{s.symbol}_rows", s.row_bytes) for s in facts.states]
    by_token = facts.tables_of(Purpose.TOKENS)
    rooms = [_room(t.kind, t.symbol, facts.chunk * t.width) for t in by_token if facts.chunks]
    together = [s.form.together for s in facts.states]
    spare = " A chunk may write rows behind the last token that fits." if facts.states[0].rows > facts.capacity else ""
    entries = [*(name for name, _ in facts.chunks), *([ENCODE] if facts.encoder is not None else [])]
    logits = "(float *)(void *)logits" if facts.has_real_logits else "logits"
    rank_chunk, rank_one = (f"  rank({count}{facts.vocabulary}u);\n" for count in ("count * ", ""))
    ranks = {"RANK": _template("rank.c.in"), "RANK_CHUNK": rank_chunk, "RANK_ONE": rank_one}
    look_ups = "\n".join(line for table in by_token for line in _look_up(facts, table))
    more = {
        "MEMORY": facts.level.upper(),
        "SPARE": spare,
        "TOGETHER": next((f" or {n} tokens of an element in a word" for n in together if n > 1), ""),
        "STATE": "\n".join(_state(facts)),
        "GIVEN": definitions(facts.name, facts.given, "TVM_PULP_KEPT" if facts.by_itself else "TVM_PULP_IN_L2"),
        "ENCODE": encoder_function(facts.name, facts.given, facts.encoder),
        "ROOMS": "\n".join(rooms),
        "CLEAR": _clear(facts),
        **append_marks(facts.level, buffers),
        "DECODE_OUTPUTS": ", ".join([logits, *one]),
        "OUTPUTS": ", ".join([logits, *several]),
        "HEADERS": "".join(f'#include "tvmgen_{facts.name}_{entry}.h"\n' for entry in entries)
        + ('#include "tvm_pulp/cpu_program.h"\n' if facts.by_itself and facts.given else ""),
        "CHOICE": choice(facts.chunks),
        "ROWS": _template("look_up.c.in") if facts.chunks else "",
        "LOOK_UP": look_ups,
        "CUTS": cuts_table(facts.cuts) if facts.chunks else "",
        "DECODE_INPUTS": _inputs(facts, DECODE, lambda t: f"{facts.symbol(t.symbol)} + (uint32_t)token * {t.width}u"),
        **(ranks if facts.has_real_logits else dict.fromkeys(ranks, "")),
    }
    return _filled("decoder.c.in", facts, {**more, "CHUNKS": "".join(_chunk(facts, c, more) for c, _ in facts.chunks)})


def _chunk(facts: SourceFacts, entry: str, more: Mapping[str, str]) -> str:
    """The function that sees tokens by one program."""
    inputs = _inputs(facts, entry, lambda table: f"{table.symbol}_rows")
    # Code of a further one lies behind everything, so that no other takes longer by it.
    place = "TVM_PULP_LATER " if entry != PREFILL else ""
    return _filled("chunk.c.in", facts, {**more, "PLACE": place, "ENTRY": entry, "INPUTS": inputs}) + "\n"


def _room(kind: str, symbol: str, elements: int) -> str:
    """A buffer of rows in L2."""
    return f"TVM_PULP_IN_L2 static {_ALIGNED} {kind} {symbol}_rows[{elements}];"


def _state(facts: SourceFacts) -> list[str]:
    """Caches, and new rows on their way to a cache that does not lie in L2. Steps know those in L1 by their names."""
    lines = []
    if facts.level != "l3":
        place = f"TVM_PULP_IN_{facts.level.upper()} {'static ' if facts.level == 'l2' else ''}{_ALIGNED}"
        lines += [f"{place} {s.kind} {facts.symbol(s.symbol)}[{s.rows} * {s.form.width}];" for s in facts.states]
    if facts.level != "l2":
        lines.append("/* New rows, until they are appended. */")
        lines += [_room(s.kind, s.symbol, facts.chunk * s.form.width) for s in facts.states]
    return lines


def _look_up(facts: SourceFacts, table: RowTable) -> list[str]:
    """Statements that copy the row of token `i`, by words where it consists of them."""
    row_bytes, symbol = table.width * table.data.dtype.itemsize, table.symbol
    kind, count = ("uint32_t", row_bytes // _WORD) if row_bytes % _WORD == 0 else (table.kind, table.width)
    row = f"{facts.symbol(symbol)} + (uint32_t)tokens[i] * {table.width}u"
    return [
        f"    const {kind} *{symbol} = (const {kind} *)(const void *)({row});",
        f"    {kind} *{symbol}_row = ({kind} *)(void *)({symbol}_rows + i * {table.width}u);",
        f"    for (uint32_t j = 0; j < {count}u; ++j) {symbol}_row[j] = {symbol}[j];",
    ]


def _clear(facts: SourceFacts) -> str:
    """Statements of a reset: memory may hold what is no number, and not even a weight of 0 makes that vanish."""
    lines = []
    for state in (s for s in facts.states if facts.hides and s.form.dtype == "float32"):
        rows, symbol = (1, f"{state.symbol}_rows") if facts.level == "l3" else (facts.capacity, facts.cache(state))
        count = f"{rows}u * {state.form.width}u"
        lines.append(f"  for (uint32_t i = tvm_pulp_core_id(); i < {count}; i += TVM_PULP_CORES) {symbol}[i] = 0.0f;")
        if facts.level == "l3":
            to = f"{facts.cache(state)}u + i * {state.row_bytes}u"
            store = f"tvm_pulp_l3_store({to}, {symbol}, {state.row_bytes}u);"
            lines += ["  tvm_pulp_barrier();", "  if (tvm_pulp_core_id() == 0u) {"]
            lines += [f"    for (uint32_t i = 0; i < {facts.capacity}u; ++i) {store}", "    tvm_pulp_l3_wait();", "  }"]
    if not lines:
        return ""
    return "\n".join(["  /* Rows without a token are multiplied by 0: they must be numbers. */", *lines, ""])


def _inputs(facts: SourceFacts, entry: str, token_row: Callable[[RowTable], str]) -> str:
    """The pointers that a program gets for its inputs."""
    return ", ".join(_input(facts, source, token_row) for source in facts.programs[entry].sources)


def _input(facts: SourceFacts, source: Source, token_row: Callable[[RowTable], str]) -> str:
    """The pointer that a program gets for an input."""
    if source.purpose in (Purpose.PAST, Purpose.PRESENT):
        state = next(s for s in facts.states if s.form.past == (source.cache or source.name))
        cache = facts.cache(state)
        if source.purpose is Purpose.PRESENT:
            return state.place(cache, whole=True)
        return cache if facts.level != "l3" else f"(const {state.kind} *)(uintptr_t)({cache}u)"
    if source.purpose is Purpose.LENGTH:
        return "(const int32_t *)(uintptr_t)&length"
    if source.purpose is Purpose.ENCODED:
        return next(facts.symbol(array.symbol) for array in facts.given if array.name == source.name)
    if source.purpose is Purpose.UNWRITTEN:
        return f"{facts.symbol(_HIDDEN)} + ({facts.capacity}u - before)"
    table = facts.rows[source.name]
    if source.purpose is Purpose.TOKENS:
        return token_row(table)
    return f"{facts.symbol(table.symbol)} + before * {table.width}u"


def program(facts: SourceFacts, engines: Iterable[Codegen]) -> str:
    """The text of `<name>_program.c`, which the simulator runs from the first token to the last."""
    known = list(engines)
    more = {
        "INCLUDES": "\n".join(f'#include "{c.header}"' for c in known),
        "INITS": " ".join(f"{c.init}();" for c in known) or "(void)0;",
        "STEPS": f"{facts.symbol('steps')}(logits[i])" if facts.has_real_logits else "logits[i]",
        "KEEP": _KEEP if facts.l3_bytes else _NOT_KEPT,
        **encoding_marks(facts.name, facts.encoder, "TVM_PULP_IN_L2", "tvm_pulp_cycle", "if (core == 0u) "),
    }
    return _filled("program.c.in", facts, more)


def cpu_program(facts: SourceFacts) -> str:
    """The text of `<name>_generation.c`, which a CPU by itself runs from the first token to the last."""
    near = steps = ""
    if facts.has_real_logits:
        near = f"static int32_t near[{facts.vocabulary}];\n"
        fill = f"for (uint32_t i = 0; i < {facts.vocabulary}u; ++i) near[i] = {facts.symbol('steps')}(logits[i]);"
        steps = f"  if (tvmgen_sampling.multiplier != 0u) {{\n    {fill}\n    logits = near;\n  }}\n"
    return _filled(
        "cpu_program.c.in",
        facts,
        {"NEAR": near, "STEPS": steps, **encoding_marks(facts.name, facts.encoder, "TVM_PULP_KEPT", "now", "")},
    )


def tables(facts: SourceFacts) -> str:
    """The text of `<name>_tables.c`: rows of embeddings and positions."""
    parts = [f'#include "tvmgen_{facts.name}.h"', ""]
    for table in facts.tables:
        parts.append(f"/* {table.data.shape[0]}x{table.width} */")
        parts.append(f"{_ALIGNED} const {table.kind} {facts.symbol(table.symbol)}[{table.data.size}] = {{")
        parts += [*constants.rows(table.data), "};", ""]
    return "\n".join(parts)


def row_tables(sources: Iterable[Source]) -> dict[str, RowTable]:
    """Tables by the inputs that hold rows of them; equal ones are the same."""
    made: dict[str, RowTable] = {}
    for source in sources:
        if (data := source.table) is None:
            continue
        known = {t.symbol: t for t in made.values() if t.purpose is source.purpose}
        alike = (t for t in known.values() if t.data.dtype == data.dtype and np.array_equal(t.data, data))
        new = RowTable(f"{_STEMS[source.purpose]}_{len(known)}", source.purpose, data)
        made[source.name] = next(alike, new)
    return made


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _filled(template: str, facts: SourceFacts, more: Mapping[str, str]) -> str:
    """The text of a template. What is put in may hold marks of what every template knows."""
    values = {
        **more,
        "NAME": facts.name,
        "UPPER": facts.name.upper(),
        "CAPACITY": str(facts.capacity),
        "CHUNK": str(facts.chunk),
        "VOCABULARY": str(facts.vocabulary),
    }
    text = _template(template)
    for mark, value in values.items():
        text = text.replace(f"@{mark}@", value)
    return text
