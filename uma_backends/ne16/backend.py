"""The NE16 backend: patterns, options, strategies, code generation."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.planning.tiling.forms.conv_array import (
    POINTERS,
    average_pool_strategy,
    pair_sum_patterns,
    pair_sum_strategy,
    pointers,
    summed_patterns,
    word_text,
)
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import Changes, pattern_of
from tvm_pulp.uma.conv_array.array_backend import ArrayBackend, prepare_for_array
from tvm_pulp.uma.conv_array.modes import ModeCosts
from uma_backends.ne16.geometry import INPUT_BYTES, Mode, input_subtile
from uma_backends.ne16.job import ArrayJob
from uma_backends.ne16.ne16_form import ENGINE, Context, Description
from uma_backends.ne16.registers import WORD_NAMES
from uma_backends.ne16.strategy import (
    conv2d_strategy,
    conv2d_summed_strategy,
    dense_strategy,
    dense_summed_strategy,
)
from uma_backends.ne16.timing import Timing, job_cycles

_FOLDER = Path(__file__).parent
_WORDS = [f"NE16_{name}" for name in WORD_NAMES]


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
        strategies = (("conv2d", conv2d_strategy), ("dense", dense_strategy), ("avg_pool", average_pool_strategy))
        for name, strategy in strategies:
            self._register_pattern(name, lambda name=name: pattern_of(name))
            self._register_operator_strategy(name, strategy)
        for name, pattern in pair_sum_patterns():
            self._register_pattern(name, pattern)
            self._register_operator_strategy(name, pair_sum_strategy)
        for operator, summed in (("conv2d", conv2d_summed_strategy), ("dense", dense_summed_strategy)):
            for name, pattern in summed_patterns([operator]):
                self._register_pattern(name, pattern)
                self._register_operator_strategy(name, summed)
        files = [_FOLDER / "driver" / name for name in ("ne16.c", "ne16.h", "ne16_platform.h")]
        self._register_driver(files, "job", "submit", job_members, changed_members)

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> Context:
        timing = Timing.of(soc.engines[ENGINE].parameters)
        return Context(options["requant"] == "native", CostModel(soc, cores), True, timing)


def _prepare(module: Any, soc: Any, _options: Mapping[str, Any]) -> Any:
    costs = pixel_costs(Timing.of(soc.engines[ENGINE].parameters))
    return prepare_for_array(module, True, INPUT_BYTES, costs)


def pixel_costs(timing: Timing) -> ModeCosts:
    """Costs by which pixels are put together."""

    def cycles(mode: Mode, channels: int, outputs: int, height: int, width: int) -> int:
        return job_cycles(ArrayJob(mode, channels, outputs, height, width), timing)

    return ModeCosts(input_subtile, cycles)


def job_members(description: Description, _slot: str, address: Callable[[Any], str]) -> dict[str, str]:
    """The members of `struct ne16_job`: words by name, those of addresses first."""
    members = {
        f"words[{name}]": text for name, text in zip(_WORDS, pointers(description, address), strict=False) if text
    }
    for name, word in zip(_WORDS[POINTERS:], description.words[POINTERS:], strict=True):
        if word:
            members[f"words[{name}]"] = word_text(name, word)
    return members


def changed_members(description: Description, changes: Changes, address: Callable[[Any], str]) -> dict[str, str]:
    """The members of `struct ne16_changed_job`: addresses, and the other words that change."""
    members = {f"addresses[{i}]": text for i, text in enumerate(pointers(description, address)) if text}
    members["count"] = str(len(changes.registers))
    for place, (number, word) in enumerate(changes.registers):
        name = _WORDS[POINTERS + number]
        members[f"changes[{place}]"] = f"{{NE16_REGISTER({name}), {word_text(name, word)}}}"
    return members
