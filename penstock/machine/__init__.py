"""What the machine offers: the native library, CUDA's libraries, those of codecs, processors."""
