"""Sound: signals, their spectra, and what is made of these."""
