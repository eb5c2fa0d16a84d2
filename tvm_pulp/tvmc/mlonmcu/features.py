"""Features: switches with a name of their own, for `-f` and `--feature-gen`."""

from collections.abc import Mapping
from typing import Any

from mlonmcu.feature.feature import BackendFeature, FeatureBase, TargetFeature

from tvm_pulp.tvmc.mlonmcu import names

# Feature -> the keys of a backend that it sets; a backend without one of them does not take it.
BACKEND_FEATURES: Mapping[str, Mapping[str, Any]] = {
    "tvmpulp_native_requant": {"requant": "native"},
    "tvmpulp_no_weight_memory": {"weight_memory": "none"},
    "tvmpulp_no_double_buffer": {"double_buffer": False},
    "tvmpulp_greedy": {"planner": "greedy"},
    "tvmpulp_one_core": {"cores": 1},
    "tvmpulp_debug": {"debug": True},
}


def supported(keys: Mapping[str, Any]) -> set[str]:
    """Features of a backend with these keys."""
    return {name for name, values in BACKEND_FEATURES.items() if values.keys() <= keys.keys()}


def all_features() -> dict[str, type[FeatureBase]]:
    """Classes of all features by name. MLonMCU looks at their direct base classes to see what they are for."""
    made = {name: _backend_feature(name, values) for name, values in BACKEND_FEATURES.items()}
    return {**made, names.TRACE_FEATURE: TraceFeature}


def _backend_feature(name: str, values: Mapping[str, Any]) -> type[FeatureBase]:
    def init(self: Any, features: Any = None, config: dict[str, Any] | None = None) -> None:
        BackendFeature.__init__(self, name, features=features, config=config)

    def get_backend_config(self: Any, backend: str) -> dict[str, Any]:
        return {f"{backend}.{key}": value for key, value in values.items()} if self.enabled else {}

    members = {"__init__": init, "get_backend_config": get_backend_config, "__module__": __name__}
    return type(f"Feature_{name}", (BackendFeature,), members)


class TraceFeature(TargetFeature):
    """A timeline of the run as an artifact."""

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        super().__init__(names.TRACE_FEATURE, features=features, config=config)

    def get_target_config(self, target: str) -> dict[str, Any]:
        """Targets of ours have the key."""
        return {f"{target}.trace": self.enabled} if target in names.targets() else {}
