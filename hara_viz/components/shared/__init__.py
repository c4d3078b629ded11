"""What several components need.

envelope.py, envelope.js   bytes with a JSON header and blocks of numbers, checked on both sides
cells.py, cells.js         a rollout as display cells, so that the browser never indexes its text
selection.js               the selection that components share: address, events, moves of the user
view.js                    zoom and pan along an axis
base.css                   colours, tooltip and buttons that follow the page's theme
"""
