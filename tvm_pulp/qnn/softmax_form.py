"""The common part of the attributes of all forms of softmax."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from tvm_pulp.qnn.record import Attributes
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class SoftmaxAttributes(Attributes):
    """A form by its name; every form has a class of its own, which `from_values` finds."""

    # Forms with this class of attributes.
    forms: ClassVar[tuple[str, ...]] = ()

    form: str

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        form = values.get("form")
        kind = next((k for k in cls.__subclasses__() if form in k.forms), None) if cls is SoftmaxAttributes else cls
        if kind is None:
            raise TypeError(f"softmax has no form '{form}'")
        return super(SoftmaxAttributes, kind).from_values(values)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Those of all forms."""
        if cls is not SoftmaxAttributes:
            return super().names()
        return tuple(sorted({name for kind in cls.__subclasses__() for name in kind.names()}))
