"""A user error is one line of bearable length, whatever names from files are in its sentence."""

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.soc import recorded


@pytest.mark.parametrize("name", ['a b\n"$(id)"', "\x1b[2J", "\ud800", "x" * 3000])
def test_names_from_files_in_a_sentence(name: str) -> None:
    with pytest.raises(UserError, match="does not know: recompile") as caught:
        recorded({"soc": name})
    told = str(caught.value)
    assert told.isprintable() and len(told) <= 1500 and told.encode()
