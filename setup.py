"""Package description of tvm_pulp; `pyproject.toml` only names the build back end and configures the checkers."""

import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup

ROOT = Path(__file__).parent

# Everything the compiler hands to a C toolchain, and the data files it reads.
C_RUNTIME_FILES = ["**/*.c", "**/*.h", "**/*.S", "**/*.ld.in", "**/*.cmake", "plugins/**/*", "**/CMakeLists.txt"]

# Lowest Python whose stable interface the simulator extension uses: one wheel per platform for all versions.
LIMITED_API = "0x03090000"
LIMITED_API_TAG = "cp39"

CORE_REQUIREMENTS = [
    "apache-tvm==0.27.0.post1",
    # Later releases of the FFI kill the process in Schedule.tensorize and tvm.ir.save_json.
    "apache-tvm-ffi==0.1.14.post1",
    "numpy>=2",
    "onnx",
    # The compiled half is used, whose names belong to a version; and equal versions give equal plans.
    "ortools>=9.15,<9.16",
    "pydantic>=2",
    "pyelftools",
    "pyyaml",
    "rich",
    "tflite",
    # The default C compiler, for the host and for RISC-V: a plain wheel, so nothing needs root.
    "ziglang",
]

# Studies of many configurations: tables, scaling out, search; and the notebooks of examples/.
STUDY_REQUIREMENTS = ["dask", "distributed", "optuna", "pandas", "pyarrow"]
NOTEBOOK_REQUIREMENTS = ["ipykernel", "nbclient", "nbformat"]

DOCUMENTATION_REQUIREMENTS = ["mkdocs>=1.6", "mkdocstrings[python]"]

# MLonMCU imports pkg_resources and distutils: it needs a setuptools that still has them.
MLONMCU_REQUIREMENTS = ["mlonmcu==0.9.0", "setuptools<81"]

EXTRA_REQUIREMENTS = {
    "mlonmcu": MLONMCU_REQUIREMENTS,
    # Tokenizers of other kinds than the compiler reads itself.
    "text": ["tokenizers"],
    "quantize": ["onnxruntime"],
    # Modules and programs of PyTorch as models; CPU builds suffice.
    "torch": ["torch>=2.6", "torchao"],
    # What `tvmc verify` compares with.
    "verify": ["onnxruntime", "ai-edge-litert; sys_platform != 'win32'"],
    # The emulator that runs and counts programs for Cortex-M.
    "cortex-m": ["unicorn"],
    "dse": STUDY_REQUIREMENTS,
    "notebooks": [*STUDY_REQUIREMENTS, *NOTEBOOK_REQUIREMENTS],
    # The documentation as a site.
    "docs": DOCUMENTATION_REQUIREMENTS,
    "dev": [
        *DOCUMENTATION_REQUIREMENTS,
        *STUDY_REQUIREMENTS,
        *NOTEBOOK_REQUIREMENTS,
        *MLONMCU_REQUIREMENTS,
        # TFLite's reference kernels; there is no wheel for Windows, and its tests skip without it.
        "ai-edge-litert; sys_platform != 'win32'",
        "hypothesis",
        "mypy",
        "onnxruntime",
        # Its classes read the traces that tests write.
        "perfetto",
        "pytest",
        "pytest-xdist",
        "ruff",
        "setuptools>=68",
        "types-PyYAML",
        "unicorn",
        "wheel",
    ],
}


def read_version() -> str:
    """Return `tvm_pulp.__version__` without importing the package."""
    text = (ROOT / "tvm_pulp" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if match is None:
        raise RuntimeError("tvm_pulp/__init__.py has no __version__ line")
    return match.group(1)


def simulator_extensions() -> list[Extension]:
    """Return the instruction-set simulator, or nothing while its sources are absent.

    The extension is optional: without a C compiler at installation time, the same sources are built with ziglang
    on first use.
    """
    sources = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "c_runtime" / "iss").glob("*.c"))
    headers = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "c_runtime").glob("i[sn]*/**/*.h"))
    if not sources:
        return []
    gcc_style = sys.platform != "win32"
    return [
        Extension(
            "tvm_pulp._iss",
            sources=sources,
            depends=headers,
            include_dirs=["c_runtime/iss", "c_runtime/include"],
            define_macros=[("Py_LIMITED_API", LIMITED_API)],
            extra_compile_args=["-O2", "-fno-strict-aliasing", "-ffp-contract=off", "-fvisibility=hidden"]
            if gcc_style
            else ["/O2"],
            py_limited_api=True,
            optional=True,
        )
    ]


EXTENSIONS = simulator_extensions()

setup(
    name="tvm_pulp",
    version=read_version(),
    description="Quantized networks to bare-metal C for heterogeneous RISC-V chips",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(
        include=["tvm_pulp", "tvm_pulp.*", "uma_backends", "uma_backends.*", "schedules", "schedules.*", "c_runtime"]
    ),
    package_data={
        "tvm_pulp": [
            "py.typed",
            "**/*.yaml",
            "**/*.c",
            "**/*.h",
            "**/*.in",
            "**/*.html",
            "**/*.css",
            "**/*.js",
            "frontend/zoo/*.npz",
            "frontend/zoo/*.json",
        ],
        "uma_backends": [*C_RUNTIME_FILES, "**/*.yaml"],
        "schedules": [*C_RUNTIME_FILES, "**/*.yaml"],
        "c_runtime": C_RUNTIME_FILES,
    },
    ext_modules=EXTENSIONS,
    options={"bdist_wheel": {"py_limited_api": LIMITED_API_TAG}} if EXTENSIONS else {},
    install_requires=CORE_REQUIREMENTS,
    extras_require=EXTRA_REQUIREMENTS,
    entry_points={
        "console_scripts": [
            "tvmc=tvm_pulp.tvmc.main:main",
            "tvmpulp-mlonmcu=tvm_pulp.tvmc.mlonmcu.command_line:main",
        ],
        "tvm_pulp.uma_backends": [
            "ita=uma_backends.ita:ItaBackend",
            "ne16=uma_backends.ne16:Ne16Backend",
            "neureka=uma_backends.neureka:NeurekaBackend",
            "qvanilla=uma_backends.qvanilla:QVanillaBackend",
        ],
        "tvm_pulp.schedules": ["cluster=schedules.cluster:forms"],
        "tvm_pulp.step_calls": ["cluster=schedules.cluster:step_call"],
        "tvm_pulp.runners": [
            "etiss=tvm_pulp.sim.etiss.runner:EtissRunner",
            "gvsoc=tvm_pulp.sim.gvsoc.runner:GvsocRunner",
            "host=tvm_pulp.sim.host:HostRunner",
            "iss=tvm_pulp.sim.iss.runner:IssRunner",
            "unicorn=tvm_pulp.sim.unicorn.runner:UnicornRunner",
        ],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Programming Language :: C",
        "Programming Language :: Python :: 3",
        "Topic :: Software Development :: Compilers",
    ],
    zip_safe=False,
)
