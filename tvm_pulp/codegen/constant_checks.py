"""The check of `--check-constants`: what L3 and the weight memory hold is compared with the archive before it is used.

The program's own image, with all that lies in L2, is not looked at: who loads it can check it as a whole.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.codegen.model_text import safe
from tvm_pulp.codegen.table_addresses import piece_member
from tvm_pulp.codegen.weights import section, symbol
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Tensor

DEFINE = "TVM_PULP_CHECKS_CONSTANTS"
HEADER = "check_constants.h"
FACT = "checked_constants"
_CODE = "WRONG_CONSTANTS"
# Bytes of L3 that are looked at together.
_CHUNK = 256


@dataclass(frozen=True)
class Checked:
    """A constant in a memory of its own; `place`: its address in C, or its offset in L3."""

    name: str
    place: str
    data: bytes
    in_l3: bool = False

    @property
    def line(self) -> str:
        return f"    {{{self.place}, {len(self.data)}u, 0x{zlib.crc32(self.data):08x}u}}, /* {safe(self.name)} */"


def checked_constants(plan: Plan, named: Mapping[Tensor, str]) -> list[Checked]:
    """Constants of the weight memory, then those of L3. `named`: those that code calls by name, with their levels."""
    own = [
        Checked(t.name, symbol(plan.network.name, t), _bytes(t.data))
        for t, level in named.items()
        if section(level) and t.data is not None and t.spec.bytes
    ]
    behind = [
        Checked(t.name, f"{offset}u", _bytes(t.data), in_l3=True)
        for t, offset in plan.l3_offsets().items()
        if t.data is not None and t.spec.bytes
    ]
    return [*own, *_bundled(plan), *behind]


def _bytes(data: np.ndarray) -> bytes:
    return np.ascontiguousarray(data).tobytes()


def _bundled(plan: Plan) -> Iterator[Checked]:
    """Parts of constants that lie between the records of a bundle, which hold addresses and are not compared."""
    for bundle in plan.schedule.bundles:
        for number, piece in enumerate(bundle.pieces if section(bundle.level) else ()):
            data = piece.tensor.data if piece.tensor.data is not None else piece.tensor.storage.data
            assert data is not None
            box = tuple(slice(a, a + n) for a, n in zip(piece.box.start, piece.box.size, strict=True))
            part = _bytes(data.reshape(piece.tensor.spec.shape)[box])
            yield Checked(piece.tensor.name, f"{bundle.name}.{piece_member(bundle, number)}", part)


def wrong_constants_code(name: str) -> str:
    """The entry of the interface's list of what functions return."""
    return f"TVMGEN_{name.upper()}_{_CODE} = -2 /* a constant in L3 or weight memory is not that of the archive */"


def declarations(name: str) -> list[str]:
    """Declarations of the check for the interface."""
    return [
        "/* Compare constants in L3 and weight memory with checksums. Core 0 calls it once, before the first run. */",
        f"int32_t tvmgen_{name}_check_constants(void);",
        "/* Which one was wrong: its number in the tables of the check, from 1 on. */",
        f"extern uint32_t tvmgen_{name}_wrong_constant;",
        "",
    ]


def check_source(name: str, constants: Sequence[Checked]) -> list[str]:
    """Tables and functions, at the end of the file that defines bundles."""
    near, far = ([c for c in constants if c.in_l3 == in_l3] for in_l3 in (False, True))
    lines = [f"uint32_t tvmgen_{name}_wrong_constant;", ""]
    for made, structure, table in (
        (near, "tvm_pulp_constant", "constants"),
        (far, "tvm_pulp_l3_constant", "l3_constants"),
    ):
        if made:
            lines += [f"static const struct {structure} {table}[{len(made)}] = {{", *(c.line for c in made), "};", ""]
    # Behind all other code: what steps run keeps its place.
    lines += [f"TVM_PULP_LATER int32_t tvmgen_{name}_check_constants(void) {{"]
    if constants:
        lines += ["  uint32_t table[TVM_PULP_CRC_ENTRIES];", "  tvm_pulp_crc_table(table);"]
    if near:
        lines += [
            f"  for (uint32_t i = 0; i < {len(near)}u; i++) {{",
            "    const uint32_t crc = (uint32_t)TVM_PULP_CRC_START;",
            "    if (~tvm_pulp_crc(crc, table, constants[i].address, constants[i].bytes) != constants[i].checksum) {",
            *_wrong(name, "i + 1u"),
            "    }",
            "  }",
        ]
    if far:
        lines += [
            f"  static uint32_t chunk[{_CHUNK // 4}];",
            f"  for (uint32_t i = 0; i < {len(far)}u; i++) {{",
            "    uint32_t crc = (uint32_t)TVM_PULP_CRC_START;",
            "    for (uint32_t at = 0; at < l3_constants[i].bytes; at += sizeof chunk) {",
            "      const uint32_t rest = l3_constants[i].bytes - at;",
            "      const uint32_t bytes = rest < sizeof chunk ? rest : (uint32_t)sizeof chunk;",
            "      tvm_pulp_l3_load(chunk, l3_constants[i].offset + at, bytes);",
            "      tvm_pulp_l3_wait();",
            "      crc = tvm_pulp_crc(crc, table, (const volatile uint8_t *)chunk, bytes);",
            "    }",
            "    if (~crc != l3_constants[i].checksum) {",
            *_wrong(name, f"i + {len(near) + 1}u"),
            "    }",
            "  }",
        ]
    return [*lines, f"  return TVMGEN_{name.upper()}_OK;", "}", ""]


def _wrong(name: str, number: str) -> list[str]:
    return [
        f"      tvmgen_{name}_wrong_constant = {number};",
        f"      return TVMGEN_{name.upper()}_{_CODE};",
    ]


def program_lines(name: str) -> list[str]:
    """The name by which the runtime that starts the program calls the check."""
    return ["", f"int32_t tvm_pulp_check_constants(void) {{ return tvmgen_{name}_check_constants(); }}", ""]
