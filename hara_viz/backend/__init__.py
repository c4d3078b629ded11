"""BACKEND: the order of steps, headless. One file a verb; command line, pages, tests and notebooks
all come in here, and all get the same numbers.

| file | verb |
|---|---|
| `sample.py` | checkpoint + problems -> a run: sample, cut, verify, take states, keep |
| `states.py` | fill in states, or read a run under another checkpoint |
| `score.py` | a new rewards version of a run |
| `credit.py` | token-level credit of a group (live) or of a whole run (kept) |
| `show.py` | the figures of a run and its most novel spans, as data |
| `compare.py` | checkpoints and methods on the same problems; `compare_*.py`: each question |
| `project.py` | a map of hidden states |
| `jobs.py` | any of them as a process of its own |

Every long step takes `report`, hears nothing back, and may be stopped by what it raises.
"""
