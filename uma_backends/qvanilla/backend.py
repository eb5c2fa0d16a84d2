"""The QVanilla backend: options, passes, pattern, strategy, code generation, model."""

from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.uma import Codegen, UMABackend
from uma_backends.qvanilla.conv2d import ENGINE, Context, QVanillaForm, conv2d_check, conv2d_pattern, job_words

_FOLDER = Path(__file__).parent
_OFFSETS = {"zero_time": 0x0000, "timed": 0x2000}  # of the variants' registers


class QVanillaBackend(UMABackend):
    """int8 convolution + bias with int32 results; everything else is left to the CPU."""

    target_name = ENGINE
    default_soc = "rv32-mcu"

    def __init__(self) -> None:
        super().__init__()
        self._register_target_attr("variant", "zero_time", tuple(_OFFSETS), "results at once, or after some time")
        self._register_target_attr("cycles_per_mac", 2, help="what the timed variant takes")
        self._register_relax_pass("pre_partition", _to_nchw)
        self._register_pattern("conv2d", conv2d_pattern, conv2d_check)
        self._register_operator_strategy("conv2d", lambda layer, context: [QVanillaForm(layer, context)])
        self._register_tir_pass("compute", _call_driver)
        self._register_model(sorted((_FOLDER / "model").glob("*.c")))
        driver, calls = sorted((_FOLDER / "driver").iterdir()), ("qvanilla_submit", "qvanilla_wait", "qvanilla_init")
        self._register_codegen(Codegen(tuple(driver), "qvanilla.h", job_words, *calls, (), None, "struct qvanilla_job"))

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        values = super().options(given)
        name = "cycles_per_mac"
        if name in given and (values["variant"] != "timed" or not 0 <= values[name] <= 1000):
            raise UserError(f"--target-uma-qvanilla-{name} is 0 to 1000, and needs --target-uma-qvanilla-variant timed")
        return values

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> Context:
        variant, cycles = options["variant"], options["cycles_per_mac"]
        return Context(self, _OFFSETS[variant], cycles if variant == "timed" else 0)


def _to_nchw(module: Any) -> Any:
    from uma_backends.qvanilla.to_nchw import to_nchw  # on demand: TVM takes seconds to load

    return to_nchw(module)


def _call_driver(function: Any) -> Any:
    from uma_backends.qvanilla.call_driver import call_driver

    return call_driver(function)
