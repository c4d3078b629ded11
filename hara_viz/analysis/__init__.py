"""Numbers out of numbers: tables, projections, statistics. No files, no models, no figures.

figures     the figures of a run: pass rates, lengths, groups without signal
signals     what can be shown per token of a group, and what each value means
spans       where a signal is high: ranked, non-overlapping spans of tokens
projection  states [N, D] -> a map [N, 2 or 3]: PCA, UMAP; fair choice of points under a cap
"""
