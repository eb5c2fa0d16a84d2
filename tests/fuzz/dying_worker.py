"""Ends as its request says: `crash`, `exit`; any other request is answered with itself."""

import faulthandler
import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    with Path(sys.argv[1]).open("w") as last_words:
        faulthandler.enable(last_words)
        for line in sys.stdin:
            request = json.loads(line)
            if request == {"do": "crash"}:
                os.abort()
            if request == {"do": "exit"}:
                sys.exit(3)
            sys.stdout.write(json.dumps(request) + "\n")
            sys.stdout.flush()
