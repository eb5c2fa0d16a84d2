"""Kernels of a network as C functions. Kernels with the same text exist once."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.c_statement import Statements, stored_buffers
from tvm_pulp.codegen.model_text import header_text, safe
from tvm_pulp.planning.lowering import unused_name
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.uma.cpu_form import FUNCTION, KernelCall
from tvm_pulp.uma.recipe import Kernel

# Functions of the headers of c_runtime/include/tvm_pulp, behind `tvm_pulp_`; float_functions.h includes float.h,
# and power.h both.
_FUNCTIONS = {
    "tvm_pulp/float_functions.h": r"(fn?ma|fmax|fmin|divide|quantize|exp|exp_below|(inline_)?(sigmoid|tanh|erf)"
    r"|r?sqrt|float_of_int64)\(",
    "tvm_pulp/power.h": r"power\(",
    "tvm_pulp/softmax_tflite.h": "softmax_",
    "tvm_pulp/fixed_point16.h": r"(sigmoid|tanh)16\(",
    "tvm_pulp/real.h": r"(round_even|round_within|real_of|inverse_root)\(",
}


@dataclass
class KernelSource:
    """One C function and who calls it."""

    name: str
    parameters: list[str]
    body: list[str]
    kernel: Kernel
    users: list[str] = field(default_factory=list)
    # Functions that only it calls.
    before: list[str] = field(default_factory=list)
    # Of the kernels that it calls; none: its body is all there is.
    header: str = ""

    @property
    def prototype(self) -> str:
        return f"void {self.name}({', '.join(self.parameters)})"


class Kernels:
    """All kernels of a module. `shared_loops`: several cores call a kernel together and share its outermost loop."""

    def __init__(self, module: str, *, shared_loops: bool) -> None:
        self.module, self._shared_loops = module, shared_loops
        self._by_key: dict[Any, KernelSource] = {}
        self._by_text: dict[tuple[str, ...], KernelSource] = {}
        self.math_used: set[str] = set()

    @property
    def sources(self) -> list[KernelSource]:
        return list(self._by_text.values())

    @property
    def headers(self) -> list[str]:
        """Headers of the kernels that are called."""
        return sorted({source.header for source in self.sources if source.header})

    def add(self, kernel: Kernel, user: str) -> KernelSource:
        """The C function of a kernel, made if it is new."""
        specs = tuple(o.spec for o in kernel.operands)
        key: Any = (kernel.operator, json.dumps(dict(kernel.attributes), sort_keys=True), specs)
        key = key if kernel.function is None else id(kernel.function)
        if key not in self._by_key:
            self._by_key[key] = self._print(kernel)
        source = self._by_key[key]
        if user not in source.users:
            source.users.append(user)
        return source

    def add_call(self, kernel: Kernel, call: KernelCall, user: str) -> KernelSource:
        """The C function around a call of a CPU's kernels, made if it is new; the kernel says what it computes."""
        source = self._source(kernel, call.parameters, call.body, call.before, call.header)
        source.users.append(user)
        return source

    def _print(self, kernel: Kernel) -> KernelSource:
        parameters, body, used = print_kernel(kernel, shared_loops=self._shared_loops)
        self.math_used |= used
        return self._source(kernel, parameters, body)

    def _source(
        self, kernel: Kernel, parameters: list[str], body: list[str], before: Sequence[str] = (), header: str = ""
    ) -> KernelSource:
        """The function with this text."""
        text = (*parameters, "", *before, "", *body)
        if text not in self._by_text:
            stem = f"tvmgen_{self.module}_{kernel.operator.removeprefix('tir.')}"
            name = unused_name(stem, {source.name for source in self.sources})
            before, body = ([line.replace(FUNCTION, name) for line in part] for part in (before, body))
            self._by_text[text] = KernelSource(name, parameters, body, kernel, before=before, header=header)
        return self._by_text[text]


def print_kernel(kernel: Kernel, *, shared_loops: bool) -> tuple[list[str], list[str], set[str]]:
    """Parameter declarations and body lines of one kernel."""
    function = kernel.function
    if function is None:
        specs = [o.spec for o in kernel.inputs]
        operator = OPERATORS[kernel.operator]
        function = operator.lower(operator.stated(kernel.attributes), specs, kernel.outputs[0].spec)
        names = {p: p.name for p in function.params}
    else:
        # TVM names these after graph variables; neutral names let equal kernels meet.
        counts = (len(kernel.inputs), len(kernel.outputs), len(kernel.workspaces))
        labels = [f"{n}{i}" for n, count in zip(("x", "y", "space"), counts, strict=True) for i in range(count)]
        names = dict(zip(function.params, labels, strict=True))
    written = stored_buffers(function.body)
    statements = Statements(names, shared_loops=shared_loops and kernel.parallel)
    body = statements.print(function.body)
    if shared_loops and not kernel.parallel:
        body = ["  if (core != 0) return;", "  (void)cores;", *body]
    parameters = [f"{'' if p in written else 'const '}{c_type(p.dtype)} *restrict {names[p]}" for p in function.params]
    if shared_loops:
        parameters += ["int32_t core", "int32_t cores"]
    text = "\n".join(body)
    unused = [n for n in names.values() if not re.search(rf"\b{n}\b", text)]
    return parameters, [*(f"  (void){n};" for n in unused), *body], statements.expressions.math_used


def header_file(kernels: Kernels) -> str:
    about = "/* Kernels of the network, one per kind of layer. */"
    includes = ["#include <stdbool.h>", "#include <stdint.h>", ""]
    return header_text([about], f"{kernels.module}_KERNELS", [*includes, *(f"{k.prototype};" for k in kernels.sources)])


def source_file(kernels: Kernels) -> str:
    text = "\n".join(line for k in kernels.sources for line in (*k.before, *k.body))
    used = [header for header, functions in _FUNCTIONS.items() if re.search(rf"\btvm_pulp_{functions}", text)]
    headers = ["tvm_pulp/integer.h", *used, *(["tvm_pulp_math.h"] if kernels.math_used else [])]
    headers += kernels.headers
    parts = [f'#include "{kernels.module}_kernels.h"', "", *(f'#include "{header}"' for header in headers), ""]
    for kernel in kernels.sources:
        parts += [*kernel.before, *_comment(kernel), f"{kernel.prototype} {{", *kernel.body, "}", ""]
    return "\n".join(parts)


def _comment(source: KernelSource) -> list[str]:
    kernel = source.kernel
    shapes = ", ".join(str(o.spec) for o in kernel.inputs)
    results = ", ".join(str(o.spec) for o in kernel.outputs)
    count, specs = 0, [i.spec for i in kernel.inputs]
    if kernel.operator in OPERATORS:
        operator = OPERATORS[kernel.operator]
        count = operator.macs(operator.stated(kernel.attributes), specs, kernel.outputs[0].spec)
    macs = f" {count} MAC." if count else ""
    users = source.users
    more = f" and {len(users) - 4} more" if len(users) > 4 else ""
    return [
        f"/* {safe(kernel.operator)}: {safe(shapes, 200)} -> {safe(results)}.{macs}",
        f" * Layers: {safe(', '.join(users[:4]), 200)}{more}. */",
    ]
