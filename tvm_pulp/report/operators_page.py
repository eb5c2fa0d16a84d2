"""The list of operators: as `docs/operators.md`, and as `tvmc targets --operators` prints it."""

import re
from collections.abc import Iterator
from textwrap import fill
from typing import TextIO

from tvm_pulp import soc
from tvm_pulp.frontend.operator_names import format_operators
from tvm_pulp.report.fitted_table import terminal_width
from tvm_pulp.report.operator_catalog import (
    DialectOperator,
    dialect_operators,
    integer_between_quantizations,
    own_backends,
)
from tvm_pulp.uma import registry

_HEAD = """# Operators

*Generated from the registries by `TVM_PULP_UPDATE_GOLDEN=1 pytest tests/report/test_operators_page.py`;
`tvmc targets --operators` prints the same for the engines that are installed.*

A model's operators become operators of the integer dialect where they compute with integers. Engines and the cores'
kernels take operators of the dialect; the cheapest one that takes a layer runs it, and `tvmc explain MODEL` says for
every layer who does and why others do not. The cores run every operator, if need be by C generated for its shape.
"""
_INTEGERS = """Between DequantizeLinear and QuantizeLinear (TFLite's quantized operators are imported so, too) there
are integer forms of these, under the names that Relax gives them; of functions of one byte (Sigmoid, HardSwish, Gelu,
Clip and chains of such), as tables; and of LayerNorm, RMSNorm, GroupNorm, InstanceNorm, attention and rotary embedding
as exporters write them. Everything else stays float, and `tvmc explain` says what would help."""
_AUTHORS = """`layer.inputs` holds the operands in the order given here, constants behind the data, and
`layer.attributes` the attributes. A star stands for a rule of requantization: `requant*` is `requant` (its kind),
`requant_shift`, `requant_zero_point`, `requant_low`, `requant_high`, `requant_wide`, and its two tensors follow the
other operands (`tvm_pulp/qnn/requant.py`)."""


def operators_page() -> str:
    """The page, for the engines of this package and the default SoC's cores."""
    operators = dialect_operators(own_backends(), soc.load(soc.DEFAULT).software.kernels)
    return "\n".join([_HEAD, *_formats(), *_table(operators), *_details(operators)])


def _formats() -> Iterator[str]:
    yield "## Operators of model files\n"
    for group in format_operators():
        yield f"**{group.title}** ({len(group.names)}). {group.note}\n"
        yield ", ".join(f"`{name}`" for name in group.names) + "\n"
    yield "## Which of them compute with integers\n"
    yield f"{_INTEGERS}\n"
    yield ", ".join(f"`{name}`" for name in integer_between_quantizations()) + "\n"


def _table(operators: list[DialectOperator]) -> Iterator[str]:
    yield "## Who runs the operators of the dialect\n"
    yield "| operator | engine | how | which layers |"
    yield "|---|---|---|---|"
    for operator in operators:
        for number, run in enumerate(operator.runs):
            name = f"[`{operator.name}`](#{operator.name})" if not number else ""
            yield f"| {name} | {run.engine} | {run.how} | {run.limits} |"
    yield ""


def _details(operators: list[DialectOperator]) -> Iterator[str]:
    yield "## Operands and attributes, for authors of backends\n"
    yield f"{_AUTHORS}\n"
    for operator in operators:
        yield f"### {operator.name}\n"
        yield f"{_no_links(operator.summary)}\n"
        if operator.details:
            yield f"{_no_links(operator.details)}\n"
        names = ", ".join(f"`{name}`" for name in operator.attributes)
        yield f"Attributes: {names}.\n" if names else "No attributes.\n"


def _no_links(text: str) -> str:
    """Brackets outside code stand for themselves: two pairs of them would be a link of Markdown."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("[", "\\[") for part in parts)


def print_operators(stream: TextIO) -> None:
    """The same for a terminal, with every engine that is installed."""
    width = terminal_width(stream) or 120
    backends = [registry.backend(name) for name in registry.names()]
    for group in format_operators():
        print(f"{group.title} ({len(group.names)})", file=stream)
        print(_wrapped(group.note, width), file=stream)
        print(_wrapped(", ".join(group.names), width), file=stream)
    print("integers between dequantization and quantization", file=stream)
    print(_wrapped(", ".join(integer_between_quantizations()), width), file=stream)
    print("operators of the dialect, and who runs them", file=stream)
    for operator in dialect_operators(backends, soc.load(soc.DEFAULT).software.kernels):
        print(_wrapped(f"{operator.name}: {operator.summary}", width), file=stream)
        for run in operator.runs:
            print(_wrapped(f"{run.engine}, {run.how}: {run.limits}", width, 4), file=stream)


def _wrapped(words: str, width: int, indent: int = 2) -> str:
    return fill(words, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2), break_on_hyphens=False)
