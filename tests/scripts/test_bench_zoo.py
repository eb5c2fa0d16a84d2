"""The table of the list of networks: rates, figures of before, what is refused, wrong or slow."""

from typing import Any

import pytest

from tests.scripts.load_script import load_script


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("bench_zoo", monkeypatch)


def row(name: str, macs: int, cycles: int, **more: Any) -> dict[str, Any]:
    known = {"name": name, "family": name.rpartition("_")[0], "macs": macs, "right": "equal", "holds": True}
    return {
        **known,
        "cycles": cycles,
        "bound": cycles // 4,
        "worst": "conv2d",
        "slow": [],
        "layers": 2,
        "spent": "conv2d",
        **more,
    }


def test_rates_and_figures_of_before(script: Any) -> None:
    rows = [row("resnet_0", 40_000, 1_000), row("mixnet_1", 5_000, 1_000), row("bert_0", 1, 1_000)]
    told = script.table(rows, {"resnet_0": 2_000, "mixnet_1": 500})
    assert told[2] == "| resnet_0 | 40,000 | equal | 1,000 | 2,000 | 40.0 | 25% | conv2d | – |"
    assert (
        "3 networks, 3 right, 0 refused. Convolutional ones: 14.1 MAC per cycle, 1.00 times that of before" in told[6]
    )
    assert told[8] == "Below 10 MAC per cycle, and where their cycles go:"
    assert told[10] == "- mixnet_1, 5,000 MAC in 2 layers: conv2d"


def test_where_cycles_go(script: Any) -> None:
    kinds = (("conv2d", "cluster", 300, 900), ("add", "cluster", 500, 0), ("conv2d", "cluster", 100, 300))
    layers = [{"op": op, "engine": engine, "cycles": cycles, "macs": macs} for op, engine, cycles, macs in kinds]
    assert script._spent(layers) == "add on cluster 56%, conv2d on cluster 44% at 3.0 MAC/cycle"


def test_refused_and_wrong_rows_count(script: Any) -> None:
    refused = {"name": "a_0", "family": "a", "macs": 5, "right": "refused", "holds": False, "why": "no | form"}
    told = script.table([refused, row("b_0", 90, 3, holds=False, slow=["conv2d at a crawl"])], {})
    assert told[2] == "| a_0 | 5 | refused | – | – | – | – | no / form | – |"
    assert told[3].endswith("| conv2d at a crawl |")
    assert told[5].startswith("2 networks, 0 right, 1 refused.")
