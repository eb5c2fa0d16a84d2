"""MLonMCU plug-in: framework, backends, targets, features and postprocesses; a command that sets it up offline."""

from tvm_pulp.tvmc.mlonmcu.register import register

__all__ = ["register"]
