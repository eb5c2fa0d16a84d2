"""TIR statements as C text: loops, locals, stores. One function in, one C body out."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import tvm_ffi
from tvm import tirx

from tvm_pulp.codegen.c_expression import Expressions, c_type, is_scalar_buffer

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
        # Prints `Evaluate` statements; the network's main overrides it.
        self.on_call: Callable[[Any], list[str]] | None = None

    def print(self, body: Any) -> list[str]:
        self._statement(body)
        return drop_unused(self._lines, self._droppable)

    def _name(self, variable: Any) -> str:
        if variable not in self._names:
            self._names[variable] = self._fresh(variable.name)
        return self._names[variable]

    def _fresh(self, text: str) -> str:
        # TVM calls temporaries after graph values, and those after whatever a model file says.
        base = re.sub(r"\W+", "_", text, flags=re.ASCII).lstrip("0123456789") or "value"
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def line(self, text: str) -> None:
        self._lines.append(f"{_INDENT * self._depth}{text}" if text else "")

    def _statement(self, s: Any) -> None:
        handler = getattr(self, f"_{type(s).__name__.lower()}", None)
        if handler is None:
            raise TypeError(f"no C form for statement {type(s).__name__}: {s}")
        handler(s)

    def _seqstmt(self, s: Any) -> None:
        statements = list(s.seq)
        position = 0
        while position < len(statements):
            current = statements[position]
            following: Any = statements[position + 1] if position + 1 < len(statements) else None
            if _is_scalar(current) and _stores_to(following, current.buffer):
                # A declaration and its first value are one line.
                value = self.expressions.text(following.value)
                self.line(f"{c_type(current.buffer.dtype)} {self._name(current.buffer)} = {value};")
                position += 2
                continue
            self._statement(current)
            position += 1

    def _block(self, head: str, body: Any) -> None:
        self.line(f"{head} {{")
        self._depth += 1
        self._statement(body)
        self._depth -= 1
        self.line("}")

    def _for(self, s: Any) -> None:
        variable, extent = self._name(s.loop_var), self.expressions.text(s.extent)
        first = self.expressions.text(s.min)
        if s.kind == tirx.ForKind.PARALLEL and self._shared_loops:
            self.line(f"const int32_t {variable}_share = ({extent} + cores - 1) / cores;")
            self.line(f"const int32_t {variable}_end = tvm_pulp_min({extent}, (core + 1) * {variable}_share);")
            head = f"for (int32_t {variable} = core * {variable}_share; {variable} < {variable}_end; ++{variable})"
        else:
            end = extent if first == "0" else self.expressions.text(s.min + s.extent)
            dtype = c_type(s.loop_var.ty.dtype)
            head = f"for ({dtype} {variable} = {first}; {variable} < {end}; ++{variable})"
        self._block(head, s.body)

    def _ifthenelse(self, s: Any) -> None:
        self._block(f"if ({self.expressions.text(s.condition)})", s.then_case)
        if s.else_case is not None:
            self._lines[-1] += " else {"
            self._depth += 1
            self._statement(s.else_case)
            self._depth -= 1
            self.line("}")

    def _bind(self, s: Any) -> None:
        name = self._name(s.var)
        self._droppable.add(name)
        self.line(f"const {c_type(s.var.ty.dtype)} {name} = {self.expressions.text(s.value)};")

    def _allocbuffer(self, s: Any) -> None:
        size = 1
        for extent in s.buffer.shape:
            size *= int(extent)
        # Reductions set their first element inside the loop, which compilers cannot see: start from zero.
        value = " = 0" if is_scalar_buffer(s.buffer) else f"[{size}] = {{0}}"
        self.line(f"{c_type(s.buffer.dtype)} {self._name(s.buffer)}{value};")

    def _declbuffer(self, s: Any) -> None:
        """Another view of a buffer's bytes: the same pointer, cast where the type differs."""
        source = _data_source(s)
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
        if self.on_call is not None:
            for text in self.on_call(s.value):
                self.line(text)
        elif type(s.value).__name__ != "IntImm":
            self.line(f"{self.expressions.text(s.value)};")


def _is_scalar(s: Any) -> bool:
    return type(s).__name__ == "AllocBuffer" and is_scalar_buffer(s.buffer)


def _stores_to(s: Any, buffer: Any) -> bool:
    return type(s).__name__ == "BufferStore" and s.buffer.same_as(buffer)


def _data_source(s: Any) -> Any:
    """The buffer whose data a DeclBuffer names."""
    return s.data.args[0]


def drop_unused(lines: list[str], names: set[str]) -> list[str]:
    """Remove declarations of names that no other line mentions."""
    while True:
        text = "\n".join(lines)
        counts = Counter(re.findall(r"[A-Za-z_]\w*", text))
        unused = {n for n in names if counts[n] == 1}
        kept = [line for line in lines if not any(re.search(rf"\b{n} = ", line) for n in unused)]
        if len(kept) == len(lines):
            return lines
        lines = kept


def stored_buffers(body: Any) -> set[Any]:
    """Buffers that a body writes."""
    stored: set[Any] = set()
    tvm_ffi.structural_walk(body, (tirx.BufferStore, lambda s: stored.add(s.buffer)))
    views: list[Any] = []
    tvm_ffi.structural_walk(body, (tirx.DeclBuffer, views.append))
    for view in views:
        if view.buffer in stored:
            stored.add(_data_source(view))
    return stored


__all__: Sequence[str] = ["Statements", "stored_buffers"]
