"""Figures of a program on one device: outputs, cycles of each inference, cycles of each layer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.runner import declared_statistics

if TYPE_CHECKING:
    from tvm_pulp.app import App


@dataclass(frozen=True)
class Measurement:
    """One device's figures; None is not known."""

    device: str
    elf_sha256: str | None
    revision: str | None
    """Which simulator it was, where it can tell."""
    cycles: list[int] | None
    """Of every inference; the first has empty instruction caches."""
    layer_cycles: list[int] | None
    """Of the last inference."""
    outputs_sha256: str
    seconds: float
    outputs: Sequence[np.ndarray] = ()

    @property
    def warm_cycles(self) -> float | None:
        """The mean of all inferences but the first."""
        if not self.cycles:
            return None
        warm = self.cycles[1:] or self.cycles
        return sum(warm) / len(warm)


def hash_outputs(outputs: Sequence[np.ndarray]) -> str:
    """Of the bytes of all outputs in graph order."""
    digest = hashlib.sha256()
    for array in outputs:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def measure(
    app: "App", device: str, inputs: Sequence[np.ndarray], inferences: int, settings: Mapping[str, str]
) -> Measurement:
    """So many inferences from reset on one device."""
    runner = app.runner(device, None, settings)
    refuse_if(
        not runner.capabilities.cycles,
        f"--devices: {device} knows no cycles: choose devices that count them, such as iss and gvsoc",
    )
    runner.load(inputs)
    runner.run(inferences)
    outputs = runner.read_back()
    figures = declared_statistics(runner)
    program = runner.program()
    assert figures.cycles is not None and figures.cold_cycles is not None, "declared"
    return Measurement(
        device=device,
        elf_sha256=hashlib.sha256(program.read_bytes()).hexdigest() if program is not None else None,
        revision=runner.revision(),
        cycles=figures.inference_cycles or [figures.cold_cycles, figures.cycles],
        layer_cycles=figures.layer_cycles or None,
        outputs_sha256=hash_outputs(outputs),
        seconds=figures.run_seconds,
        outputs=outputs,
    )
