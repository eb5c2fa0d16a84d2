"""The NE16 backend: patterns, options, strategies, code generation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.soc.cost_model import CostModel
from uma_backends.conv_array import POINTERS, ArrayBackend, Members, prepare_for_array
from uma_backends.conv_array.modes import ModeCosts
from uma_backends.ne16.geometry import INPUT_BYTES, Mode, input_subtile
from uma_backends.ne16.job import Ne16Job
from uma_backends.ne16.ne16_form import ENGINE, Ne16Context
from uma_backends.ne16.registers import WORD_NAMES
from uma_backends.ne16.strategy import conv2d_strategy, dense_strategy
from uma_backends.ne16.timing import Ne16Timing, job_cycles

_FOLDER = Path(__file__).parent


class Ne16Backend(ArrayBackend):
    """NE16 of GAP9 and PULP-open.

    Hardware: 3x3 columns, 1x1, 3x3 and depthwise 3x3 convolutions on HWC tensors, one row in linear mode, weights of 2
    to 8 bits.
    Memories: everything in L1; weights come there by DMA, slices of output channels at a time.
    Simulated: arithmetic exactly, time by the closed formulas of the public model.
    """

    target_name = ENGINE
    default_soc = "pulp-open-ne16"

    def __init__(self) -> None:
        super().__init__()
        self._register_requant()
        self._register_relax_pass("pre_partition", _prepare, for_soc=True)
        self._register_layers(conv2d_strategy, dense_strategy, dense_strategy)
        files = [_FOLDER / "driver" / name for name in ("ne16.c", "ne16.h", "ne16_platform.h")]
        members = Members(
            pointers=[f"words[NE16_{name}]" for name in WORD_NAMES[:POINTERS]],
            changed_pointers=[f"addresses[{i}]" for i in range(POINTERS)],
            words="words",
            register="NE16_REGISTER",
        )
        self._register_driver(files, "job", "submit", members)

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> Ne16Context:
        timing = Ne16Timing.of(soc.engines[ENGINE].parameters)
        return Ne16Context(options["requant"] == "native", CostModel(soc, cores), True, timing)


def _prepare(module: Any, soc: Any, _options: Mapping[str, Any]) -> Any:
    costs = pixel_costs(Ne16Timing.of(soc.engines[ENGINE].parameters))
    return prepare_for_array(module, True, INPUT_BYTES, costs)


def pixel_costs(timing: Ne16Timing) -> ModeCosts:
    """Costs by which pixels are put together."""

    def cycles(mode: Mode, channels: int, outputs: int, height: int, width: int) -> int:
        return job_cycles(Ne16Job(mode, channels, outputs, height, width), timing)

    return ModeCosts(input_subtile, cycles)
