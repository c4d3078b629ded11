"""COMPONENTS: what runs in the browser, as plain JavaScript modules and the bytes they read.

token_heatmap/   the rollouts of a group as running text, each token coloured by a signal
transport_plan/  a rollout's plan onto its barycenter: matrix, costs and running text
embedding_map/   a map of states: points with their text, barycenter atoms on top
token_table/     a table whose rows are tokens, lit with them
selection_bus/   carries the selection between Python and the views of the page
shared/          what several of them need: bytes with a header, cells of text, the selection
bundle.py        joins a component's modules into the one script that is sent to the page

A component's folder holds `frame.py` (data -> bytes, and back), the `*.js` and `*.css` it shows
them with, and `*.test.js` (`node --test`). Nothing here knows Streamlit, a run on disk, or the
network.
"""
