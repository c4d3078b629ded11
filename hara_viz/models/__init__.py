"""Checkpoints -> generations and hidden states. The only room that knows transformers.

load_policy    a directory, GGUF file, adapter or hub id -> Policy     load.py, layouts.py
load_reader    the same -> its tokenizer alone, to look at prompts     reader.py
render_prompt  messages -> the ids that the policy reads               prompt.py
sample         requests -> completions, whole groups together          sampling.py, sampler.py
teacher_force  prompts and completions -> states, log-probabilities    teacher.py, head.py

find_series    a training's folder -> its checkpoints by step          series.py

Also projection.py (states to fewer dimensions, with the measured error) and self_check.py (batched
against solo). Below them: loaders.py, batch.py and rows.py (rows of a key-value cache that come and
go), noise.py (draws that hang on a rollout's name alone), cuts.py (temperature, top-k, ...),
memory.py, fingerprint.py, foreign.py (other trainers' layouts).
"""

from hara_viz.models.load import load_policy
from hara_viz.models.policy import Policy
from hara_viz.models.projection import distance_error, project_states, projection_matrix
from hara_viz.models.prompt import RenderedPrompt, render_prompt
from hara_viz.models.reader import PromptReader, load_reader
from hara_viz.models.requests import Completion, SampleRequest
from hara_viz.models.sampling import sample
from hara_viz.models.self_check import PaddingCheck, padding_self_check
from hara_viz.models.series import Series, StepCheckpoint, find_series
from hara_viz.models.teacher import TeacherForced, teacher_force

__all__ = [
    "Completion",
    "PaddingCheck",
    "Policy",
    "PromptReader",
    "RenderedPrompt",
    "SampleRequest",
    "Series",
    "StepCheckpoint",
    "TeacherForced",
    "distance_error",
    "find_series",
    "load_policy",
    "load_reader",
    "padding_self_check",
    "project_states",
    "projection_matrix",
    "render_prompt",
    "sample",
    "teacher_force",
]
