"""The project's own models, built by code from a seed: no file from outside is needed."""

from tvm_pulp.frontend.zoo.catalog import build, build_float, float_names, float_samples, names, sample_inputs

__all__ = ["build", "build_float", "float_names", "float_samples", "names", "sample_inputs"]
