"""The NEUREKA backend: patterns, options, strategies, code generation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import pattern_of
from uma_backends.conv_array import (
    ArrayBackend,
    ArrayDescription,
    Members,
    by_rows,
    prepare_for_array,
)
from uma_backends.conv_array.array_backend import Offer
from uma_backends.conv_array.modes import ModeCosts
from uma_backends.neureka.attention import attention_strategy
from uma_backends.neureka.dense_rounded import (
    added_sum_patterns,
    dense_add_strategy,
    dense_add_sum_strategy,
    dense_table_strategy,
    table_patterns,
)
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Requantization
from uma_backends.neureka.matmul import matmul_strategy
from uma_backends.neureka.neureka_form import ENGINE, WEIGHT_LEVELS, NeurekaContext
from uma_backends.neureka.qdq_attention import qdq_attention_strategy
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE
from uma_backends.neureka.strategy import conv2d_strategy, dense_strategy
from uma_backends.neureka.timing import DEFAULT_TIMING, NeurekaTiming, job_cycles

_FOLDER = Path(__file__).parent
_POINTERS = ("weights", "input", "output", "scale", "shift", "bias")


class NeurekaBackend(ArrayBackend):
    """NEUREKA of the Siracusa SoC.

    Hardware: 6x6 processing elements, 1x1, 3x3 and depthwise 3x3 convolutions on HWC tensors, weights of 2 to 8 bits.
    Memories: activations and parameters in L1, weights in L1 or in the weight memory.
    Simulated: arithmetic exactly, time by the closed formulas of the public model.
    """

    target_name = ENGINE
    default_soc = "siracusa"

    def __init__(self) -> None:
        super().__init__()
        self._register_target_attr(
            "weight_memory",
            "auto",
            ("auto", "none", "sram", "mram"),
            "where packed weights live; auto: sram where the SoC has it, else none",
        )
        self._register_requant()
        self._register_target_attr(
            "activations",
            "any",
            ("any", "unsigned"),
            "int8 as such where the engine of the SoC takes it, or always as x + 128",
        )
        self._register_target_attr(
            "prefetch", "on", ("on", "off"), "load activations while weights stream from the weight memory"
        )
        self._register_target_attr(
            "single_rows",
            "any",
            ("any", "1x1"),
            "one row times a matrix as 3x3 where that is faster, or as several rows, with the same packed weights",
        )
        self._register_relax_pass("pre_partition", _prepare, for_soc=True)
        more: list[Offer] = [
            ("attention", lambda: pattern_of("attention"), attention_strategy),
            ("qdq_attention", lambda: pattern_of("qdq_attention"), qdq_attention_strategy),
            ("matmul", lambda: pattern_of("matmul"), matmul_strategy),
            ("dense_add", lambda: pattern_of("add", pattern_of("dense"), None), dense_add_strategy),
            ("add_dense", lambda: pattern_of("add", None, pattern_of("dense")), dense_add_strategy),
            *((name, pattern, dense_add_sum_strategy) for name, pattern in added_sum_patterns()),
            *((name, pattern, dense_table_strategy) for name, pattern in table_patterns()),
        ]
        self._register_layers(conv2d_strategy, dense_strategy, lambda layer, context: [by_rows(layer, context)], more)
        names = ("neureka.c", "neureka.h", "neureka_platform.h", "runtime/neureka_custom_platform.h")
        files = [_FOLDER / "driver" / name for name in names]
        members = Members(
            pointers=[f"job.{name}" for name in _POINTERS],
            changed_pointers=_POINTERS,
            words="shape.words",
            register="NEUREKA_SHAPE_REGISTER",
            more={"job.shape": "POINTER({slot} + sizeof(struct neureka_job))"},
        )
        self._register_driver(files, "tile", "submit_once", members, ("NEUREKA_CUSTOM_PLATFORM",))

    def _weight_memory(self, description: ArrayDescription) -> tuple[int, str] | None:
        return (WEIGHT_MEMORY_BASE, "TVM_PULP_WEIGHT_OFFSET") if description.job.weight_memory else None

    def with_shared_weights(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "single_rows": "1x1"}

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> NeurekaContext:
        memory = options["weight_memory"]
        if memory == "auto":
            memory = "sram" if WEIGHT_LEVELS["sram"] in soc.software.weight_parts else "none"
        if memory != "none" and WEIGHT_LEVELS[memory] not in soc.software.weight_parts:
            raise UserError(
                f"--target-uma-{ENGINE}-weight_memory {memory}: SoC {soc.name} has no such memory: choose none"
            )
        prefetch = options["prefetch"] == "on"
        if memory == "none" and not prefetch:
            raise UserError(
                f"--target-uma-{ENGINE}-prefetch off: weights come from L1, where there is none: leave it out"
            )
        timing = NeurekaTiming.of(soc.engines[ENGINE].parameters)
        unsigned_only = takes_unsigned_only(timing, options)
        native, as_3x3 = options["requant"] == "native", options["single_rows"] == "any"
        return NeurekaContext(native, CostModel(soc, cores), unsigned_only, memory, timing, prefetch, as_3x3)


def takes_unsigned_only(timing: NeurekaTiming, options: Mapping[str, Any]) -> bool:
    """Tell if int8 activations run as x + 128: the SoC's engine has no signed input, or the option says so."""
    return options["activations"] == "unsigned" or not timing.geometry.signed_input


def _prepare(module: Any, soc: Any, options: Mapping[str, Any]) -> Any:
    timing = NeurekaTiming.of(soc.engines[ENGINE].parameters)
    unsigned_only = takes_unsigned_only(timing, options)
    return prepare_for_array(module, unsigned_only, timing.geometry.channels_3x3, pixel_costs(timing))


def pixel_costs(timing: NeurekaTiming = DEFAULT_TIMING) -> ModeCosts:
    """Costs by which pixels are put together: weights from weight memory."""

    def cycles(mode: Mode, channels: int, outputs: int, height: int, width: int) -> int:
        how = Requantization(scale_bits=32)
        job = NeurekaJob(mode, channels, outputs, height, width, requantization=how, weight_memory=True, prefetch=True)
        return job_cycles(job, timing)

    return ModeCosts(timing.geometry.input_subtile, cycles)
