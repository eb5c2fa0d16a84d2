"""Package description of tvm_pulp; `pyproject.toml` only names the build back end and configures the checkers."""

import importlib.util
import os
import platform
import re
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "scripts"))

from software_bill import software_bill  # noqa: E402

# Everything the compiler hands to a C toolchain, and the data files it reads.
C_RUNTIME_FILES = ["**/*.c", "**/*.h", "**/*.S", "**/*.ld.in", "**/*.cmake", "plugins/**/*", "**/CMakeLists.txt"]

# Lowest Python whose stable interface the simulator extension uses: one wheel per platform for all versions.
LIMITED_API = "0x03090000"
LIMITED_API_TAG = "cp39"

BACKENDS = {"ita": "ItaBackend", "ne16": "Ne16Backend", "neureka": "NeurekaBackend", "qvanilla": "QVanillaBackend"}

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
NOTEBOOK_REQUIREMENTS = ["altair>=5", "ipykernel", "nbclient", "nbformat"]

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
    # Functions and modules of JAX as models, and files of StableHLO, which its library reads.
    "jax": ["jax>=0.7"],
    # Functions and SavedModels of TensorFlow, which writes StableHLO that JAX' library reads.
    "tensorflow": ["tensorflow>=2.19", "jax>=0.7"],
    # Keras models computed by JAX; beside the extra `torch` or `tensorflow`, by those.
    "keras": ["keras>=3.8", "jax>=0.7"],
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
        # It asks for this, whose 1.3.1 is for Pythons before 3.11: uv does not look at that when it locks, pip does.
        "backports.strenum<1.3.1; sys_platform != 'win32'",
        "hypothesis",
        "mypy",
        "onnxruntime",
        # Its classes read the traces that tests write.
        "perfetto",
        "pytest",
        "pytest-xdist",
        "ruff",
        "setuptools>=70.1",
        "types-PyYAML",
        "unicorn",
        # Installs the rest in half of pip's time, and resolves what scripts/lock writes.
        "uv",
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


def find_zig() -> str | None:
    """Return zig of the ziglang package, for wheels of Linux; None where other things are built, or without it."""
    if sys.platform != "linux" or "bdist_wheel" not in sys.argv or importlib.util.find_spec("ziglang") is None:
        return None
    import ziglang

    return str(Path(ziglang.__file__).with_name("zig"))


# A wheel of Linux is for this C library and every later one, whatever the machine that builds it has.
ARCHITECTURE = os.environ.get("TVM_PULP_WHEEL_ARCHITECTURE", platform.machine())
C_LIBRARY = (2, 17)
ZIG = find_zig()


class BuildExtensions(build_ext):
    """Builds what is compiled for a wheel with zig, else with the C compiler of the system."""

    def build_extensions(self) -> None:
        if ZIG is not None:
            major, minor = C_LIBRARY
            # Without -O zig traps on undefined behaviour, and with it where the switch does not say otherwise.
            command = [ZIG, "cc", "-target", f"{ARCHITECTURE}-linux-gnu.{major}.{minor}", "-fno-sanitize=undefined"]
            compile_so = [*command, "-fPIC", "-g0", f"-I{sysconfig.get_path('include')}"]
            link = [*command, "-shared", "-s"]
            self.compiler.set_executables(compiler=command, compiler_so=compile_so, linker_so=link)
        compile_all = self.compiler.compile

        def compile_each(sources: list[str], **options: Any) -> list[str]:
            """Compile one file a processor at a time, where setuptools takes them one by one."""
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_all([source], **options), sources)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_each
        super().build_extensions()


class WheelWithBill(bdist_wheel):
    """A wheel with a list of what it is made of and asks for."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        super().egg2dist(egginfo_path, distinfo_path)
        folder = Path(distinfo_path) / "sboms"
        folder.mkdir()
        bill = software_bill(read_version(), CORE_REQUIREMENTS, ROOT / "constraints.txt")
        (folder / "tvm_pulp.cdx.json").write_text(bill, encoding="utf-8")


def extension(name: str, sources: list[str], include: list[str], *flags: str) -> Extension:
    """Return a shared object of the package.

    It is optional: without a C compiler at installation time, the same sources are built with ziglang on first use.
    """
    headers = sorted(path.relative_to(ROOT).as_posix() for place in include for path in (ROOT / place).rglob("*.h"))
    plain = ["-O2", "-fno-strict-aliasing", "-ffp-contract=off", *flags]
    return Extension(
        name,
        sources=sources,
        depends=headers,
        include_dirs=include,
        define_macros=[("Py_LIMITED_API", LIMITED_API)],
        extra_compile_args=plain if sys.platform != "win32" else ["/O2"],
        py_limited_api=True,
        optional=ZIG is None,
    )


def c_files(folder: Path) -> list[str]:
    """Return the C sources of a folder, as names below the root."""
    return sorted(path.relative_to(ROOT).as_posix() for path in folder.glob("*.c"))


def compiled_parts() -> list[Extension]:
    """Return the simulator and the engines' models; whatever was not built is at its first use."""
    parts = [("_iss", ROOT / "c_runtime" / "iss", ["-fvisibility=hidden"])]
    parts += [(f"_model_{p.parent.name}", p, []) for p in sorted(ROOT.glob("uma_backends/*/model"))]
    return [
        extension(f"tvm_pulp.{name}", c_files(folder), [str(folder.relative_to(ROOT)), "c_runtime/include"], *flags)
        for name, folder, flags in parts
        if folder.is_dir()
    ]


def wheel_options() -> dict[str, str]:
    """Return the tags of a wheel: one for all versions of Python and, built by zig, for all systems from one on."""
    options = {"py_limited_api": LIMITED_API_TAG} if EXTENSIONS else {}
    if ZIG is not None:
        options["plat_name"] = f"manylinux_{C_LIBRARY[0]}_{C_LIBRARY[1]}_{ARCHITECTURE}"
    return options


EXTENSIONS = compiled_parts()

setup(
    name="tvm_pulp",
    version=read_version(),
    description="Quantized networks to bare-metal C for heterogeneous RISC-V chips",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
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
    cmdclass={"bdist_wheel": WheelWithBill, "build_ext": BuildExtensions},
    options={"bdist_wheel": wheel_options()},
    install_requires=CORE_REQUIREMENTS,
    extras_require=EXTRA_REQUIREMENTS,
    entry_points={
        "console_scripts": [
            "tvmc=tvm_pulp.tvmc.main:main",
            "tvmpulp-mlonmcu=tvm_pulp.tvmc.mlonmcu.command_line:main",
        ],
        # A folder may be taken out.
        "tvm_pulp.uma_backends": [
            f"{name}=uma_backends.{name}:{backend}"
            for name, backend in BACKENDS.items()
            if (ROOT / "uma_backends" / name).is_dir()
        ],
        "tvm_pulp.schedules": ["cluster=schedules.cluster:forms"],
        "tvm_pulp.step_calls": ["cluster=schedules.cluster:step_call"],
        "tvm_pulp.runners": [
            "etiss=tvm_pulp.sim.etiss.runner:EtissRunner",
            "gvsoc=tvm_pulp.sim.gvsoc.runner:GvsocRunner",
            "host=tvm_pulp.sim.host:HostRunner",
            "iss=tvm_pulp.sim.iss.runner:IssRunner",
            "qemu=tvm_pulp.sim.qemu.runner:QemuRunner",
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
