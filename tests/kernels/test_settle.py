"""Elements that an engine's two bounds leave open: pixels and windows, edges, both types, odd sizes."""

import numpy as np
import pytest

from tests.kernels.check import check
from tests.kernels.settle_case import settle_case

TYPES = [(x, y) for x in ("int8", "uint8") for y in ("int8", "uint8")]


@pytest.mark.parametrize("dtypes", TYPES)
@pytest.mark.parametrize("size, columns, depth", [((1, 1), 4, 1), ((5, 7), 12, 27), ((3, 4), 36, 16), ((6, 6), 32, 64)])
def test_inputs_of_a_pixel(dtypes, size, columns, depth):  # type: ignore[no-untyped-def]
    check(settle_case(np.random.default_rng(depth), size, columns, depth, dtypes=dtypes, open_share=0.2), 8)


@pytest.mark.parametrize("dtypes", TYPES)
@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 0, 0, 0), (1, 0, 0, 1), (0, 2, 2, 0)])
@pytest.mark.parametrize("size", [(6, 6), (3, 11)])
def test_windows(dtypes, pads, size):  # type: ignore[no-untyped-def]
    check(settle_case(np.random.default_rng(sum(pads)), size, 12, dtypes=dtypes, pads=pads, open_share=0.2), 8)


@pytest.mark.parametrize("cores", [1, 3, 8])
@pytest.mark.parametrize("open_share", [0.0, 1.0])
def test_none_and_all(cores, open_share):  # type: ignore[no-untyped-def]
    check(settle_case(np.random.default_rng(cores), (4, 5), 28, open_share=open_share), cores)
