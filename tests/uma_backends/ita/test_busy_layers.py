"""Cycles that ITA works on each layer: every run of the engine belongs to the layer of its command."""

import tvm_pulp


def test_no_layer_is_below_its_bound() -> None:
    report = tvm_pulp.compile("zoo:octave_head", "uma-ita").run().report
    layers = [layer for layer in report["layers"] if layer["engine"] == "ita"]
    assert len(layers) > 1
    for layer in layers:
        assert layer["bound_cycles"] <= layer["busy_cycles"] <= 1.2 * layer["bound_cycles"], layer["name"]
