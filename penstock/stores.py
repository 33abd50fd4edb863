"""Object stores: ``penstock.stores.use`` gives a bucket a client of your own (docs/stores.md)."""

from penstock.read.stores.clients import use

__all__ = ["use"]
