"""NEUREKA keeps what the compiler relies on."""

import pytest

from tvm_pulp.uma.conformance import Conformance
from uma_backends.neureka import NeurekaBackend


@pytest.mark.parametrize("options", [{}, {"weight_memory": "none"}, {"requant": "native"}, {"activations": "unsigned"}])
def test_backend_conforms(options: dict[str, str]) -> None:
    Conformance(NeurekaBackend(), options=options, seed=77).check()
