"""Where do the states lie?"""
from hara_viz.ui.frame import inside_frame

inside_frame()
