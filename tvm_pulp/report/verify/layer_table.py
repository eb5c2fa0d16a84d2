"""Findings of the comparison of a network's layers."""

from dataclasses import dataclass

from tvm_pulp.report.verify.deviation import Deviation


@dataclass(frozen=True)
class LayerRow:
    """One layer."""

    name: str
    operator: str
    engine: str
    # Of the model; empty where the layer's result is none of its tensors.
    tensor: str
    # Of what the program computed: from the layer's reference for the very operands that the program had.
    program: Deviation | None
    # Of the layer's reference for the framework's operands from the framework's result.
    arithmetic: Deviation | None
    # Of what the program computed from the framework's result: with all that the layers before it did.
    total: Deviation | None
    bound_lsb: float
    reference_bound_lsb: float

    @property
    def program_is_wrong(self) -> bool:
        return self.program is not None and not self.program.within(self.bound_lsb)

    @property
    def arithmetic_is_wrong(self) -> bool:
        return self.arithmetic is not None and not self.arithmetic.within(self.reference_bound_lsb)

    @property
    def wrong(self) -> bool:
        return self.program_is_wrong or self.arithmetic_is_wrong


@dataclass(frozen=True)
class LayerTable:
    """Layers in the order in which they run."""

    framework: str
    rows: tuple[LayerRow, ...]

    @property
    def first_wrong(self) -> str | None:
        """The name of the first layer that differs more than it may."""
        return next((row.name for row in self.rows if row.wrong), None)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Layers of which nothing could be compared."""
        return tuple(row.name for row in self.rows if row.program is None and row.total is None)

    @property
    def sentence(self) -> str:
        """The findings in one sentence."""
        wrong = next((row for row in self.rows if row.wrong), None)
        if wrong is None:
            compared = len(self.rows) - len(self.unseen)
            named = sum(bool(row.tensor) for row in self.rows)
            return (
                f"{compared} of {len(self.rows)} layers compared, none differs more than it may; {named} of them are "
                f"tensors of the model"
            )
        if wrong.program_is_wrong:
            assert wrong.program is not None
            apart, bound, what = wrong.program, wrong.bound_lsb, "the program computes something else for its operands"
        else:
            assert wrong.arithmetic is not None
            apart, bound = wrong.arithmetic, wrong.reference_bound_lsb
            what = f"it is not what {self.framework} computes for '{wrong.tensor}'"
        unit = f"{apart.text} of its largest value" if apart.is_float else f"{apart.text} LSB, it may by {bound:.0f}"
        return f"layer '{wrong.name}' ({wrong.operator} on {wrong.engine}) is the first that differs: by {unit}; {what}"
