"""`python -m bench.gpu_first WHO ROOT`: seconds from the process's start to the first batch, as one line of JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from bench.pipelines import LOADS, make
from bench.worker import LIBRARIES


def started() -> float:
    """Seconds since this process was started."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    who, root = sys.argv[1:]
    make(LIBRARIES[who], "train", root, 16, 256, LOADS[who]).run()
    print(json.dumps({"seconds": started()}))


if __name__ == "__main__":
    main()
