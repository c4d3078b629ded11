"""The demo's own small world: word problems, a tokenizer, a tiny language model and its training.

kinds.py      five kinds of word problem: how one is asked, and the ways to solve it
problems.py   draws problems, writes and reads the problem sets
solutions.py  writes a solution in visible steps, right or with a slip, in several styles
tokenizer.py  words, whole numbers and single characters
policy.py     the model: a small Llama; checkpoints in the Hugging Face layout
sampler.py    batched sampling with a key-value cache
warmup.py     supervised warm-up on solutions of which about half are right
rl.py         GRPO with one advantage a rollout, or with HarA's credit a token
"""
