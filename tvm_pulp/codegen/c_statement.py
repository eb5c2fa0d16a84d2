"""TIR statements as C text: loops, locals, stores. One function in, one C body out."""

import math
import re
from collections import Counter
from itertools import zip_longest
from typing import Any

import tvm_ffi
from tvm import tirx

from tvm_pulp.codegen.c_expression import Expressions, c_type, is_scalar_buffer
from tvm_pulp.codegen.model_text import c_identifier
from tvm_pulp.planning.lowering import unused_name

_INDENT = "  "


class Statements:
    """Prints the body of one PrimFunc.

    With `shared_loops`, parallel loops are split among the cores that call the function together.
    """

    def __init__(self, names: dict[Any, str], *, shared_loops: bool) -> None:
        self._names = dict(names)
        self._taken = set(names.values())
        self._shared_loops = shared_loops
        self.expressions = Expressions(self._name)
        self._lines: list[str] = []
        self._depth = 1
        # Names whose declaration is one line and may turn out to be unused.
        self._droppable: set[str] = set()

    def print(self, body: Any) -> list[str]:
        self._statement(body)
        return drop_unused(self._lines, self._droppable)

    def _name(self, variable: Any) -> str:
        if variable not in self._names:
            # TVM calls temporaries after graph values, and those after whatever a model file says.
            base = c_identifier(variable.name).lstrip("0123456789") or "value"
            self._names[variable] = unused_name(base, self._taken)
            self._taken.add(self._names[variable])
        return self._names[variable]

    def line(self, text: str) -> None:
        self._lines.append(f"{_INDENT * self._depth}{text}" if text else "")

    def _statement(self, s: Any) -> None:
        handler = getattr(self, f"_{type(s).__name__.lower()}", None)
        if handler is None:
            raise TypeError(f"no C form for statement {type(s).__name__}: {s}")
        handler(s)

    def _seqstmt(self, s: Any) -> None:
        statements = iter(zip_longest(s.seq, [*s.seq][1:]))
        for current, following in statements:
            is_scalar = isinstance(current, tirx.AllocBuffer) and is_scalar_buffer(current.buffer)
            if is_scalar and isinstance(following, tirx.BufferStore) and following.buffer.same_as(current.buffer):
                # A declaration and its first value are one line.
                value = self.expressions.text(following.value)
                self.line(f"{c_type(current.buffer.dtype)} {self._name(current.buffer)} = {value};")
                next(statements)
            else:
                self._statement(current)

    def _block(self, head: str, body: Any) -> None:
        self.line(f"{head} {{")
        self._inside(body)

    def _inside(self, body: Any) -> None:
        self._depth += 1
        self._statement(body)
        self._depth -= 1
        self.line("}")

    def _for(self, s: Any) -> None:
        variable, extent, first = self._name(s.loop_var), *map(self.expressions.text, (s.extent, s.min))
        if s.kind == tirx.ForKind.PARALLEL and self._shared_loops:
            self.line(f"const int32_t {variable}_share = ({extent} + cores - 1) / cores;")
            self.line(f"const int32_t {variable}_end = tvm_pulp_min({extent}, (core + 1) * {variable}_share);")
            head = f"for (int32_t {variable} = core * {variable}_share; {variable} < {variable}_end; ++{variable})"
        else:
            end = extent if first == "0" else self.expressions.text(s.min + s.extent)
            head = f"for ({c_type(s.loop_var.ty.dtype)} {variable} = {first}; {variable} < {end}; ++{variable})"
        self._block(head, s.body)

    def _ifthenelse(self, s: Any) -> None:
        self._block(f"if ({self.expressions.text(s.condition)})", s.then_case)
        if s.else_case is not None:
            self._lines[-1] += " else {"
            self._inside(s.else_case)

    def _bind(self, s: Any) -> None:
        name = self._name(s.var)
        self._droppable.add(name)
        self.line(f"const {c_type(s.var.ty.dtype)} {name} = {self.expressions.text(s.value)};")

    def _allocbuffer(self, s: Any) -> None:
        # Reductions set their first element inside the loop, which compilers cannot see: start from zero.
        value = " = 0" if is_scalar_buffer(s.buffer) else f"[{math.prod(map(int, s.buffer.shape))}] = {{0}}"
        self.line(f"{c_type(s.buffer.dtype)} {self._name(s.buffer)}{value};")

    def _declbuffer(self, s: Any) -> None:
        """Another view of a buffer's bytes: the same pointer, cast where the type differs."""
        source = s.data.args[0]
        name = self._name(source)
        if str(source.dtype) == str(s.buffer.dtype):
            self._names[s.buffer] = name
        else:
            kind = c_type(s.buffer.dtype)
            self._droppable.add(self._name(s.buffer))
            self.line(f"{kind} *{self._name(s.buffer)} = ({kind} *){name};")

    def _bufferstore(self, s: Any) -> None:
        target = self._name(s.buffer)
        if not is_scalar_buffer(s.buffer):
            target += f"[{self.expressions.index(s.buffer, s.indices)}]"
        self.line(f"{target} = {self.expressions.text(s.value)};")

    def _attrstmt(self, s: Any) -> None:
        self._statement(s.body)

    def _evaluate(self, s: Any) -> None:
        if type(s.value).__name__ != "IntImm":
            self.line(f"{self.expressions.text(s.value)};")


def drop_unused(lines: list[str], names: set[str]) -> list[str]:
    """Remove declarations of names that no other line mentions."""
    counts = Counter(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))
    unused = [re.compile(rf"\b{n} = ") for n in names if counts[n] == 1]
    kept = [line for line in lines if not any(pattern.search(line) for pattern in unused)]
    return lines if len(kept) == len(lines) else drop_unused(kept, names)


def stored_buffers(body: Any) -> set[Any]:
    """Buffers that a body writes."""
    stored: set[Any] = set()
    tvm_ffi.structural_walk(body, (tirx.BufferStore, lambda s: stored.add(s.buffer)))
    views: list[Any] = []
    tvm_ffi.structural_walk(body, (tirx.DeclBuffer, views.append))
    for view in views:
        if view.buffer in stored:
            stored.add(view.data.args[0])
    return stored
