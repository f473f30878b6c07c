"""How the pages become a site: ``make docs``. Nothing that a page loads comes from elsewhere."""

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # examples run side by side

import rldp

project = "rldp"
author = copyright = "The rldp maintainers"
version = release = rldp.__version__
language = "en"
highlight_language = "none"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "commands",
    "links",
    "maths",
    "names",
]
exclude_patterns = ["_site", "_templates", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "**/README.*"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    # Names of the library's inside, which has no pages.
    (r"py:.*", r"(?!rldp\.)[\w.]*"),
    (r"py:.*", r"rldp\.[a-z_]+\..*"),
]

# Pages in Markdown
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# Pages of public names
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
autodoc_mock_imports = ["pyspark", "dask"]  # rldp.spark and rldp.dask have pages where neither is installed
_lower = [name.lower() for name in rldp.__all__]
# Where a class and a function differ by case alone, so would their pages, which some disks take for one.
autosummary_filename_map = {
    f"rldp.{name}": f"rldp.{name.lower()}-class"
    for name in rldp.__all__
    if name[0].isupper() and _lower.count(name.lower()) > 1
}
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
numpydoc_validation_checks = {
    "all",
    "ES01",  # a summary may be enough
    "EX01",  # and an example on the page of the function that returns it
    "SA01",  # the page of all names stands in for 'See also'
    "GL01",  # docstrings begin on the line of their quotes
    "SS02",  # a summary may start with a symbol
    "SS03",
    "SS05",
    "SS06",
    "GL08",  # short methods are named well enough
    "PR01",  # fields of records are attributes
    "PR03",  # options may be told in groups
    "PR04",  # what has its type in another function's page
    "PR06",
    "PR07",  # names and types can say it all
    "PR08",
    "PR09",
    "RT02",
    "RT03",
    "RT04",
    "RT05",
    "RT01",
    "YD01",
}
numpydoc_validation_exclude = {
    r"\.__",
    r"\.UncertaintySet$",  # a union of classes has no docstring of its own
    r"\.Settings\.[a-z_]+$",  # fields: numpydoc would read the docstring of their type, int
}

# Examples
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/used",
    "doc_module": ("rldp",),
    "write_computation_times": False,
    "parallel": int(os.environ.get("JOBS", "2")),
    "download_all_examples": False,
    "show_memory": False,
    "reset_modules": ("matplotlib", "figures.apply"),
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.csv",
}

# The site
html_theme = "pydata_sphinx_theme"
html_title = "rldp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # it is fetched from the pages, which browsers refuse in a folder of files
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_domain_indices = False
html_use_index = True
html_sidebars = {"index": [], "about/*": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": "rldp"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "collapse_navigation": True,
    "back_to_top_button": False,
    "footer_start": ["copyright"],
    "footer_end": ["version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
