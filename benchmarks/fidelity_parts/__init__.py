"""What `benchmarks.fidelity` is made of.

kept_runs   demo runs with further layers, SmolLM2 rollouts sampled once: below artifacts/
classes     outcome classes of those runs and of planted rollouts
agreement   ranks against exact FGW and against the ceiling; objectives; bootstrap
curves      refine, anchors, ε and α: cost against agreement
"""
