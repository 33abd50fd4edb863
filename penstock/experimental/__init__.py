"""What may change between versions: `penstock.experimental.dynamic` and `penstock.experimental.torchvision`."""
