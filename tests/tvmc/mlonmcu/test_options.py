"""Configuration keys become options of the compiler; what nobody would read is refused."""

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.mlonmcu import options

KNOWN = {"tvmpulp": options.common_defaults(), "tvmpulp_neureka": {"requant": None}}


def test_keys_become_options() -> None:
    given = {"l1": "64k", "cores": 4, "double_buffer": "0", "requant": "native", "pin": "a=cluster,b=neureka"}
    assert options.compile_arguments(given, "neureka") == [
        *("--l1", "64k", "--cores", "4", "--pin", "a=cluster", "--pin", "b=neureka"),
        *("--no-double-buffer", "--target-uma-neureka-requant", "native"),
    ]


def test_what_is_not_stated_is_left_to_the_compiler() -> None:
    assert options.compile_arguments({**options.common_defaults(), **options.engine_defaults("neureka")}, None) == []
    assert options.compile_arguments({"double_buffer": "true", "debug": "off"}, None) == []


def test_a_switch_is_one_or_zero() -> None:
    with pytest.raises(UserError, match=r"^configuration double_buffer=maybe: say 1 or 0$"):
        options.compile_arguments({"double_buffer": "maybe"}, None)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("tvmpulp.corse", "configuration 'tvmpulp.corse': 'tvmpulp' has no 'corse': did you mean 'cores'?"),
        ("tvmpulp_neurka.requant", "there is no 'tvmpulp_neurka': did you mean 'tvmpulp_neureka'?"),
        ("tvmpulp_neureka.soc", "'tvmpulp_neureka' has no 'soc': choose from requant"),
    ],
)
def test_a_key_that_nobody_reads_is_refused(key: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        options.check_keys({"run.export_optional": 1, "tvmpulp.l1": 1, key: 1}, KNOWN)
    assert message in str(raised.value)


def test_keys_of_other_components_are_not_ours() -> None:
    options.check_keys({"etiss.anything": 1, "runs_per_stage": 0, "tvmpulp_neureka.requant": "native"}, KNOWN)
