"""HarA-Viz: see, token by token, where the credit of an RLVR rollout goes and why.

A trainer imports `hara_viz.credit` and needs torch alone. Nothing heavy is loaded before it is
asked for.
"""

__version__ = "0.1.0.dev0"
