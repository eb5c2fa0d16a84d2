"""Names come from the registries, and none is the end of another one."""

from tvm_pulp import soc
from tvm_pulp.tvmc.mlonmcu import names
from tvm_pulp.uma import registry


def test_every_engine_and_every_soc_has_a_component() -> None:
    assert {f"tvmpulp_{engine}" for engine in registry.names()} < names.backends().keys()
    assert {"tvmpulp_c", "tvmpulp_neureka", "tvmpulp_ita", "tvmpulp_qvanilla"} < names.backends().keys()
    assert set(names.targets().values()) == set(soc.names())
    assert {"tvmpulp_siracusa", "tvmpulp_snitch_ita", "tvmpulp_mcu", "tvmpulp_host"} < names.targets().keys()


def test_a_target_is_called_as_its_soc() -> None:
    assert names.target_name("snitch-ita") == "tvmpulp_snitch_ita"
    assert names.target_name("rv32-mcu") == "tvmpulp_mcu"


def test_no_component_takes_the_configuration_of_another() -> None:
    """MLonMCU gives `a.key` to every component whose name followed by a dot is in the key."""
    every = [*names.backends(), *names.targets(), names.FRAMEWORK, names.FRONTEND, names.PLATFORM, names.VALIDATE]
    assert len(set(every)) == len(every)
    assert [(a, b) for a in every for b in every if a != b and f"{b}.key".find(f"{a}.") >= 0] == []
