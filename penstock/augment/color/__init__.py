"""What becomes of a pixel's value."""
