"""An archive as a project that people build: CMake files, an example, a page, and the ELF that we build of it."""
