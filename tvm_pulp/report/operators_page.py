"""The list of operators, and who runs them: as docs/operators.md, and as tvmc targets --operators prints it."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TextIO

from tvm_pulp import soc
from tvm_pulp.frontend.operator_names import format_operators
from tvm_pulp.grouped import grouped
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.report.fitted_table import terminal_width
from tvm_pulp.uma import registry
from tvm_pulp.uma.backend import UMABackend


@dataclass(frozen=True)
class Runs:
    """An engine, or a kernel of the cores, that takes an operator; `limits` says which layers."""

    engine: str
    how: str
    limits: str


@dataclass(frozen=True)
class DialectOperator:
    """An operator of the integer dialect."""

    name: str
    summary: str
    details: str
    attributes: tuple[str, ...]
    runs: tuple[Runs, ...]


def dialect_operators(backends: Sequence[UMABackend], family: str) -> list[DialectOperator]:
    """Operators in alphabetical order, for these engines and the hand-written kernels of one family of cores."""
    engines = grouped(
        (operator, Runs(backend.target_name, pattern.name, backend.limits(pattern.name)))
        for backend in backends
        for pattern in backend.patterns
        for operator in dict.fromkeys(_operators_in(pattern.expression))
    )
    kernels = registry.core_kernels(family)
    found = []
    for name in sorted(OPERATORS):
        # Of a family of operators in one file, each has a text of its own.
        text = type(OPERATORS[name]).__doc__ or sys.modules[OPERATORS[name].__module__].__doc__ or ""
        summary, _, details = inspect.cleandoc(text).partition("\n")
        runs = [*engines.get(name, []), *(Runs("cores", f"{k} kernel", limits) for k, limits in kernels.get(name, []))]
        attributes = OPERATORS[name].record.names()
        runs.append(Runs("cores", "generated C", "any layer"))
        found.append(DialectOperator(name, summary, details.strip(), attributes, tuple(runs)))
    return found


def own_backends() -> list[UMABackend]:
    """Engines that come with this package, whatever else is installed."""
    return [backend for backend in registry.backends() if type(backend).__module__.startswith("uma_backends.")]


def integer_between_quantizations() -> list[str]:
    """Float operators that become integer layers between a dequantization and a quantization."""
    from tvm_pulp.canonicalize.qdq import integer_operators

    return sorted(
        name.removeprefix("relax.").removeprefix("nn.").removeprefix("image.") for name in integer_operators()
    )


def _operators_in(pattern: Any) -> list[str]:
    """Operators of the dialect that a pattern is made of."""
    from tvm_pulp.qnn.operator import PREFIX

    found: list[str] = []
    pending = [pattern]
    while pending:
        part = pending.pop()
        operator = getattr(part, "op", None)
        name = getattr(getattr(operator, "expr", None), "name", "")
        if name.startswith(PREFIX):
            found.append(name.removeprefix(PREFIX))
        pending += list(getattr(part, "args", None) or [])
    return found


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
# What exporters make of language models, and what becomes of it.
_LANGUAGE_MODELS = (
    (
        "decoder with caches in and out (`past_key_values.*`, `present.*`), symbolic lengths; float, static or dynamic "
        "QDQ, `MatMulNBits`",
        "generates tokens (`tvmc generate`)",
    ),
    (
        "decoder without caches (`use_cache=False`), encoders (BERT, ViT)",
        'a network of fixed length: `--input-shapes "input_ids:[1,16]"`',
    ),
    ("caches as inputs and outputs of fixed lengths", "a network; `--state` keeps the caches on the device"),
    (
        "decoder beside an encoder (T5, Whisper, BART): given its keys and values, its states or what it reads; a file "
        "of its own (`--encoder`), optimum's merged files",
        "generates tokens, the encoder once for a text; lengths of what is given are fixed by `--input-shapes`; float, "
        "static and dynamic QDQ, `torch.export`, PT2E",
    ),
    (
        "T5 with all operators quantized (`quantize_static` as it comes)",
        "refused: its positions are logarithms, of zero too, whose scale is infinite (onnxruntime does not run it "
        'either); quantize its products: `op_types_to_quantize=["MatMul", "Gemm"]`',
    ),
    (
        "merged graphs (`use_cache_branch`, `If`)",
        "generate tokens by the branch with caches, one at a time, prompts too",
    ),
    (
        "caches that drop tokens, as for a sliding window by configuration",
        "refused: export with a cache that keeps every token",
    ),
    (
        "scans (Mamba) that the exporter writes step by step, for a fixed length",
        "a network; written as `Loop` or `Scan`, refused: export with a fixed length, so that the loop is unrolled",
    ),
    (
        "PyTorch programs (`torch.export`, PT2E) with caches and symbolic lengths (`Dim.DYNAMIC`)",
        "generate tokens; with fixed lengths a network",
    ),
)
_AUTHORS = """`layer.inputs` holds the operands in the order given here, constants behind the data, and
`layer.attributes` the attributes: a record with these fields, and a mapping of plain values by these names. A star
stands for a rule of requantization: `requant*` is `requant` (its kind),
`requant_shift`, `requant_zero_point`, `requant_low`, `requant_high`, `requant_wide`, and its two tensors follow the
other operands (`tvm_pulp/qnn/requant.py`)."""


def operators_page(tested_decoders: str = "") -> str:
    """The page, for the engines of this package and the default SoC's cores; with a table of decoders, if given."""
    operators = dialect_operators(own_backends(), soc.load(soc.DEFAULT).software.kernels)
    return "\n".join(
        [_HEAD, *_formats(), *_language_models(), tested_decoders, *_table(operators), *_details(operators)]
    )


def _formats() -> Iterator[str]:
    yield "## Operators of model files\n"
    for group in format_operators():
        yield f"**{group.title}** ({len(group.names)}). {group.note}\n"
        yield ", ".join(f"`{name}`" for name in group.names) + "\n"
    yield "## Which of them compute with integers\n"
    yield f"{_INTEGERS}\n"
    yield ", ".join(f"`{name}`" for name in integer_between_quantizations()) + "\n"


def _language_models() -> Iterator[str]:
    yield "## Language models\n"
    yield "How decoders run stands in [docs/language_models.md](language_models.md).\n"
    yield "| export | what becomes of it |\n|---|---|"
    yield from (f"| {export} | {result} |" for export, result in _LANGUAGE_MODELS)
    yield ""


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
    for group in format_operators():
        print(f"{group.title} ({len(group.names)})", file=stream)
        print(_wrapped(group.note, width), file=stream)
        print(_wrapped(", ".join(group.names), width), file=stream)
    print("integers between dequantization and quantization", file=stream)
    print(_wrapped(", ".join(integer_between_quantizations()), width), file=stream)
    print("operators of the dialect, and who runs them", file=stream)
    for operator in dialect_operators(registry.backends(), soc.load(soc.DEFAULT).software.kernels):
        print(_wrapped(f"{operator.name}: {operator.summary}", width), file=stream)
        for run in operator.runs:
            print(_wrapped(f"{run.engine}, {run.how}: {run.limits}", width, 4), file=stream)


def _wrapped(words: str, width: int, indent: int = 2) -> str:
    return fill(words, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2), break_on_hyphens=False)
