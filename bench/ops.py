"""`./dev bench ops`: each operator beside DALI's, on the CPU or, with `--gpu`, on a GPU.

    ./dev bench ops                all operators on 2 threads
    ./dev bench ops blur warp      those whose names have one of these in them
    ./dev bench ops --gpu          on the GPU

All of them go to bench/results/ops.md, or ops-gpu.md; some of them nowhere, unless `--output` says where. The last rows
are the geometric mean and what is slower than 0.8 times DALI.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from bench import operators
from bench.inputs import THREADS
from bench.photos import photos
from bench.report import has_dali, table, write


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench ops", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of operators' names (default: all)")
    parser.add_argument("--gpu", action="store_true", help="on a GPU, of data that is there")
    parser.add_argument("--threads", type=int, default=THREADS, help="of each pipeline")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each library")
    parser.add_argument("--seconds", type=float, default=0.25, help="length of one round")
    parser.add_argument("--count", type=int, help="photographs in the set, for a short trial")
    parser.add_argument("--output", metavar="FILE", help="write all of it to this file")
    options = parser.parse_args()
    if not has_dali():
        sys.exit("DALI, which is compared with, is not installed")

    def lines() -> Iterator[str]:
        yield from (operators.__doc__ or "").strip().splitlines()
        yield f"{options.threads} threads; {options.rounds} rounds of {options.seconds:g} s for each library."
        yield ""
        rows = operators.rows(
            photos("420", options.count), options.rounds, options.seconds, options.names, options.threads, options.gpu
        )
        yield from table(["operator", "arguments", "Penstock ms", "DALI ms", "times DALI"], rows)

    if (options.names or options.count) and not options.output:
        for line in lines():
            print(line, flush=True)
    else:
        name, where = ("ops-gpu", "a GPU") if options.gpu else ("ops", "CPUs")
        write(name, f"Operators on {where}", {"all": ("All operators", lines)}, False, options.output)


if __name__ == "__main__":
    main()
