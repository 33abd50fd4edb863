"""The graph of a pipeline while it is being defined: nodes, what makes them, and the lines that errors name."""
