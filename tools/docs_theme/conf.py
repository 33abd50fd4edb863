"""Sphinx's settings for the site of `./dev docs`."""

from penstock._version import __version__

project = "Penstock"
version = release = __version__
copyright = "the authors of Penstock"

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # sessions of shells and errors are code, too

html_theme = "furo"  # no fonts and no scripts from elsewhere
html_title = f"Penstock {version}"
html_static_path = ["_static"]
html_css_files = ["penstock.css"]
html_copy_source = False
html_show_sourcelink = False
