"""NE16 keeps what the compiler relies on."""

import pytest

from tvm_pulp import soc as socs
from tvm_pulp.uma.conformance import Conformance
from uma_backends.ne16 import Ne16Backend


@pytest.mark.parametrize(
    ("options", "soc", "seed", "layers"),
    [
        ({}, "pulp-open-ne16", 77, 3),
        pytest.param({"requant": "native"}, "gap9", 78, 12, marks=pytest.mark.slow),
        *(
            pytest.param({}, soc, seed, 12, marks=pytest.mark.slow)
            for seed in range(3)
            for soc in ("pulp-open-ne16", "gap9")
        ),
    ],
)
def test_backend_conforms(options: dict[str, str], soc: str, seed: int, layers: int) -> None:
    Conformance(Ne16Backend(), soc=soc, options=options, seed=seed, layers=layers).check()


def test_a_queue_of_one_job_is_refused() -> None:
    engine = socs.load("gap9").engines["ne16"].model_copy(update={"queue": 1})
    assert "holds 2 jobs, not engines.ne16.queue 1: set it to 2" in str(Ne16Backend().why_not_carried(engine))
