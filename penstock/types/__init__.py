"""Types and constants of the API, with DALI's names and numbers.

``types.FLOAT`` and its like are members of `DALIDataType`, ``types.RGB`` of `DALIImageType`, ``types.INTERP_LINEAR``
of `DALIInterpType`. They are integers too, as DALI's are when they reach an operator.
"""

X
