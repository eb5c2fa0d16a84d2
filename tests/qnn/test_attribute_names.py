"""The list of attributes is what the operators' own test cases use: no more, no less."""

import pytest

from tests.qnn.test_operators import cases
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.qnn.requant import Requant

# An engine's pass states the one on kernels that it spread out, the frontend the other on 16-bit convolutions.
RARE = {"conv2d": {"macs_per_output", "sum_bits"}, "float_conv2d": {"macs_per_output"}}


def stands_for(name: str) -> tuple[str, ...]:
    """All attributes that one of an operator's `attribute_names` means: with a star, those of a requantization."""
    if not name.endswith("*"):
        return (name,)
    return tuple(Requant("pulp", dtype="int8").attributes(name.removesuffix("*")))


@pytest.mark.parametrize("operator", OPERATORS)
def test_attributes_are_listed(operator: str) -> None:
    used = {name for case in cases(operator, 80, 3) for name in case.attributes}
    listed = OPERATORS[operator].attribute_names.split()
    assert used <= {attribute for name in listed for attribute in stands_for(name)}
    missing = {name for name in listed if used.isdisjoint(stands_for(name))}
    assert missing <= RARE.get(operator, set())
