"""Numbers out of numbers: tables, projections, statistics. No files, no models, no figures.

spans       where a signal is high: ranked, non-overlapping spans of tokens
projection  states [N, D] -> a map [N, 2 or 3]: PCA, UMAP; fair choice of points under a cap
"""
