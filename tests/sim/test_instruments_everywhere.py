"""All instruments at once, on every kind of cores: outputs and cycles stay what they are."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tvm_pulp import soc
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.gdb.control import Control

LAST_CORES = {"siracusa": "controller", "snitch-ita": "DMA core", "rv32-mcu": "core 0"}
IMAGE = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)


@pytest.mark.parametrize("name", LAST_CORES)
def test_a_network_with_everything(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(classifier(), tmp_path / "classifier.onnx")
    app = tvm_pulp.compile(tmp_path / "classifier.onnx", target="c", soc=name, input_types={"image": "uint8"})
    wanted = Instruments(trace=tmp_path / "t.json", profile=tmp_path / "p.json", log_calls=True, check_reads=True)
    plain, watched = app.run([IMAGE]), app.run([IMAGE], instruments=wanted)
    for output, expected in plain.outputs.items():
        np.testing.assert_array_equal(watched.outputs[output], expected)
    assert watched.report["cycles"] == plain.report["cycles"]
    assert "every byte of L1 and L2 was written" in (told := capsys.readouterr().err) and "tvmgen_default_dense" in told
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    layers = [layer["name"] for layer in app.metadata["tvm_pulp"]["layers"]]
    spans = [(tracks[event["tid"]], event["name"], event["dur"]) for event in events if event["ph"] == "X"]
    assert set(layers) <= {span for _, span, _ in spans}
    assert all(any(span.startswith(f"{layer}: ") for _, span, _ in spans) for layer in layers[-3:])
    profiles = json.loads((tmp_path / "p.json").read_text())["profiles"]
    for profile in profiles:
        awake = sum(
            cycles for track, span, cycles in spans if track == profile["name"] and span.startswith(("active", "waits"))
        )
        assert sum(profile["weights"]) == awake
    assert sum(profiles[0]["weights"]) > 0
    # Every core that there is, and none beside them.
    listed = [profile["name"] for profile in profiles]
    assert listed[-1] == LAST_CORES[name] and len(set(listed)) == len(listed)
    assert Control(Machine(soc.load(name), observe=True)).cores == len(listed)
