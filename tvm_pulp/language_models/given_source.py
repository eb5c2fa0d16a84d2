"""C of what all tokens of a text share: arrays that a firmware writes, and the program that makes others of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.language_models.entry_module import EntryModule, Purpose
from tvm_pulp.qnn.operator import spec_of

_ALIGNED = "__attribute__((aligned(16)))"


@dataclass(frozen=True)
class GivenArray:
    """An array in L2: who writes it before the first token, and who reads it.

    `is_wanted`: the firmware writes it, not the encoder.
    """

    name: str
    symbol: str
    dtype: str
    shape: tuple[int, ...]
    is_wanted: bool

    @property
    def kind(self) -> str:
        return c_type(self.dtype)

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def record(self, model: str) -> dict[str, Any]:
        """Its entry in the metadata."""
        symbol = f"tvmgen_{model}_{self.symbol}"
        return {"name": self.name, "symbol": symbol, "shape": list(self.shape), "dtype": self.dtype}


def given_arrays(decode: EntryModule, encode: EntryModule | None) -> tuple[GivenArray, ...]:
    """Arrays of a language model with what reads and writes them."""
    programs = [decode.imported, *([encode.imported] if encode is not None else [])]
    specs = {n: spec_of(p) for i in programs for n, p in zip(i.inputs, i.module["main"].params, strict=True)}
    read = [source.name for source in decode.sources if source.purpose is Purpose.ENCODED]
    inputs, outputs = (encode.imported.inputs, encode.imported.outputs) if encode is not None else ((), ())
    made: list[GivenArray] = []
    for name in dict.fromkeys((*inputs, *read)):
        wanted = name not in outputs
        number = sum(array.is_wanted == wanted for array in made)
        symbol = f"{'given' if wanted else 'encoded'}_{number}"
        made.append(GivenArray(name, symbol, specs[name].dtype, specs[name].shape, wanted))
    return tuple(made)


def declarations(name: str, arrays: Sequence[GivenArray], encoder: EntryModule | None) -> str:
    """Lines of the header."""
    wanted = [array for array in arrays if array.is_wanted]
    if not wanted:
        return ""
    lines = ["/* What all tokens of a text share: write it before the first one. */"]
    for array in wanted:
        shape = "x".join(map(str, array.shape))
        lines.append(f"extern {array.kind} tvmgen_{name}_{array.symbol}[{array.elements}]; /* {array.name}: {shape} */")
    if encoder is not None:
        lines += [
            "/* Makes of it what tokens look at: once for a text, before the first token. */",
            f"int32_t tvmgen_{name}_encode(void);",
        ]
    return "\n".join([*lines, "", ""])


def definitions(name: str, arrays: Sequence[GivenArray], written: str) -> str:
    """The arrays themselves; `written`: the place of those that are written from outside."""
    if not arrays:
        return ""
    lines = ["\n/* What all tokens of a text share. */"]
    for array in arrays:
        place = written if array.is_wanted else "TVM_PULP_IN_L2 static"
        lines.append(f"{place} {_ALIGNED} {array.kind} tvmgen_{name}_{array.symbol}[{array.elements}];")
    return "\n".join(lines)


def encoder_function(name: str, arrays: Sequence[GivenArray], encoder: EntryModule | None) -> str:
    """The function that runs the encoder; empty without one."""
    if encoder is None:
        return ""
    symbols, ends = {a.name: f"tvmgen_{name}_{a.symbol}" for a in arrays}, encoder.imported
    given, made = (", ".join(symbols[n] for n in part if n in symbols) for part in (ends.inputs, ends.outputs))
    upper = f"TVMGEN_{name.upper()}"
    return f"""
int32_t tvmgen_{name}_encode(void) {{
  const struct tvmgen_{name}_encode_inputs inputs = {{{given}}};
  const struct tvmgen_{name}_encode_outputs outputs = {{{made}}};
  const int32_t status = tvmgen_{name}_encode_run(&inputs, &outputs) != 0 ? {upper}_WRONG_RUNTIME : {upper}_OK;
  tvm_pulp_barrier();
  return status;
}}
"""


def encoding_marks(name: str, encoder: EntryModule | None, place: str, clock: str, who: str) -> dict[str, str]:
    """Marks of the templates of whole programs: the encoder runs before the prompt.

    `place`: of variables; `clock`: the function that tells the time; `who`: the condition of a core that notes it.
    """
    if encoder is None:
        return dict.fromkeys(("ENCODE_CYCLES", "ENCODE", "ENCODED"), "")
    lines = [
        f"  const uint32_t begin = {clock}();",
        f"  const int32_t encoded = tvmgen_{name}_encode();",
        f"  {who}tvmgen_encode_cycles = {clock}() - begin;",
        "",
    ]
    return {
        "ENCODE_CYCLES": f"{place} volatile uint32_t tvmgen_encode_cycles;\n",
        "ENCODE": "\n".join(lines),
        "ENCODED": f"encoded != TVMGEN_{name.upper()}_OK ? encoded : ",
    }
