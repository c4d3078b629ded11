"""Numbers out of numbers: tables, projections, statistics. No files, no models, no figures.

figures     the figures of a run: pass rates, lengths, groups without signal
signals     what can be shown per token of a group, and what each value means
spans       where a signal is high: ranked, non-overlapping spans of tokens
projection  states [N, D] -> a map [N, 2 or 3]: PCA, UMAP; fair choice of points under a cap

Comparing checkpoints and methods:
    learning_curves, paired, bootstrap   curves with bands; solved and lost; resampling problems
    drift, gromov    how far barycenters move, against a null
    state_fit, usage states of two checkpoints in one space; what became usual
    agreement        credit methods on the same rollouts
    patterns, intervals   words, steps and positions that are novel again and again
"""
