"""Running a plan: the native engine, driven by Python."""
