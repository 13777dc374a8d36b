"""Sphinx: the pages of this folder as a site, without a network. `make docs`."""

project = "Protected EU aggregates"
author = "the authors of sdc-release"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # links to headings, as a repository's own pages have them
exclude_patterns = ["tutorial/*"]
html_theme = "furo"
html_title = project
html_show_sphinx = False
html_show_copyright = False
nitpicky = True
# Files of the repository that no page of the site shows: a reader of the site has the repository beside it.
suppress_warnings = ["misc.highlighting_failure"]
