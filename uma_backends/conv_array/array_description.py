"""A job of an array as the driver knows it."""

from dataclasses import dataclass, replace
from typing import Any, Self

from tvm_pulp.uma import Changes, Pointer

# The first registers of a job, which hold addresses.
POINTERS = 6


@dataclass(frozen=True)
class ArrayDescription:
    """A job as the driver knows it, besides addresses; an engine adds its registers as `words`.

    `array`: whatever they depend on besides the job.
    """

    job: Any
    weights: Pointer
    input: Pointer
    output: Pointer
    scale: Pointer | None
    shift: Pointer | None
    bias: Pointer | None
    array: Any = None

    def behind(self, **later: int) -> Self:
        """The same job with operands that begin so many bytes later."""
        found = {name: getattr(self, name) for name in later}
        return replace(self, **{name: Pointer(p.operand, p.offset + later[name]) for name, p in found.items() if p})

    @property
    def words(self) -> tuple[int, ...]:
        """All job registers; with all addresses zero those of pointers hold what must be added to them."""
        raise NotImplementedError

    def changes(self, before: "ArrayDescription") -> Changes | None:
        """Words behind the pointers, by number, that differ from those of another job; None where all are told."""
        pairs = zip(before.words[POINTERS:], self.words[POINTERS:], strict=True)
        found = tuple((number, new) for number, (old, new) in enumerate(pairs) if old != new)
        changes = Changes(found, POINTERS + 1 + 2 * len(found))
        return changes if changes.words <= len(self.words) else None
