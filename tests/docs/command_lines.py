"""Command lines of the documentation: fenced blocks that are meant to be typed, page by page in order."""

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]

_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
_FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```", re.M | re.S)
# What a line that is typed begins with; `tvmc run: ...` is what tvmc says.
_TYPED = re.compile(
    r"^(?:\$ )?((?:tvmc (?!\w+:)|\./scripts/|scripts/|pip |python |mkdocs |cmake |mkdir |sed |gdb-multiarch ).*)$"
)

# Beginnings of command lines that no test can run as they stand, and why.
NOT_RUN = {
    "./scripts/demo": "tests/test_demo.py runs it",
    "./scripts/test": "it runs this test",
    "tvmc run kws.tar --gdb 4711": "it waits for a debugger: tests/sim/test_gdb.py is one",
    "pip install 'tvm_pulp[": "it asks a package index: tests/test_installed_wheel.py installs the package",
    "scripts/study_uma": "a study of many runs, through MLonMCU",
    "gdb-multiarch": "it is interactive: tests/sim/test_gdb_multiarch.py runs the session",
}

# Words of command lines that need a simulator of the user's own, and the variable that names it.
_NEEDS = {
    "GVSOC_HOME": re.compile(
        r"--device gvsoc|--devices iss,gvsoc|tvmc plugin gvsoc .*--build|--baseline baseline\.json"
    ),
    "ETISS_HOME": re.compile(r"--device etiss|--devices iss,etiss|tvmc plugin etiss .*--build"),
}
SIMULATORS = tuple(_NEEDS)


@dataclass(frozen=True)
class CommandLine:
    """One line as it is typed, comment included, and the page it stands on."""

    page: str
    text: str

    @property
    def simulator(self) -> str | None:
        """The variable that names the simulator which the line needs, if it needs one."""
        return next((variable for variable, words in _NEEDS.items() if words.search(self.text)), None)

    @property
    def reason_not_to_run(self) -> str | None:
        """Why it is not run, if it is not."""
        if self.simulator is not None:
            return f"it needs the simulator of {self.simulator}"
        return next((why for start, why in NOT_RUN.items() if self.text.startswith(start)), None)


def command_lines(page: Path) -> list[CommandLine]:
    """Lines of fenced blocks without a language, or of the shell, that begin with a command."""
    found = []
    for language, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in ("", "sh", "bash", "console"):
            lines = block.replace("\\\n", " ").splitlines()
            found += [CommandLine(page.name, match[1]) for line in lines if (match := _TYPED.match(line))]
    return found


def files_of(page: Path) -> dict[str, str]:
    """Files that a page shows in full: blocks that say so, and a block of YAML with a `name`, which is NAME.yaml."""
    shown = page.read_text(encoding="utf-8")
    blocks = _BLOCK.findall(shown)
    named = ((re.search(r"^name: (\w+)$", text, re.M), text) for language, text in blocks if language == "yaml")
    return {f"{match[1]}.yaml": text for match, text in named if match} | dict(_FILE.findall(shown))
