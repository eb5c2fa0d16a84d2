"""`python -m tvm_pulp.tvmc.mlonmcu`: the same as the command `tvmpulp-mlonmcu`."""

import sys

from tvm_pulp.tvmc.mlonmcu.command_line import main

if __name__ == "__main__":
    sys.argv[0] = "tvmpulp-mlonmcu"  # help texts name the command
    sys.exit(main())
