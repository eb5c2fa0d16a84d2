"""Area of a SoC: coefficients times parameters, with their source."""

import pytest

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.soc import soc_area


def test_the_preset_comes_to_what_is_published() -> None:
    area, source = soc_area(socs.load("siracusa"))
    assert area is not None and abs(area - 10.7) < 0.1
    assert source is not None and source.startswith("assumption")


def test_every_parameter_counts() -> None:
    base = socs.load("siracusa")
    area = soc_area(base)[0]
    assert area is not None
    larger = {
        "cluster.cores": 9,
        "memory.l1.size": 2 * base.memory.l1.size,
        "dma.bytes_per_cycle": 16,
        "engines.neureka.parameters.pe_columns": 7,
    }
    for path, value in larger.items():
        other = soc_area(base.with_settings({path: value}))[0]
        assert other is not None and other > area


def test_unknown_is_none() -> None:
    base = socs.load("siracusa")
    assert soc_area(base.with_settings({"area.core": None})) == (None, None)
    assert soc_area(base.model_copy(update={"area": base.area.model_copy(update={"engines": {}})})) == (None, None)


def test_a_term_of_no_parameter_is_an_error() -> None:
    base = socs.load("siracusa")
    area = base.area.model_copy(update={"engines": {"neureka": {"lanes": 1.0}}})
    with pytest.raises(UserError, match=r"area\.engines\.neureka names 'lanes'"):
        soc_area(base.model_copy(update={"area": area}))
