"""C of a decoder around its two programs: state, entry points, and the loop that the simulator runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.codegen import weights as constants
from tvm_pulp.codegen.state_source import l3_symbol
from tvm_pulp.frontend.zoo.weights import DecoderShape
from tvm_pulp.language_models.decoder import state_source
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.network import State
from tvm_pulp.uma.backend import Codegen

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class DecoderFacts:
    """What the C of a decoder is made for."""

    name: str
    shape: DecoderShape
    capacity: int
    chunk: int
    level: str  # where the state lies
    l3_bytes: int = 0  # of the machine: state lies at its end

    @property
    def rows(self) -> int:
        """Positions of the table: a chunk that begins in the last one must not look behind it."""
        return self.capacity + self.chunk - 1

    @property
    def cache_bytes(self) -> int:
        """Bytes of a cache. In L2 a whole chunk is written, also behind the last token that fits."""
        rows = self.rows if self.level == "l2" else self.capacity
        return aligned(rows * self.shape.kv_width)

    @property
    def state_bytes(self) -> int:
        return 2 * self.shape.layers * self.cache_bytes

    def states(self, first_input: int, counter: int, rows: int) -> tuple[State, ...]:
        """Keys and values of all layers as states of a program; caches are its last inputs and outputs."""
        symbol = f"tvmgen_{self.name}_state" if self.level == "l1" else ""
        return tuple(
            State(
                first_input + n, 1 + n, None, rows, self.cache_bytes, counter, self.level, symbol, n * self.cache_bytes
            )
            for n in range(2 * self.shape.layers)
        )


def header(facts: DecoderFacts) -> str:
    """`tvmgen_<name>.h`."""
    tables = (
        f"extern const int8_t tvmgen_{facts.name}_embedding[{facts.shape.vocabulary} * {facts.shape.width}];\n"
        f"extern const int16_t tvmgen_{facts.name}_rotation[{facts.rows} * {facts.shape.head}];"
    )
    more = {"LOGITS": "", "TABLES": tables, "STATE": state_source.contract(facts.name, facts.level)}
    return _filled(
        "decoder.h.in",
        facts,
        more | {"PLACE": state_source.place_in_l3(facts.name, facts.level, facts.l3_bytes - facts.state_bytes)},
    )


def source(facts: DecoderFacts) -> str:
    """`<name>_decoder.c`: state and entry points."""
    level, size = facts.level, facts.cache_bytes
    past, new, buffers = [], [], []
    for n in range(2 * facts.shape.layers):
        cache = f"state + {n * size}"
        past.append(state_source.past(cache, "int8_t", level))
        new.append(f"{cache} + before * {facts.shape.kv_width}u" if level == "l2" else f"appended[{n}]")
        buffers.append(state_source.Buffer(cache, f"appended[{n}]", facts.shape.kv_width))
    more = {
        "PAST": ", ".join(past),
        "NEW": ", ".join(new),
        "STATE": _state(facts),
        **state_source.append(level, buffers),
    }
    return _filled("decoder.c.in", facts, more)


def _state(facts: DecoderFacts) -> str:
    count, symbol, aligned16 = 2 * facts.shape.layers, f"tvmgen_{facts.name}_state", "__attribute__((aligned(16)))"
    lines = [f"/* Keys and values of every layer, a row per token, in {facts.level.upper()}."]
    if facts.level == "l2":
        lines[0] += " A chunk may write rows behind the last token that fits."
    lines[0] += " */"
    if facts.level != "l3":
        place = f"TVM_PULP_IN_{facts.level.upper()}"
        lines += [f"{place} {aligned16} int8_t {symbol}[{count * facts.cache_bytes}];", f"#define state {symbol}"]
    else:
        lines += [f"#define state {l3_symbol(facts.name)}"]
    if facts.level != "l2":
        rows = facts.chunk * facts.shape.kv_width
        lines += ["/* New rows, until they are appended. */"]
        lines += [f"TVM_PULP_IN_L2 static {aligned16} int8_t appended[{count}][{rows}];"]
    return "\n".join(lines)


def program(facts: DecoderFacts, engines: Mapping[str, Codegen]) -> str:
    """`<name>_program.c`: what the simulator runs, from the first token to the last."""
    includes = "\n".join(f'#include "{c.header}"' for c in engines.values())
    inits = " ".join(f"{c.init}();" for c in engines.values())
    return _filled("program.c.in", facts, {"INCLUDES": includes, "INITS": inits or "(void)0;", "STEPS": "logits[i]"})


def tables(facts: DecoderFacts, embedding: np.ndarray, rotation: np.ndarray) -> str:
    """`<name>_tables.c`: rows of the embedding and of the positions."""
    name, parts = facts.name, [f'#include "tvmgen_{facts.name}.h"', ""]
    for kind, symbol, data in (("int8_t", "embedding", embedding), ("int16_t", "rotation", rotation)):
        parts.append(f"/* {'x'.join(map(str, data.shape))} */")
        parts.append(f"__attribute__((aligned(16))) const {kind} tvmgen_{name}_{symbol}[{data.size}] = {{")
        parts += [*constants.rows(data), "};", ""]
    return "\n".join(parts)


def shared_header(module: str, other: str, own: str, same: Sequence[tuple[str, str]]) -> str:
    """The header of constants of which some are those of another module."""
    lines = [own.rstrip("\n").rsplit("\n#endif", 1)[0], f'#include "{other}_weights.h"', ""]
    lines += [f"#define tvmgen_{module}_{mine} tvmgen_{other}_{theirs}" for mine, theirs in same]
    return "\n".join([*lines, "", f"#endif /* TVMGEN_{module.upper()}_WEIGHTS_H */", ""])


def _filled(template: str, facts: DecoderFacts, more: Mapping[str, str]) -> str:
    shape = facts.shape
    values = {
        "NAME": facts.name,
        "UPPER": facts.name.upper(),
        "CAPACITY": str(facts.capacity),
        "CHUNK": str(facts.chunk),
        "WIDTH": str(shape.width),
        "HEAD": str(shape.head),
        "KV_WIDTH": str(shape.kv_width),
        "VOCABULARY": str(shape.vocabulary),
        **more,
    }
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for mark, value in values.items():
        text = text.replace(f"@{mark}@", value)
    return text
