"""The networks themselves: the same in every run, in their exporter's form, and not ruined by their quantizer."""

from collections import Counter

import numpy as np
import pytest

from tests.real_models import catalog
from tests.real_models.exported_graph import DYNAMO, EXPORTERS, LEGACY

pytest.importorskip("onnxruntime.quantization")

# Random weights through many layers, or a mask that takes the scale of the scores, leave less of the float network.
LOOSE = {"mobilenetv2", "gpt_prefill_dynamo"}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", catalog.MODELS)
def test_quantized_is_near_the_float_network(name: str) -> None:
    import onnxruntime

    feeds = catalog.sample_inputs(name)
    found = next(iter(catalog.expected_outputs(name, feeds).values()))
    real = catalog.MODELS[name].float_model().SerializeToString()
    wanted = onnxruntime.InferenceSession(real, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    difference = np.abs(found - wanted).mean() / np.abs(wanted).mean()
    assert difference < (0.5 if name in LOOSE else 0.12), difference


def test_same_bytes_again() -> None:
    first = catalog.build("tcn").SerializeToString()
    catalog.build.cache_clear()
    assert catalog.build("tcn").SerializeToString() == first


def _operators(name: str) -> Counter[str]:
    return Counter(node.op_type for node in catalog.MODELS[name].float_model().graph.node)


def test_forms_of_the_exporters() -> None:
    # The legacy exporter computes shapes in the graph, the newer one has folded them.
    legacy, dynamo = _operators("vit"), _operators("vit_dynamo")
    assert legacy["Shape"] == 3 and legacy["Erf"] == 2 and legacy["Split"] == 2 and legacy["Expand"] == 1
    assert not {"Shape", "Constant", "Expand"} & set(dynamo)
    assert dynamo["Gelu"] == 2 and dynamo["Slice"] == 6
    assert _operators("lstm")["Expand"] == 2 and _operators("lstm_dynamo")["Expand"] == 0
    assert {EXPORTERS[LEGACY], EXPORTERS[DYNAMO]} == {17, 20}


def test_pt2e_keeps_the_residual_sum_float() -> None:
    nodes = catalog.build("resnet8_pt2e").graph.node
    producer = {output: node.op_type for node in nodes for output in node.output}
    for node in (n for n in nodes if n.op_type == "Add"):
        assert sorted(producer[i] for i in node.input) == ["Conv", "DequantizeLinear"]
