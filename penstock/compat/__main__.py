"""``python -m penstock.compat script.py``: runs what was written for DALI on Penstock."""

from __future__ import annotations

import sys

from penstock.compat.notebook import NotRunnableError
from penstock.compat.run import Program, run

_USAGE = """usage: python -m penstock.compat FILE [ARGUMENT ...]
       python -m penstock.compat -m MODULE [ARGUMENT ...]

Runs a script, a notebook (.ipynb) or a module in which `import nvidia.dali` gives Penstock, with these arguments."""


def main(words: list[str]) -> int:
    if words[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    as_module = words[:1] == ["-m"]
    rest = words[as_module:]
    if not rest or rest[0].startswith("-"):
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        run(Program("module" if as_module else "file", rest[0]), rest[1:])
    except NotRunnableError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
