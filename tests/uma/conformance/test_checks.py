"""The kit tests what it was asked to test, or says that it cannot."""

import numpy as np
import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.uma.conformance import Conformance
from tvm_pulp.uma.conformance.random_layer import OPERATOR_KINDS, random_layer
from uma_backends.neureka import NeurekaBackend


@pytest.mark.parametrize("kinds", [("add",), ("dense", "add"), ()])
def test_kinds_it_does_not_know(kinds: tuple[str, ...]) -> None:
    with pytest.raises(
        UserError, match=r"kinds=.*choose from conv2d, depthwise, grouped, dense, same_conv2d, dense\+lookup"
    ):
        Conformance(NeurekaBackend(), kinds=kinds)


def test_requantizations_it_does_not_know() -> None:
    with pytest.raises(UserError, match="the kit makes no random 'float'; choose from none, pulp"):
        Conformance(NeurekaBackend(), requantizations=("float",))


@pytest.mark.parametrize("kind", OPERATOR_KINDS)
def test_a_kind_is_what_it_is_called(kind: str) -> None:
    made = [random_layer(np.random.default_rng(seed), (kind,)) for seed in range(8)]
    assert {layer.operator for layer in made} == {"dense" if kind == "dense" else "conv2d"}
    grouped = {layer.attributes.get("groups", 1) > 1 for layer in made if layer.x.shape[-1] > 1}
    assert grouped == {kind in ("depthwise", "grouped")}
