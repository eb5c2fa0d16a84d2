"""Traces: streamed, complete, and read by Perfetto's own classes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss.attach import Attached
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.result import RunResult

IMAGE = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tvm_pulp.App:
    path = tmp_path_factory.mktemp("trace") / "classifier.onnx"
    onnx.save(classifier(), path)
    return tvm_pulp.compile(path, target="uma-neureka", input_types={"image": "uint8"})


def traced(app: tvm_pulp.App, path: Path, inputs: list[np.ndarray]) -> RunResult:
    device = IssDevice(app.files, app.metadata)
    machine = device.load(inputs, observe=True)
    layers = [layer["name"] for layer in app.metadata["tvm_pulp"]["layers"]]
    attached = Attached(machine, Instruments(trace=path), print, "network", layers)
    result = device.execute(machine)
    attached.finish(result)
    return result


def read_perfetto(path: Path) -> tuple[dict[tuple[str, str], list[tuple[str, int, int]]], dict[str, int]]:
    """Spans by group and track, and the last value of every counter, as Perfetto's classes read them."""
    protos: Any = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = protos.Trace()
    trace.ParseFromString(path.read_bytes())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    spans: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    counters: dict[str, int] = {}
    begun: dict[int, tuple[str, int]] = {}
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        track = tracks[event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in begun
            begun[event.track_uuid] = (event.name, packet.timestamp)
        elif event.type == event.TYPE_SLICE_END:
            name, start = begun.pop(event.track_uuid)
            group = spans.setdefault((tracks[track.parent_uuid].name, track.name), [])
            assert not group or group[-1][2] <= start, "spans of a track overlap"
            group.append((name, start, packet.timestamp))
        else:
            counters[track.name] = event.counter_value
    assert not begun
    return spans, counters


def check(spans: dict[tuple[str, str], list[tuple[str, int, int]]], counters: dict[str, int], run: RunResult) -> None:
    """Every cycle of every core is in one span, and the counters end where the report does."""
    names = [*(f"core {core}" for core in range(len(run.cores) - 1)), "controller"]
    for name, core, shown in zip(names, run.cores, run.report()["cores"], strict=True):
        track = spans["cores", name]
        assert sum(end - start for _, start, end in track) == core["cycles"] == shown["cycles"]
        for cause, cycles in shown["breakdown"].items():
            if cause != "issue":
                assert counters.get(f"{name}: {cause.replace('_', ' ')}", 0) == cycles, (name, cause)


def test_perfetto(network: tvm_pulp.App, tmp_path: Path) -> None:
    path = tmp_path / "t.pftrace"
    run = traced(network, path, [IMAGE])
    spans, counters = read_perfetto(path)
    check(spans, counters, run)
    layers = [layer["name"] for layer in network.metadata["tvm_pulp"]["layers"]]
    assert [name for name, _, _ in spans["network", "layers"]] == layers * 2
    assert len(spans["accelerators", "neureka"]) == run.peripherals[0].jobs > 0
    assert spans["dma", "outside to L1"]
    assert {name.split(":")[0] for name, _, _ in spans["tiles", "core 3"]} <= set(layers)


def test_the_same_in_json(network: tvm_pulp.App, tmp_path: Path) -> None:
    run = traced(network, tmp_path / "t.json", [IMAGE])
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    cycles: Counter[str] = Counter()
    for event in events:
        if event["ph"] == "X" and event["name"].startswith(("active", "waits")):
            cycles[names[event["tid"]]] += event["dur"]
    assert cycles["core 0"] == run.cores[0]["cycles"] and cycles["controller"] == run.cores[-1]["cycles"]


@pytest.mark.slow
def test_prefill_of_a_language_model(golden_data: Path, tmp_path: Path) -> None:
    folder = golden_data / "deeploy/Models/microLlama/INT8/microLlama64_parallel"
    with np.load(folder / "inputs.npz") as archive:
        inputs = [(name, archive[name]) for name in archive.files]
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc="siracusa", sample_inputs=inputs)
    arrays = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], dict(inputs))
    run = traced(app, tmp_path / "t.pftrace", arrays)
    spans, counters = read_perfetto(tmp_path / "t.pftrace")
    check(spans, counters, run)
    assert len(spans["network", "layers"]) == 2 * len(app.metadata["tvm_pulp"]["layers"])
