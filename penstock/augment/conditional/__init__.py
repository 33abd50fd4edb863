"""What conditionals are made of: one operator per module."""
