"""C of a decoder around its two programs: state, entry points, and the loop that the simulator runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.codegen import weights as constants
from tvm_pulp.decoder.weights import DecoderShape
from tvm_pulp.uma.backend import Codegen

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class DecoderFacts:
    """What the C of a decoder is made for."""

    name: str
    shape: DecoderShape
    capacity: int
    chunk: int

    @property
    def rows(self) -> int:
        """Rows of a state: a chunk that begins in the last one must not write behind it."""
        return self.capacity + self.chunk - 1


def header(facts: DecoderFacts) -> str:
    """`tvmgen_<name>.h`."""
    tables = (
        f"extern const int8_t tvmgen_{facts.name}_embedding[{facts.shape.vocabulary} * {facts.shape.width}];\n"
        f"extern const int16_t tvmgen_{facts.name}_rotation[{facts.rows} * {facts.shape.head}];"
    )
    return _filled("decoder.h.in", facts, {"LOGITS": "", "TABLES": tables})


def source(facts: DecoderFacts) -> str:
    """`<name>_decoder.c`: state and entry points."""
    layers = range(facts.shape.layers)
    past = ", ".join(f"state[{2 * i + n}]" for i in layers for n in (0, 1))
    new = ", ".join(f"state[{2 * i + n}] + at" for i in layers for n in (0, 1))
    return _filled("decoder.c.in", facts, {"PAST": past, "NEW": new})


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
        "ROWS": str(facts.rows),
        "WIDTH": str(shape.width),
        "HEAD": str(shape.head),
        "KV_WIDTH": str(shape.kv_width),
        "VOCABULARY": str(shape.vocabulary),
        "STATES": str(2 * shape.layers),
        **more,
    }
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for mark, value in values.items():
        text = text.replace(f"@{mark}@", value)
    return text
