"""``nvidia.dali`` under another roof: scripts written for DALI run on Penstock, unchanged.

``python -m penstock.compat script.py`` runs a script, a module (``-m``) or a notebook so; in a program or notebook of
one's own `install` does, before the first ``import nvidia.dali``. Whether DALI is installed makes no difference, and
other packages of the namespace ``nvidia`` stay what they are.

What DALI 2.4 has in its public modules is there, or is refused by name, with what to use instead: where it is imported
by UnsupportedImportError (an ImportError), and where it is looked up by UnsupportedNameError (an AttributeError).
docs/migrating.md says more.

>>> from penstock import compat
>>> compat.install()
>>> from nvidia.dali import fn, pipeline_def
>>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
... def pipeline():
...     return fn.random.coin_flip(probability=1.0)
>>> pipeline().run()[0].as_array().tolist()
[1, 1]
>>> compat.uninstall()
"""

from __future__ import annotations

from penstock.compat.finder import install, is_installed, uninstall

__all__ = ["install", "is_installed", "uninstall"]
