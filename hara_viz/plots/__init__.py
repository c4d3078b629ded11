"""Plotly figures out of data. Model text in them is escaped: Plotly reads a kind of HTML.

state_map   a map of states in space
lesson      the pictures of the Learn page
"""
