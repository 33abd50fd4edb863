"""Decoders of pictures, and who decodes on a GPU."""
