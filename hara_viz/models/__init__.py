"""Checkpoints -> generations and hidden states. The only room that knows transformers.

load_policy    a directory, GGUF file, adapter or hub id -> Policy     load.py, layouts.py
render_prompt  messages -> the ids that the policy reads               prompt.py
sample         requests -> completions, whole groups together          sampling.py, sampler.py
teacher_force  prompts and completions -> states, log-probabilities    teacher.py, head.py

Below them: batch.py (rows of a key-value cache that come and go), noise.py (draws that hang on a
rollout's name alone), cuts.py (temperature, top-k, ...), memory.py, fingerprint.py.
"""

from hara_viz.models.load import load_policy
from hara_viz.models.policy import Policy
from hara_viz.models.prompt import RenderedPrompt, render_prompt
from hara_viz.models.requests import Completion, SampleRequest
from hara_viz.models.sampling import sample
from hara_viz.models.teacher import TeacherForced, teacher_force

__all__ = [
    "Completion",
    "Policy",
    "RenderedPrompt",
    "SampleRequest",
    "TeacherForced",
    "load_policy",
    "render_prompt",
    "sample",
    "teacher_force",
]
