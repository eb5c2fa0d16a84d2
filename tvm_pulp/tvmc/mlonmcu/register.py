"""Bring the plug-in's components into MLonMCU's registries."""

import warnings
from typing import Any

from tvm_pulp.errors import UserError

_INSTALL = "pip install 'tvm_pulp[mlonmcu]'"


def register() -> None:
    """Register everything, as often as wanted; MLonMCU executes extensions again for every context."""
    import_mlonmcu()
    from mlonmcu.feature.features import register_feature
    from mlonmcu.flow import SUPPORTED_BACKENDS, SUPPORTED_FRAMEWORKS
    from mlonmcu.models import SUPPORTED_FRONTENDS
    from mlonmcu.platform import register_platform
    from mlonmcu.session.postprocess import SUPPORTED_POSTPROCESSES

    from tvm_pulp.tvmc.mlonmcu import names
    from tvm_pulp.tvmc.mlonmcu.backend import TvmPulpBackend, TvmPulpFramework, made_for
    from tvm_pulp.tvmc.mlonmcu.features import all_features
    from tvm_pulp.tvmc.mlonmcu.frontend import TvmPulpFrontend
    from tvm_pulp.tvmc.mlonmcu.platform import TvmPulpPlatform
    from tvm_pulp.tvmc.mlonmcu.postprocesses import ComparePostprocess, ValidatePostprocess
    from tvm_pulp.tvmc.mlonmcu.target import TvmPulpTarget
    from tvm_pulp.tvmc.mlonmcu.tool import keep_failures

    features = all_features()
    for name, feature in features.items():
        register_feature(name)(feature)
    register_platform(names.PLATFORM, TvmPulpPlatform, override=True)
    registries: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (SUPPORTED_FRAMEWORKS, {names.FRAMEWORK: TvmPulpFramework}),
        (SUPPORTED_BACKENDS, {name: made_for(name, engine) for name, engine in names.backends().items()}),
        (SUPPORTED_FRONTENDS, {names.FRONTEND: TvmPulpFrontend}),
        (SUPPORTED_POSTPROCESSES, {names.VALIDATE: ValidatePostprocess, names.COMPARE: ComparePostprocess}),
    ]
    components: dict[str, Any] = {
        names.PLATFORM: TvmPulpPlatform,
        **dict.fromkeys(names.targets(), TvmPulpTarget),
        **features,
    }
    for registry, own in registries:
        registry.update(own)
        components |= own
    TvmPulpBackend.known_keys = {name: component.DEFAULTS for name, component in components.items()}
    keep_failures()


def import_mlonmcu() -> None:
    """Import it in the order that its own circular imports ask for; a user error where it cannot be."""
    try:
        import importlib.util  # noqa: F401  (MLonMCU uses it without importing it)

        with warnings.catch_warnings():
            # That pkg_resources goes away is why setuptools is kept at an old version.
            warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
            import mlonmcu.cli.main  # noqa: F401  (first: `mlonmcu.flow` first fails with a circular import)
    except ModuleNotFoundError as error:
        if error.name == "mlonmcu":
            raise UserError(f"MLonMCU is not installed: {_INSTALL}") from None
        if error.name in ("pkg_resources", "distutils"):
            raise UserError(
                f"MLonMCU needs '{error.name}', which setuptools has up to version 80: {_INSTALL}"
            ) from None
        raise UserError(f"MLonMCU needs the package '{error.name}', which is not installed: {_INSTALL}") from None
