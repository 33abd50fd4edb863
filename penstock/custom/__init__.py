"""Operators whose work is code of the user's: functions in Python, and what compiled libraries have."""
