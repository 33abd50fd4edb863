"""The optimizer: passes over a plan, and the plan in words."""
