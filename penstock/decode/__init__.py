"""Decoders of pictures, and the engines that decode on a GPU."""
