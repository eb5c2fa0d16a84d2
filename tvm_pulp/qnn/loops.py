"""Builds one lowered PrimFunc statement by statement.

Operators of the dialect describe their kernels as plain loop nests. That keeps accumulators in registers and the
emitted C readable, and needs no lowering passes afterwards.

    loops = Loops()
    x, y = loops.buffer("x", spec), loops.buffer("y", out)
    with loops.parallel("i", 16) as i:
        loops.store(y, [i], x[i] + 1)
    function = loops.finish("add_one")
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tvm import tirx

from tvm_pulp.qnn.tensor_spec import TensorSpec

# A loop of so many iterations is worth sharing among cores. Kernels are generated before anybody knows how many cores
# will run them: it is enough for the clusters there are, and a single core loses nothing.
SHARED_ITERATIONS = 8

Expr = Any  # TVM's expression classes share no useful static type.


def i32(value: Any) -> Expr:
    """`value` as a 32-bit integer expression."""
    return tirx.const(value, "int32") if isinstance(value, int) else value.astype("int32")


def i64(value: Any) -> Expr:
    """`value` as a 64-bit integer expression."""
    return tirx.const(value, "int64") if isinstance(value, int) else value.astype("int64")


def less(value: Any, zero_point: int) -> Any:
    """A value without its zero point, in numpy or TIR."""
    return value - zero_point if zero_point else value


def call(name: str, *arguments: Any, dtype: str = "int32") -> Expr:
    """Call a helper of the C runtime (`tvm_pulp_<name>`) that has no side effect."""
    values = [i32(a) if isinstance(a, int) else a for a in arguments]
    return tirx.call_pure_extern(dtype, f"tvm_pulp_{name}", *values)


def unravel(place: Any, shape: Sequence[int]) -> list[Any]:
    """Indices of a flat position in a row-major tensor."""
    indices: list[Any] = []
    for axis in reversed(range(len(shape))):
        if shape[axis] <= 1:  # an empty axis has no position; its loop never runs
            indices.append(i32(0))
        elif all(size == 1 for size in shape[:axis]):
            indices.append(place)
        else:
            indices.append(tirx.truncmod(place, i32(shape[axis])))
            place = tirx.truncdiv(place, i32(shape[axis]))
    return indices[::-1]


class Scalar:
    """A mutable local variable."""

    def __init__(self, loops: "Loops", buffer: Any) -> None:
        self._loops, self._buffer = loops, buffer

    @property
    def value(self) -> Expr:
        return self._buffer[0]

    def set(self, value: Any) -> None:
        self._loops.store(self._buffer, [0], value)

    def add_product(self, left: Any, right: Any) -> None:
        """Add a product of 32-bit values; a sum of 64 bits multiplies in 64 bits."""
        is_wide = str(self._buffer.dtype) == "int64"
        self.set(self.value + (i64(left) * i64(right) if is_wide else left * right))


class Loops:
    """A loop nest under construction."""

    def __init__(self) -> None:
        self._blocks: list[list[Any]] = [[]]
        self._parameters: list[Any] = []
        self._names: dict[str, int] = {}

    def _unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else f"{name}_{count}"

    def buffer(self, name: str, spec: TensorSpec) -> Any:
        """A parameter: a tensor in memory."""
        # A zero-dimensional tensor is stored as one element.
        variable = tirx.decl_buffer(spec.shape or (1,), spec.dtype, self._unique(name))
        self._parameters.append(variable)
        return variable

    def buffers(self, names: str, specs: Iterable[TensorSpec]) -> list[Any]:
        """Parameters by names, one space apart; there may be more names than tensors."""
        return [self.buffer(name, spec) for name, spec in zip(names.split(), specs, strict=False)]

    @contextmanager
    def loop(self, name: str, extent: Any, *, parallel: bool = False) -> Iterator[Any]:
        variable = tirx.Var(self._unique(name), "int32")
        kind = tirx.ForKind.PARALLEL if parallel else tirx.ForKind.SERIAL
        self._blocks.append([])
        yield variable
        self._append(tirx.For(variable, i32(0), i32(extent), kind, self._close()))

    def parallel(self, name: str, extent: Any) -> Any:
        """A loop whose iterations are independent: the cores share it. Outermost only."""
        return self.loop(name, extent, parallel=True)

    @contextmanager
    def nest(self, names: Sequence[str], extents: Sequence[int]) -> Iterator[list[Any]]:
        """Nested loops over a box."""
        if not names:
            yield []
            return
        with self.loop(names[0], extents[0]) as first, self.nest(names[1:], extents[1:]) as rest:
            yield [first, *rest]

    @contextmanager
    def when(self, condition: Any) -> Iterator[None]:
        self._blocks.append([])
        yield
        self._append(tirx.IfThenElse(condition, self._close(), None))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other branch of the `when` just before."""
        first = self._blocks[-1].pop()
        self._blocks.append([])
        yield
        self._append(tirx.IfThenElse(first.condition, first.then_case, self._close()))

    def bind(self, name: str, value: Any) -> Any:
        """A named value that never changes; constants and variables need no other name."""
        if isinstance(value, tirx.IntImm | tirx.Var):
            return value
        variable = tirx.Var(self._unique(name), value.ty)
        self._append(tirx.Bind(variable, value))
        return variable

    def unravel(self, name: str, place: Any, shape: Sequence[int]) -> list[Any]:
        """Indices of a flat position, each under a name."""
        return [self.bind(name, index) for index in unravel(place, shape)]

    def split(self, place: Any, count: int, outer: str, inner: str) -> tuple[Any, Any]:
        """A position in rows of `count` under two names: the row, and the place in it."""
        size = i32(count)
        return self.bind(outer, tirx.truncdiv(place, size)), self.bind(inner, tirx.truncmod(place, size))

    def local(self, name: str, count: int, dtype: str = "int32") -> Any:
        """A few variables in a row, on the stack."""
        buffer = tirx.decl_buffer((count,), dtype, self._unique(name), scope="local")
        self._append(tirx.AllocBuffer(buffer))
        return buffer

    def scalar(self, name: str, value: Any, dtype: str = "int32") -> Scalar:
        scalar = Scalar(self, self.local(name, 1, dtype))
        scalar.set(tirx.const(value, dtype) if isinstance(value, int) else value)
        return scalar

    def sum(self, name: str, index: str, extent: Any, term: Callable[[Any], Any]) -> Scalar:
        """A local variable with the sum of a term over a loop."""
        total = self.scalar(name, 0)
        with self.loop(index, extent) as i:
            total.set(total.value + term(i))
        return total

    def accumulator(self, value: Any, attributes: object) -> Scalar:
        """A sum that begins with `value`; attribute `sum_bits` says how wide it is."""
        dtype = f"int{getattr(attributes, 'sum_bits', 32)}"
        return self.scalar("acc", value if isinstance(value, int) else value.astype(dtype), dtype)

    def store(self, buffer: Any, indices: Sequence[Any], value: Any) -> None:
        places = [i32(i) if isinstance(i, int) else i for i in indices] or [i32(0)]
        self._append(tirx.BufferStore(buffer, value, places))

    def finish(self, name: str) -> Any:
        function = tirx.PrimFunc(self._parameters, self._close())
        return function.with_attr("global_symbol", name).with_attr("tirx.noalias", True)

    def _append(self, statement: Any) -> None:
        self._blocks[-1].append(statement)

    def _close(self) -> Any:
        block = self._blocks.pop()
        return block[0] if len(block) == 1 else tirx.SeqStmt(block)
