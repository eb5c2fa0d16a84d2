"""Forms that a CPU's kernels offer for a layer, and why others are not offered; what was asked once is remembered."""

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.uma.cpu_form import CpuForm, KernelCall, NotOffered
from tvm_pulp.uma.registry import cpu_forms

# The form that every layer has: C that is generated from the operator.
LOOPS = "generated loops"


@dataclass(frozen=True)
class KernelOffer:
    """A form with its call, or with the reason why there is none."""

    form: CpuForm
    call: KernelCall | None
    reason: str = ""


class KernelOffers:
    """Forms by layer, for one CPU."""

    def __init__(self, cpu: Cpu | None) -> None:
        self._cpu = cpu
        self._known: WeakKeyDictionary[Layer, dict[str, KernelOffer]] = WeakKeyDictionary()

    def of(self, layer: Layer) -> Iterator[KernelOffer]:
        """All forms in the order in which they are asked."""
        if self._cpu is None or not self._cpu.kernels:
            return
        known = self._known.setdefault(layer, {})
        for form in cpu_forms(layer.operator):
            if form.name not in known:
                known[form.name] = self._asked(form, layer, self._cpu)
            yield known[form.name]

    def why_none(self, layer: Layer) -> str | None:
        """The reason why no form is asked; None where some are."""
        if self._cpu is None or not self._cpu.kernels:
            return "the CPU has no kernels"
        return None if cpu_forms(layer.operator) else f"no kernel computes {layer.operator}"

    def call(self, layer: Layer, form: str) -> KernelCall | None:
        """The call of a form; None where loops are generated. Raises KeyError where the form is not offered."""
        if form == LOOPS:
            return None
        found = next((offer.call for offer in self.of(layer) if offer.form.name == form), None)
        if found is None:
            raise KeyError(f"'{form}' is not offered for layer '{layer.name}'")
        return found

    def first(self, layer: Layer) -> str:
        """The best form that takes no flash beyond what is needed."""
        made = (o.form.name for o in self.of(layer) if not o.form.takes_spare_flash and o.call is not None)
        return next(made, LOOPS)

    @staticmethod
    def _asked(form: CpuForm, layer: Layer, cpu: Cpu) -> KernelOffer:
        try:
            return KernelOffer(form, form.call(layer, cpu))
        except NotOffered as reason:
            return KernelOffer(form, None, str(reason))
