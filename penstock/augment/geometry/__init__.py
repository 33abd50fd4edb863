"""Where pixels come from: crops, slices, flips, resizing."""
