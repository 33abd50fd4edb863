"""``if`` and logic on nodes, in pipelines that are defined with ``enable_conditionals=True``.

`convert` makes a function of the user's anew: `rewrite` replaces ``if``, ``and``, ``or``, ``not`` and calls in its
syntax tree by what decides at definition. Values that Python knows then go Python's way; nodes make both branches
(`If`), and their results are merged (`merge`).
"""
