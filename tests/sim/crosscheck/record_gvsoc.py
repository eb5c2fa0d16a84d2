"""Record the baseline where GVSoC is installed: `python -m tests.sim.crosscheck.record_gvsoc TARGET_DIR A B [NAME...]`.

A is a GVSoC target of Siracusa without bank conflicts, B one with banks of four bytes per cycle, both in TARGET_DIR;
without names all programs are compiled and run. GVSOC_HOME names the installation, TVM_PULP_DATA the golden networks.
"""

import hashlib
import io
import lzma
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import tvm_pulp
from tests.sim.crosscheck.gvsoc_programs import (
    BASELINE,
    INFERENCES,
    PROGRAMS,
    outputs_hash,
    programs,
    recorded_runs,
    run_here,
    warm,
)
from tests.simulated.golden_cases import DATA
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.crosscheck import write_baseline
from tvm_pulp.sim.gvsoc.installation import GvsocInstallation
from tvm_pulp.sim.image import layer_cycles, make_image, parse_contents, words
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.elf import read_elf
from tvm_pulp.sim.process import run_simulator

NETWORKS = {
    "KWS": "Models/MLPerf/KeywordSpotting",
    "VWW": "Models/MLPerf/VisualWakeWords",
    "IC": "Models/MLPerf/ImageClassification",
    "AD": "Models/MLPerf/AnomalyDetection",
    "ICCT": "Models/CCT/Int/ICCT",
    "microLlama64 decode": "Models/microLlama/INT8/microLlama64",
    "microLlama64 prefill": "Models/microLlama/INT8/microLlama64_parallel",
}
KERNELS = (
    "Add/Regular_RQ",
    "Attention",
    "Conv/DW_3x3_RQ",
    "Conv/PW_2D_RQ/Regular_RQ",
    "Conv/Regular_3x3_RQ",
    "GEMM/Regular_RQPerRow",
    "MatMul/Regular_RQ",
    "MaxPool/Regular_2D",
    "RMSNorm",
    "Softmax/Regular",
)
PRESETS = ("siracusa-gvsoc", "siracusa-gvsoc-banks")
ENGINE = "uma-neureka"
# Constants of so many values get by with so few rows.
LEAST_REPEATED, ROWS = 2048, 4


def thinned(path: Path) -> onnx.ModelProto:
    """The model with rows of large constants repeated along their longest axis."""
    model = onnx.load(path)
    constants = list(model.graph.initializer)
    constants += [
        a.t for node in model.graph.node if node.op_type == "Constant" for a in node.attribute if a.HasField("t")
    ]
    for tensor in constants:
        array = numpy_helper.to_array(tensor)
        if array.size >= LEAST_REPEATED and array.ndim >= 2:
            axis = int(np.argmax(array.shape))
            rows = np.take(array, np.arange(array.shape[axis]) % ROWS, axis)
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(rows), tensor.name))
    return model


def image(case: str, target: str, engine_options: dict[str, dict[str, str]]) -> bytes:
    """The network's program with its inputs."""
    folder = DATA / "deeploy" / case
    with np.load(folder / "inputs.npz") as arrays:
        samples = [(name, arrays[name]) for name in arrays.files]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "network.onnx"
        onnx.save(thinned(folder / "network.onnx"), path)
        app = tvm_pulp.compile(
            path, target=target, soc=PRESETS[0], sample_inputs=samples, engine_options=engine_options
        )
    facts = app.metadata["tvm_pulp"]
    inputs = prepare_inputs(facts["inputs"], dict(samples))
    device = IssDevice(app.files, app.metadata)
    return make_image(read_elf(device.elf), facts, inputs, INFERENCES)


def run_there(program: bytes, target: str, target_dir: Path) -> tuple[dict[str, bytes], str | None]:
    """What the program prints on GVSoC."""
    installation = GvsocInstallation.find({}, "--device gvsoc")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "program.elf").write_bytes(program)
        options = [f"--target={target}", f"--target-dir={target_dir}", f"--work-dir={folder}"]
        command = [str(installation.program), *options, f"--binary={folder / 'program.elf'}"]
        done = run_simulator(
            "GVSoC",
            [*command, "image", "flash", "run"],
            folder=folder,
            environment=installation.environment(),
            limit_seconds=1800,
        )
    return parse_contents(done.text), installation.revision()


def jobs() -> dict[str, tuple[str, str, dict[str, dict[str, str]]]]:
    """Name of every program, and what it is compiled from and for."""
    made: dict[str, tuple[str, str, dict[str, dict[str, str]]]] = {}
    for name, case in NETWORKS.items():
        made[f"{name}, cores"] = (case, "c", {})
        made[f"{name}, NEUREKA"] = (case, ENGINE, {})
        made[f"{name}, NEUREKA without weight memory"] = (case, ENGINE, {"neureka": {"weight_memory": "none"}})
    for kernel in KERNELS:
        made[f"kernel {kernel}"] = (f"Kernels/Integer/{kernel}", "c", {})
    return made


def keep(program: bytes) -> None:
    """Add a program to the file, and drop those that no run is of."""
    wanted = {run["elf_sha256"] for run in recorded_runs()} if BASELINE.exists() else set()
    held = dict(programs()) if PROGRAMS.exists() else {}
    held[hashlib.sha256(program).hexdigest()] = program
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for digest, content in sorted(held.items(), key=lambda item: len(item[1])):
            if digest not in wanted and content is not program:
                continue
            member = tarfile.TarInfo(f"{digest[:16]}.elf")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]
    PROGRAMS.write_bytes(lzma.compress(buffer.getvalue(), filters=filters))
    programs.cache_clear()
    recorded_runs.cache_clear()


def main(target_dir: str, *rest: str) -> None:
    targets, wanted = rest[:2], rest[2:]
    for name, (case, target, engine_options) in jobs().items():
        if wanted and name not in wanted:
            continue
        program = image(case, target, engine_options)
        runs: list[dict[str, Any]] = []
        for preset, gvsoc_target in zip(PRESETS, targets, strict=True):
            contents, revision = run_there(program, gvsoc_target, Path(target_dir).resolve())
            cycles = [int(value) for value in words(contents, "tvm_pulp_cycles")[:INFERENCES]]
            ours, ours_hash = run_here(program, preset)
            assert ours_hash == outputs_hash(contents), f"{name}: outputs differ"
            deviation = 100 * (warm(ours) / warm(cycles) - 1)
            sys.stdout.write(f"{name:50} {preset:22} {warm(ours):10.0f} {warm(cycles):10.0f} {deviation:+.2f} %\n")
            sys.stdout.flush()
            runs.append(
                {
                    "name": name,
                    "target": target,
                    "soc": preset,
                    "elf_sha256": hashlib.sha256(program).hexdigest(),
                    "device": "gvsoc",
                    "device_options": {"banks": "conflicts" if preset == PRESETS[1] else "none"},
                    "revision": revision,
                    "cycles": cycles,
                    "layer_cycles": layer_cycles(contents),
                    "outputs_sha256": outputs_hash(contents),
                }
            )
        write_baseline(BASELINE, runs)
        recorded_runs.cache_clear()
        keep(program)


if __name__ == "__main__":
    main(*sys.argv[1:])
