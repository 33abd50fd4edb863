"""Where the headers for operators of one's own are: ``#include <penstock/operator.hpp>``."""

from __future__ import annotations

import argparse

HELP = "where the headers for operators of one's own are"
EXAMPLES = """
    c++ -shared -fPIC -I "$(python -m penstock include)" sepia.cpp -o sepia.so
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(_: argparse.Namespace) -> int:
    import penstock

    print(penstock.get_include())
    return 0
