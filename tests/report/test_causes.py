"""Causes of cycles add up: for every engine, in every layer and in the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.html.example_runs import example_run
from tvm_pulp.report.causes import CAUSES, layer_causes, total_causes
from tvm_pulp.report.table import layer_table
from tvm_pulp.sim.activity import Activity, CoreSpans, Spans

RUNS = [
    pytest.param("dscnn", "c", "siracusa", None, 8, (), id="cluster"),
    pytest.param("dscnn", "c", "siracusa", 3, 3, (), id="cluster-of-3"),
    pytest.param("dscnn", "uma-neureka", None, None, 8, ("neureka",), id="neureka"),
    pytest.param("resnet8", "uma-neureka", None, None, 8, ("neureka",), id="neureka-resnet8"),
    pytest.param("dscnn", "c", "snitch-ita", None, 9, (), id="snitch"),
    pytest.param("autoencoder", "c", "rv32-mcu", None, 1, (), id="one-core"),
    pytest.param("octave_attention", "uma-ita", None, None, 9, ("ita",), id="ita", marks=pytest.mark.slow),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("model", "target", "soc", "given_cores", "cores", "busy"), RUNS)
def test_causes_add_up_to_the_measured_cycles(
    model: str, target: str, soc: str | None, given_cores: int | None, cores: int, busy: tuple[str, ...]
) -> None:
    report = example_run(model, target, soc, given_cores).report
    accelerators = [name for name in report["causes"] if "core" not in name]
    assert len(report["causes"]) - len(accelerators) == cores
    for engine, causes in report["causes"].items():
        assert tuple(causes) == CAUSES
        assert sum(c or 0 for c in causes.values()) == report["cycles"], engine
        assert all(c is None or c >= 0 for c in causes.values())
        # What an accelerator waits for banks is inside its jobs, so it is unknown and not 0.
        assert [cause for cause, c in causes.items() if c is None] == (
            ["l1_conflict"] if engine in accelerators else []
        )
        assert (causes["compute"] or 0) > 0 or engine not in (*busy, "core 0")
    for layer in report["layers"]:
        assert layer["causes"].keys() == report["causes"].keys()
        for engine, causes in layer["causes"].items():
            assert sum(c or 0 for c in causes.values()) == layer["cycles"], (layer["name"], engine)
    assert sum(layer["cycles"] for layer in report["layers"]) == report["cycles"]
    # Everybody stands still where the DMA alone works, and nothing here comes from L3.
    if given_cores is None:
        assert report["causes"]["core 0"]["dma_wait"] == report["dma"]["stall_cycles"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "target", "soc"),
    [
        ("dscnn", "uma-neureka", None),
        ("resnet8", "uma-neureka", None),
        # One core polls: jobs end while it looks elsewhere.
        ("dscnn", "uma-neureka", "rv32-mcu-neureka"),
        ("qdq_encoder", "uma-ita", "rv32-mcu-ita"),
    ],
)
def test_what_a_layer_s_engine_did_is_stated_once(model: str, target: str, soc: str | None) -> None:
    """Terminal and report say the same, and no engine beats its bound, though a layer may add less to the run."""
    report = example_run(model, target, soc, None).report
    columns, rows = layer_table(report)
    for layer, row in zip(report["layers"], rows, strict=True):
        shown = dict(zip(columns, row, strict=True))
        assert layer["bound_share"] == layer["bound_cycles"] / layer["busy_cycles"] <= 1
        assert shown["busy"] == f"{layer['busy_cycles']:,}" and shown["added"] == f"{layer['cycles']:,}"
        assert shown["of bound"] == f"{100 * layer['bound_share']:.1f} %"
        if layer["macs"]:
            assert shown["MAC/cycle"] == f"{layer['macs'] / layer['busy_cycles']:,.2f}"


def test_a_host_knows_no_causes() -> None:
    report = example_run("dscnn", "c").report
    assert report["cycles"] is None and report.get("causes") is None
    assert all(layer.get("causes") is None and layer.get("busy_cycles") is None for layer in report["layers"])


def _spans(pairs: list[tuple[int, int]]) -> Spans:
    starts, ends = (np.array(column, np.int64) for column in zip(*pairs, strict=True)) if pairs else ([], [])
    return Spans(np.asarray(starts, np.int64), np.asarray(ends, np.int64), np.zeros(len(pairs), np.int64))


def _core(name: str, lengths: list[int], stalls: list[int]) -> CoreSpans:
    """Awake and asleep in turns from cycle 0; a stretch that is awake has so many stalls of each kind at most."""
    edges = np.cumsum([0, *lengths])
    starts, ends = edges[:-1], edges[1:]
    awake = np.arange(len(starts)) % 2 == 0
    room = np.where(awake, (ends - starts) // 4, 0)
    kinds = ("l1_conflict", "outside_access", "instruction_cache", "barrier")
    return CoreSpans(
        name, starts, ends, awake, ~awake & False, {k: np.minimum(room, s) for k, s in zip(kinds, stalls, strict=True)}
    )


@settings(max_examples=30)
@given(
    lengths=st.lists(st.lists(st.integers(1, 90), min_size=4, max_size=20), min_size=1, max_size=3),
    stalls=st.lists(st.integers(0, 30), min_size=4, max_size=4),
    cuts=st.lists(st.integers(5, 300), max_size=6),
    jobs=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), max_size=4),
)
def test_stretches_that_cross_layers_are_shared_without_loss(
    lengths: list[list[int]], stalls: list[int], cuts: list[int], jobs: list[tuple[int, int]]
) -> None:
    edges = [5, *sorted(cuts), 300]
    activity = Activity(
        boundaries=edges,
        cores=[_core(f"core {n}", own, stalls) for n, own in enumerate(lengths)],
        accelerators={"engine": _spans([(start, start + cycles) for start, cycles in jobs])},
        loads=_spans([(20, 60)]),
        stores=_spans([]),
        from_l3=_spans([]),
        to_l3=_spans([]),
    )
    layers = layer_causes(activity)
    for number, layer in enumerate(layers):
        for causes in layer.values():
            known = [cycles for cycles in causes.values() if cycles is not None]
            assert sum(known) == edges[number + 1] - edges[number] and min(known) >= 0
    whole = total_causes(layers)
    assert all(sum(c or 0 for c in causes.values()) == 295 for causes in whole.values())


def test_what_a_sleeping_core_waits_for() -> None:
    """Core 1 sleeps in cycles 10 to 50: the other is awake until 20, then a job runs until 30, then a transfer."""
    kinds = ("l1_conflict", "outside_access", "instruction_cache", "barrier")

    def core(name: str, edges: list[int], awake: list[bool]) -> CoreSpans:
        nothing = np.zeros(len(awake), np.int64)
        starts, ends = np.array(edges[:-1], np.int64), np.array(edges[1:], np.int64)
        return CoreSpans(name, starts, ends, np.array(awake), np.zeros(len(awake), bool), dict.fromkeys(kinds, nothing))

    activity = Activity(
        boundaries=[0, 60],
        cores=[
            core("core 0", [0, 20, 50, 60], [True, False, True]),
            core("core 1", [0, 10, 50, 60], [True, False, True]),
        ],
        accelerators={"engine": _spans([(15, 30)])},
        loads=_spans([(25, 40)]),
        stores=_spans([]),
        from_l3=_spans([]),
        to_l3=_spans([]),
    )
    (layer,) = layer_causes(activity)
    asleep = {cause: layer["core 1"][cause] for cause in ("barrier", "other_engine", "dma_wait", "idle")}
    assert asleep == {"barrier": 10, "other_engine": 10, "dma_wait": 10, "idle": 10}
    assert layer["engine"]["compute"] == 15 and layer["engine"]["other_engine"] == 25
