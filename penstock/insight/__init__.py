"""Where the time of a pipeline goes (`profile`), and what this machine offers (``python -m penstock doctor``)."""
