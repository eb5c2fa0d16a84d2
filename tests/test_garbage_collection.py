"""The collector's thresholds: raised inside, as before outside, also after an error."""

import gc

import pytest

from tvm_pulp.garbage_collection import rare_garbage_collection


def test_thresholds_come_back() -> None:
    before = gc.get_threshold()
    with rare_garbage_collection():
        assert gc.get_threshold()[0] >= 200_000 and gc.get_threshold()[1:] == before[1:]
    assert gc.get_threshold() == before
    with pytest.raises(KeyError), rare_garbage_collection():
        raise KeyError
    assert gc.get_threshold() == before
