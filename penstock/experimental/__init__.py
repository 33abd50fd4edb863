"""What may change between versions."""
