"""Measure without MLonMCU: the same compilations and runs by the package's own interface."""

from pathlib import Path
from typing import Any

import numpy as np
from uma_study.configurations import Configuration
from uma_study.measured import Measured

_SOCS = {"tvmpulp_mcu": "rv32-mcu", "tvmpulp_siracusa": "siracusa"}


def measure(model: Path, configuration: Configuration) -> Measured:
    """One network on one machine, with the first golden input beside it."""
    import tvm_pulp

    engine = configuration.backend.removeprefix("tvmpulp_")
    options: dict[str, Any] = {name.rpartition(".")[2]: value for name, value in configuration.settings.items()}
    target = "c" if engine == "c" else f"uma-{engine}"
    engine_options = {engine: options} if options else {}
    app = tvm_pulp.compile(model, target=target, soc=_SOCS[configuration.target], engine_options=engine_options)
    with np.load(model.with_name("golden.npz")) as golden:
        result = app.run([golden["inputs"][0]])
        [made] = result.outputs.values()
        is_exact = bool((made.reshape(-1) == golden["outputs_reference"][0].reshape(-1)).all())
    report = result.report
    # Two inferences and the start; on the microcontroller an instruction is a cycle.
    instructions = report["cycles"] if configuration.target == "tvmpulp_mcu" else report["instructions"] // 2
    return Measured(instructions, report["cycles"], report["host"]["simulate_s"], is_exact, list(report["layers"]))
