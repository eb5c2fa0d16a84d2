"""Attributes of operators as records: what an operator needs to know beside its operands, with types and defaults.

Every operator states a class of fields. A record is read by its fields. It is also a mapping of plain values by flat
names, which is how Relax calls carry it and how operators and engines of other packages may read it: sequences are
lists there, a rule of requantization is one name per number (`requant`, `requant_shift`, ...), and fields without a
value are absent.
"""

import operator
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, make_dataclass
from functools import cache, cached_property
from typing import Any, Protocol, Self, TypeVar, get_args, get_origin, get_type_hints

from tvm_pulp.qnn.requant import Requant
from tvm_pulp.quick_records import quick_record

_Value = TypeVar("_Value")


class HasAttributes(Protocol):
    """A layer, or a call that is cut."""

    @property
    def attributes(self) -> Any: ...


class Attributes(Mapping[str, Any]):
    """The common part of all records. Their classes are `quick_record(kw_only=True, slots=False)`."""

    @classmethod
    def of(cls, holder: HasAttributes) -> Self:
        """Attributes of a layer that is known to have these."""
        found = holder.attributes
        assert isinstance(found, cls), f"{type(found).__name__} is no {cls.__name__}"
        return found

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The record of plain values by flat names; what is unknown, missing or of another type is a TypeError."""
        if isinstance(values, cls):
            return values
        readers, rest, stated = _readers(cls), dict(values), {}
        for name, read in readers.items():
            if read is _requant:
                stated[name] = _requant_of(rest, name)
            elif name in rest:
                stated[name] = _checked(cls, name, read, rest.pop(name))
        if rest:
            known = ", ".join(readers) or "none"
            raise TypeError(f"{cls.__name__} has no '{', '.join(sorted(rest))}'; its attributes: {known}")
        return cls(**stated)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all attributes in alphabetical order, rules of requantization with a star last."""
        plain = sorted(name for name, read in _readers(cls).items() if read is not _requant)
        return (*plain, *sorted(f"{name}*" for name, read in _readers(cls).items() if read is _requant))

    @cached_property
    def _flat(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in _readers(type(self)):
            value = getattr(self, name)
            if isinstance(value, Requant):
                found |= value.attributes(name)
            elif value is not None:
                found[name] = list(value) if isinstance(value, tuple) else value
        return found

    def __getitem__(self, name: str) -> Any:
        return self._flat[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._flat)

    def __len__(self) -> int:
        return len(self._flat)


@quick_record(kw_only=True, slots=False)
class NoAttributes(Attributes):
    """Operators that need none."""


@quick_record(kw_only=True, slots=False)
class Requantized(Attributes):
    """Operators with a rule of requantization, whose tensors follow the other operands."""

    requant: Requant = Requant()


@quick_record(kw_only=True, slots=False)
class PairAttributes(Requantized):
    """Operators of two data operands: the zero points of both."""

    zero_point_a: int = 0
    zero_point_b: int = 0


@quick_record(kw_only=True, slots=False)
class LinearAttributes(Requantized):
    """Products with a weight: the zero point of the input, whether there is a bias, and bits of sums."""

    zero_point: int = 0
    has_bias: bool = False
    sum_bits: int = 32


@quick_record(kw_only=True, slots=False)
class Rounded(Attributes):
    """Operators that round reals: type, range and zero point of the result."""

    dtype: str
    low: int
    high: int
    zero_point: int


def named_record(name: str, names: str) -> type[Attributes]:
    """A record of any values by names, one space apart; a star behind a name stands for a rule of requantization.

    So operators of other packages may state their attributes without types.
    """
    made: list[Any] = [
        (n.removesuffix("*"), *((Requant, Requant()) if n.endswith("*") else (Any, None))) for n in names.split()
    ]
    record: type[Attributes] = make_dataclass(
        f"{name}_attributes", made, bases=(Attributes,), kw_only=True, unsafe_hash=True
    )
    return record


def _requant_of(values: dict[str, Any], name: str) -> Requant:
    """A rule of requantization, as it is or of flat names, which are taken out."""
    if isinstance(values.get(name), Requant):
        rule: Requant = values.pop(name)
        return rule
    rule = Requant.of(values, name)
    for flat in (*Requant("pulp", dtype="int8").attributes(name),):
        values.pop(flat, None)
    return rule


def _checked(cls: type[Attributes], name: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{cls.__name__}: '{name}' is {value!r}: {error}") from None


@cache
def _readers(cls: type[Attributes]) -> dict[str, Callable[[Any], Any]]:
    """By field: a function that makes its value of a plain one."""
    kinds = get_type_hints(cls)
    return {field.name: _reader(kinds[field.name]) for field in fields(cls)}  # type: ignore[arg-type]  # dataclasses


def _reader(kind: Any) -> Callable[[Any], Any]:
    if kind is Requant:
        return _requant
    if kind == int | float:
        return _number
    if isinstance(kind, types.UnionType):
        inner = _reader(next(k for k in get_args(kind) if k is not type(None)))
        return lambda value: None if value is None else inner(value)
    if get_origin(kind) is tuple:
        return _tuple_reader(*get_args(kind))
    known: dict[Any, Callable[[Any], Any]] = {int: operator.index, float: float, bool: _truth, str: _text}
    return known.get(kind, lambda value: value)


def _tuple_reader(*kinds: Any) -> Callable[[Any], tuple[Any, ...]]:
    each = _reader(kinds[0])
    count = None if kinds[-1] is Ellipsis else len(kinds)

    def read(values: Any) -> tuple[Any, ...]:
        found = tuple(each(value) for value in values)
        if count not in (None, len(found)):
            raise ValueError(f"{count} numbers are needed")
        return found

    return read


def _requant(value: Requant) -> Requant:
    return value


def _number(value: Any) -> int | float:
    return operator.index(value) if hasattr(value, "__index__") else float(value)


def _truth(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError("it must be true or false")
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it must be a text")
    return str(value)
