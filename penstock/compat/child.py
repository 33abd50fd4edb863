"""The main module of processes that programs under ``python -m penstock.compat`` start by ``spawn``.

``multiprocessing`` imports the main module again in such a process, under the name ``__mp_main__``; what starts Python
anew with the main module's name and the same arguments, as launchers of training do, runs this under ``__main__``.
"""

from __future__ import annotations

if __name__ in ("__main__", "__mp_main__"):
    from penstock.compat.run import run_in_child

    globals().update(run_in_child(__name__))
