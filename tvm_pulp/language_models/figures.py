"""Figures of a generation: tokens a second, cycles and energy of the prompt and of every token after it."""

from dataclasses import dataclass

from tvm_pulp.language_models.session import Generated
from tvm_pulp.report.energy import Modelled, counted_energy, energy_text
from tvm_pulp.soc.description import Soc


@dataclass(frozen=True)
class TokenPhase:
    """Tokens of one phase; energy is None where the SoC does not state its coefficients."""

    tokens: int
    cycles: int
    energy: Modelled | None
    mhz: float
    # Of what `cycles` are counted instead, where there is no model of time.
    unit: str = "cycles"

    @property
    def tokens_per_second(self) -> float:
        return self.tokens * self.mhz * 1e6 / max(1, self.cycles)

    @property
    def line(self) -> str:
        if self.unit != "cycles":
            rate = f", {self.tokens * 1e6 / max(1, self.cycles):.0f} tokens/s" if self.unit == "microseconds" else ""
            return f"{self.tokens} tokens, {self.cycles} {self.unit}, {self.cycles / self.tokens:.0f} a token{rate}"
        each = ""
        if self.energy is not None:
            each = f", {energy_text(self.energy.microjoules / self.tokens, self.energy.spread)} a token (modelled)"
        return (
            f"{self.tokens} tokens, {self.cycles} cycles, {self.cycles / self.tokens:.0f} a token, "
            f"{self.tokens_per_second:.0f} tokens/s at {self.mhz:.0f} MHz{each}"
        )


def phases(
    soc: Soc, prompt: int, first: Generated, whole: Generated, unit: str = "cycles"
) -> tuple[TokenPhase, TokenPhase | None]:
    """The prompt, and what follows. `first` is a run that ends with the first token: the rest is the difference."""
    in_cycles, steps = unit == "cycles", whole.step_cycles[:-1]
    mhz = soc.clock.cluster_mhz if in_cycles else 0
    # An encoder that ran before is counted with it.
    alone = in_cycles and first.encode_cycles is None
    energy = counted_energy(soc, first.counters, None, first.prefill_cycles) if alone else None
    prefill = TokenPhase(prompt, first.prefill_cycles, energy, mhz, unit)
    if not steps:
        return prefill, None
    energy = counted_energy(soc, whole.counters, first.counters, sum(steps)) if in_cycles else None
    return prefill, TokenPhase(len(steps), sum(steps), energy, mhz, unit)
