"""The base of backends of convolution arrays: an option, passes before partitioning, the queue, the driver."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.soc.description import Engine
from tvm_pulp.uma.backend import Codegen, UMABackend
from tvm_pulp.uma.conv_array.modes import CONTEXTS, ModeCosts
from tvm_pulp.uma.conv_array.registers import word_fields


class ArrayBackend(UMABackend):
    """An array behind a control slave with as many contexts, whose driver's functions begin with the engine's name."""

    def why_not_carried(self, engine: Engine) -> str | None:
        if engine.queue >= CONTEXTS:
            return None
        key = f"engines.{self.target_name}.queue"
        return f"the engine holds {CONTEXTS} jobs, not {key} {engine.queue}: set it to {CONTEXTS}"

    def _register_requant(self) -> None:
        self._register_target_attr(
            "requant",
            "exact",
            ("exact", "native"),
            "rounding as the framework does it, on the cores, or folded with a proven deviation",
            inexact="native",
        )

    def _register_driver(
        self,
        files: Sequence[Path],
        job_structure: str,
        submit: str,
        job: Callable[..., dict[str, str]],
        changed_job: Callable[..., dict[str, str]],
        defines: tuple[str, ...] = (),
    ) -> None:
        """A driver that tells whole jobs, of a structure and by a function so called, or what changes in them."""
        name = self.target_name
        self._register_codegen(
            Codegen(
                files=tuple(files),
                header=f"{name}.h",
                job=job,
                job_structure=f"struct {name}_{job_structure}",
                submit=f"{name}_{submit}",
                changed_job=changed_job,
                changed_structure=f"struct {name}_changed_job",
                word_fields=self._word_fields,
                submit_changed=f"{name}_submit_changed",
                wait=f"{name}_wait_all",
                wait_job=f"{name}_wait",
                init=f"{name}_init",
                defines=defines,
            )
        )

    def _word_fields(self, description: Any) -> dict[str, str]:
        found = word_fields(description.job, description.words)
        return {f"{self.target_name.upper()}_{word}": text for word, text in found.items()}


def prepare_for_array(module: Any, unsigned_only: bool, channels: int, costs: ModeCosts) -> Any:
    """The network as an array of so many channels wants it; the passes need TVM, so they are loaded on demand."""
    from tvm_pulp.uma.conv_array.neighbouring_pixels import NeighbouringPixels
    from tvm_pulp.uma.conv_array.space_to_depth import SpaceToDepth
    from tvm_pulp.uma.conv_array.unsigned_activations import UnsignedActivations
    from tvm_pulp.uma.conv_array.word_pixels import WordPixels

    steps = (UnsignedActivations(unsigned_only), SpaceToDepth(channels), WordPixels(), NeighbouringPixels(costs))
    for step in steps:
        module = step.run(module)
    return module
