"""Names of the accelerators that are installed, without loading one: a misspelt target is said at once."""

from tvm_pulp.errors import UserError, meant
from tvm_pulp.plug_ins import entry_points

GROUP = "tvm_pulp.uma_backends"


def engine_names() -> list[str]:
    """Engines that are installed."""
    return sorted({e.name for e in entry_points(group=GROUP)})


def check_targets(text: str) -> list[str]:
    """The engines of a target list, by priority, without `c`; all of them are installed."""
    known = ["c", *(f"uma-{name}" for name in engine_names())]
    targets = [part.strip() for part in text.split(",")]
    for target in targets:
        if target not in known:
            advice = meant(target, known, f"choose from {', '.join(known)}")
            raise UserError(f"--target '{target}' is unknown: {advice}")
    return [target.removeprefix("uma-") for target in targets if target != "c"]
