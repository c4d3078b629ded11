"""Which keys work on which page, and what each page is for.

The keys themselves are handled where their views are: `token_heatmap/keys.js`,
`transport_plan/pointing.js`, `embedding_map/component.js`, `ui/learn_controls.py`. A test compares.
"""

from __future__ import annotations

PAGES = (
    ("Rollouts", "what did each token of a group earn?"),
    ("Transport", "how does a rollout map on its barycenter?"),
    ("Embedding", "where do the hidden states lie?"),
    ("Compare", "what changed between checkpoints or methods?"),
    ("Training", "what did the optimizer get in each step?"),
    ("Learn", "how does credit assignment work?"),
    ("Runs", "which runs exist? start one, import one, watch one grow"),
)
"""Title and question, in the order of the navigation."""

HEATMAP = (
    ("n", "next rollout"),
    ("p", "previous rollout"),
    ("N", "next problem"),
    ("P", "previous problem"),
    ("→", "next token"),
    ("←", "previous token"),
    ("]", "next peak of the fill signal"),
    ("[", "previous peak"),
    ("/", "search all rollouts (Enter next, Shift+Enter previous)"),
    ("g", "go to a token by number"),
    ("e", "expand or collapse this rollout"),
    ("w", "marks for spaces, line ends, special tokens"),
    ("Esc", "unpin, close"),
)
PLAN = (
    ("→", "next token"),
    ("←", "previous token"),
    ("]", "next span"),
    ("[", "previous span"),
    ("+", "zoom in"),
    ("-", "zoom out"),
    ("0", "the whole plan"),
)
MAP = (
    ("→", "next token of the rollout"),
    ("←", "previous token of the rollout"),
    ("+", "zoom in"),
    ("-", "zoom out"),
    ("0", "all points"),
    ("Esc", "give up the lasso"),
)
LESSON = (
    ("→", "next step"),
    ("←", "previous step"),
    ("p", "play the rounds of the barycenter"),
    ("f", "lecture view: full screen, larger, without sidebar; again to leave"),
)

PAGE_KEYS = {
    "Rollouts": (("In the heatmap", HEATMAP),),
    "Transport": (("In the plan, once it has the focus", PLAN),),
    "Embedding": (("In the map, once it has the focus", MAP), ("In the text beside it", HEATMAP)),
    "Learn": (("In the lesson", LESSON),),
}
"""Page -> sections of its own: heading, (key, meaning)."""

LECTURES = {"Learn": {"back": ".st-key-learn-back button", "next": ".st-key-learn-on button"}}
"""Pages with a lecture view -> the buttons that turn its steps."""
