"""Streamlit glue: what every page shares, and nothing that a notebook would need.

selection.py  the one Selection and how a move changes it (pure)
link.py       Selection <-> the query of a link (pure)
fields.py     CreditConfig as form fields and as link values (pure)
presets.py    named credit configurations (pure)
roots.py      the runs folder and the folders the app may touch
state.py      the Selection of this session, mirrored in the address bar
data.py       cached reads: runs, groups, credit
words.py      untrusted text and numbers, safe to show
sidebar.py, problem_list.py, drawer.py   the frame of every page
The rest      one file for each thing that a page puts on the screen
"""

from pathlib import Path

ICON = Path(__file__).with_name("icon.svg")
STYLE = Path(__file__).with_name("page.css")
LOGO = Path(__file__).with_name("logo.svg")
