"""Names of axes, and the variants they make."""

import pytest

from tvm_pulp.dse import grid
from tvm_pulp.errors import UserError


def test_every_combination_in_order() -> None:
    made = grid(base="siracusa", l1=["64k", 131072], cores=[4, 8], neureka_columns=[8])
    assert len(made) == 4
    assert [v.name for v in made][:2] == [
        "siracusa l1=64k cores=4 neureka_columns=8",
        "siracusa l1=64k cores=8 neureka_columns=8",
    ]
    soc = made[3].soc()
    assert (soc.memory.l1.size, soc.cluster.cores) == (131072, 8)
    assert soc.engines["neureka"].parameters["pe_columns"] == 8 and soc.name != "siracusa"


def test_paths_and_single_values() -> None:
    made = grid("siracusa", **{"dma.startup": [1, 8], "dma": 4})
    assert [v.soc().dma.startup for v in made] == [1, 8] and made[0].soc().dma.bytes_per_cycle == 4


def test_no_axis_is_the_base() -> None:
    (only,) = grid("siracusa")
    assert only.soc().name == "siracusa" and only.name == "siracusa"


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"l1": []}, "'l1' has no value"),
        ({"colums": [1]}, "'colums' is no setting of SoC siracusa: choose from cores"),
        ({"startup": [1]}, "did you mean dma.startup"),
        ({"neureka_height": [1]}, "'neureka_height' is no parameter of engine neureka: choose from neureka_pe_rows"),
        ({"l1": ["many"]}, "l1 'many' is no number of bytes"),
    ],
)
def test_mistakes(axes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        grid("siracusa", **axes)
