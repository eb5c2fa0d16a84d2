"""Every format of files that a user hands to the compiler, by its name. A further one is a file, and a line below."""

from importlib.util import find_spec

from tests.fuzz.formats import (
    archives,
    arrays,
    executables,
    onnx_models,
    reports,
    stablehlo_texts,
    tflite_models,
    tokenizers,
    torch_programs,
    yaml_files,
)
from tests.fuzz.formats.format import Format

FORMATS = {
    made.name: made
    for made in (
        onnx_models.FORMAT,
        tflite_models.FORMAT,
        stablehlo_texts.FORMAT,
        torch_programs.FORMAT,
        arrays.FORMAT,
        yaml_files.SOC,
        yaml_files.STUDY,
        reports.FORMAT,
        archives.FORMAT,
        executables.FORMAT,
        tokenizers.FORMAT,
    )
}


def missing(found: Format) -> str | None:
    """A module that a format needs and that is not installed; None where all are."""
    return next((name for name in found.needs if find_spec(name.split(".")[0]) is None), None)
