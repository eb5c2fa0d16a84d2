"""Operands of the `asm` statements of preprocessed C, as GNU's compiler counts them."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tvm_pulp.toolchain.host_cc import host_compiler

# What GNU's compiler takes in one statement.
LIMIT = 30
_STATEMENT = re.compile(r"\b(?:__asm__|__asm|asm)\b[\s\w]*\(")
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|\S')
# Any preprocessor, told that it is GNU's and which machine it is for.
_AS_GNU = ["-E", "-P", "-ffreestanding", "-U__clang__", "-D__riscv=1", "-D__riscv_xlen=32", "-D__riscv_flen=32"]


def preprocessed(source: Path, include_dirs: Sequence[Path]) -> str:
    """The text of a source with macros expanded, as GNU's compiler for RISC-V sees it."""
    command = [*host_compiler().command, *_AS_GNU, *(f"-I{folder}" for folder in include_dirs), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def statements(text: str) -> Iterator[list[str]]:
    """Tokens between the parentheses of each statement."""
    for statement in _STATEMENT.finditer(text):
        tokens: list[str] = []
        depth = 1
        for token in _TOKEN.finditer(text, statement.end()):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth == 0:
                break
            tokens.append(token[0])
        yield tokens


def operands(statement: Sequence[str]) -> int:
    """How many operands a statement has; those that are read and written count twice."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in statement:
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if token == ":" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    count = 0
    # Outputs, inputs and, behind what is changed, labels.
    for part in (*parts[1:3], *parts[4:5]):
        depth = 0
        for i, token in enumerate(part):
            depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
            starts = depth == 0 and token != "," and (i == 0 or part[i - 1] == ",")
            named = token == "[" and depth == 1 and (i == 0 or part[i - 1] == ",")
            count += starts or named
            count += token.startswith('"+') and (i == 0 or part[i - 1] in (",", "]"))
    return count
