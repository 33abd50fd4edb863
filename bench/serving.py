"""`./dev bench serving`: requests to a server under load, beside DALI.

    ./dev bench serving                                       into bench/results/serving.md
    ./dev bench serving --seconds 10 --clients 8

Both libraries are served by PyTriton in the same way, with as many threads, and take turns.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator

from bench.report import table, write
from bench.serving_load import Load, put_load, server
from tools.photographs import Style, photograph

LIBRARIES = ("penstock", "dali")


def rounds(options: argparse.Namespace, files: list[bytes]) -> dict[str, list[Load]]:
    """Of each library."""
    found: dict[str, list[Load]] = {library: [] for library in LIBRARIES}
    for _ in range(options.rounds):
        for library in LIBRARIES:
            with server(library, options.threads) as port:
                put_load(port, files, options.clients, min(3, options.seconds))  # until all is warm
                found[library].append(put_load(port, files, options.clients, options.seconds))
                one = found[library][-1]
                print(f"{library}: {one.rate:.0f} a second, {len(one.problems)} of {one.sent} wrong", flush=True)
    return found


def rows(found: dict[str, list[Load]]) -> Iterator[list[str]]:
    for library, loads in found.items():
        yield [
            library,
            f"{sum(one.sent for one in loads)}",
            f"{sum(one.sent - len(one.seconds) for one in loads)}",
            f"{statistics.median(one.rate for one in loads):.0f}",
            f"{statistics.median(one.percentile(50) for one in loads):.0f}",
            f"{statistics.median(one.percentile(99) for one in loads):.0f}",
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=120, help="of a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2, help="of each pipeline")
    options = parser.parse_args()
    write("serving", "Serving", {"load": ("Photographs under load", lambda: body(options))}, False)


def body(options: argparse.Namespace) -> Iterator[str]:
    yield from [
        f"{options.clients} clients for {options.seconds:.0f} s, {options.rounds} round(s) of each library, in turn.",
        "Each client sends a photograph of about 500x375 and 100 KB by gRPC to a server of PyTriton's on this machine,",
        "waits for the picture (FLOAT, 3x224x224: 602 KB), and sends the next one. Files are decoded, resized and",
        f"normalized by {options.threads} threads, in batches of up to 32 that Triton has put together within 1 ms.",
        "Clients and the server's transport work on the same processors as the pipelines.", "",
    ]  # fmt: skip
    found = rounds(options, [photograph("cat", k, Style()) for k in range(64)])
    yield from table(["", "requests", "lost or wrong", "requests/s", "p50, ms", "p99, ms"], rows(found))
    yield ""


if __name__ == "__main__":
    main()
