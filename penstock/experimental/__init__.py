"""What may still change: `penstock.experimental.dynamic`."""
