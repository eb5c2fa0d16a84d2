"""NEUREKA keeps what the compiler relies on."""

import pytest

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.uma.conformance import Conformance
from uma_backends.neureka import NeurekaBackend


@pytest.mark.parametrize(
    ("options", "layers"),
    [
        ({"weight_memory": "none"}, 3),
        *(
            pytest.param(options, 12, marks=pytest.mark.slow)
            for options in (
                {},
                {"weight_memory": "none"},
                {"requant": "native"},
                {"activations": "unsigned", "prefetch": "off"},
            )
        ),
    ],
)
def test_backend_conforms(options: dict[str, str], layers: int) -> None:
    Conformance(NeurekaBackend(), options=options, seed=77, layers=layers).check()


def test_prefetch_is_of_weight_memory() -> None:
    """An option without effect is refused."""
    backend = NeurekaBackend()
    with pytest.raises(UserError, match="prefetch off: weights come from L1, where there is none: leave it out"):
        backend.context(backend.options({"weight_memory": "none", "prefetch": "off"}), socs.load("siracusa"), 8)
