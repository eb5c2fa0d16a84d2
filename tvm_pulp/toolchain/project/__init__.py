"""An archive as a project that people build. Public modules: `project_files` for what it is built with, `build_archive`
for the ELF that we build of it, `unpack` for its files in a folder."""

__all__ = [
    "build_archive",
    "project_files",
    "unpack",
]
