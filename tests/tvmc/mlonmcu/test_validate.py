"""Outputs are right when every value of every one is."""

import numpy as np

A, B = np.array([[1, 2, 3]], np.int8), np.array([5], np.int32)


def test_equal_outputs_pass(mlonmcu: None) -> None:
    from tvm_pulp.tvmc.mlonmcu.postprocesses import difference

    # By name whatever the order; by position when names differ; whatever the type that golden data is stored in.
    assert difference({"a": A, "b": B}, {"b": B, "a": A.astype(np.int64)}, 0) is None
    assert difference({"a": A, "b": B}, {"arr_0": A.ravel(), "arr_1": B}, 0) is None


def test_what_differs_is_said(mlonmcu: None) -> None:
    from tvm_pulp.tvmc.mlonmcu.postprocesses import difference

    wrong = A + np.array([[0, 2, 0]], np.int8)
    assert difference({"a": wrong}, {"a": A}, 0) == "output 'a' differs in 1 of 3 values, by up to 2"
    assert difference({"a": wrong}, {"a": A}, 2) is None
    assert difference({"a": A}, {"a": A, "b": B}, 0) == "the network has 1 outputs, the reference 2"
    assert difference({"a": A}, {"a": B}, 0) == "output 'a' has 3 values, the reference 1"
    not_a_number = np.array([np.nan], np.float32)
    assert "differs in 1 of 1" in str(difference({"a": not_a_number}, {"a": B}, 1e9))
    assert difference({"a": not_a_number}, {"a": not_a_number}, 0) is None
