"""Streamlit glue: what every page shares, and nothing that a notebook would need.

Pure, no Streamlit:
    selection   the one Selection and how a move changes it
    link        Selection <-> the query of a link
    fit         what is asked for -> what exists, with a sentence per disappointment
    fields, presets      CreditConfig as form fields and link values; named configs
    roots, finder        the folders the app may touch, and what lies in them
    sample_jobs          what the start form describes -> jobs
    words       untrusted text and numbers, safe to show

For every page:
    frame       pages run inside app.py; the list of pages
    state       the Selection of this session, mirrored in the address bar
    bus         the selection to and from the components
    data, group_view     cached reads; the selected group with its credit
    key_map     the keyboard map on `?`, the lecture view on `f`
    export_buttons       downloads where a thing is shown
    side_work   what takes longer, computed beside the app
    sidebar, problem_list, drawer        run, problem, credit
    click_table, token_table             tables that lead somewhere; those whose rows are tokens
    empty, link_notes, trouble           views with nothing in them; links that ask in vain; damage

The rest: one file for each thing that a page puts on the screen.
"""

from pathlib import Path

ICON = Path(__file__).with_name("icon.svg")
STYLE = Path(__file__).with_name("page.css")
LOGO = Path(__file__).with_name("logo.svg")
