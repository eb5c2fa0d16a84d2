"""Kinds of cores: a description of each in a file beside this one, and how they are found."""

from tvm_pulp.soc.core_kinds.core_kind import Architecture, CoreKind, ExecutorCost, core_kind, core_kinds, hal_kind

__all__ = ["Architecture", "CoreKind", "ExecutorCost", "core_kind", "core_kinds", "hal_kind"]
