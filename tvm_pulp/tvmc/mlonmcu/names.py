"""Names of the plug-in's components. Engines and SoCs come from their registries, so new ones appear here."""

# MLonMCU hands `<name>.<key>` to every component whose name the part before the dot ends with: no name may be the end
# of another one.
FRAMEWORK = "tvmpulp"
FRONTEND = "tvmpulp_frontend"
PLATFORM = "tvmpulp_platform"
VALIDATE = "tvmpulp_validate"
COMPARE = "tvmpulp_compare"
TRACE_FEATURE = "tvmpulp_trace"
# The backend without an accelerator, and the one with all that the SoC carries.
CORES_ONLY = "tvmpulp_c"
EVERY_ENGINE = "tvmpulp_auto"

# Prefix of SoC names that says no more than the instruction set.
_ISA_PREFIX = "rv32-"


def backends() -> dict[str, str | None]:
    """Backends by name, with the engine of each; None for those that are not of one engine."""
    from tvm_pulp.uma import registry

    engines: dict[str, str | None] = {f"{FRAMEWORK}_{engine}": engine for engine in registry.names()}
    return {CORES_ONLY: None, EVERY_ENGINE: None, **engines}


def targets() -> dict[str, str]:
    """Targets by name, with the SoC of each."""
    from tvm_pulp import soc

    return {target_name(name): name for name in soc.names()}


def target_name(soc: str) -> str:
    """The target of a SoC: `tvmpulp_` and its name as an identifier."""
    return f"{FRAMEWORK}_{soc.removeprefix(_ISA_PREFIX).replace('-', '_')}"
