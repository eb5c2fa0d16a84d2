"""Agreement with onnxruntime where its sums of floats decide: what it computes in double precision counts then."""

from pathlib import Path

import numpy as np
import pytest

from tests.hub.catalog import NETWORKS, Feeds, Network

pytest.importorskip("onnxruntime.quantization")


@pytest.mark.parametrize(
    ("differs", "in_double", "remark"),
    [(False, True, ""), (True, False, "sums in double"), (True, True, "")],
    ids=["equal", "equal_in_double", "different"],
)
def test_sums_in_double_count_where_others_differ(
    differs: bool, in_double: bool, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = next(n for n in NETWORKS.values() if isinstance(n, Network) and n.family == "keywords")
    feeds = network.sample()
    wanted = network.expected(feeds)
    found = {name: values + 10 * np.abs(values).max() for name, values in wanted.items()}
    other = {False: differs, True: in_double}

    def expected(_self: Network, _feeds: Feeds, *, in_double: bool = False) -> Feeds:
        return wanted if other[in_double] else found

    monkeypatch.setattr(Network, "expected", expected)
    agreement = network.agreement(Path("not_read.onnx"), feeds, found)
    assert agreement.remark == remark
    assert agreement.is_equal == (not differs or not in_double)
