"""INTEGRATIONS: a trainer's batch → credit → the trainer's batch, and the record of it.

Nothing else in the house imports this room. Its files, in the order of a training step:

    trl             `HaraGRPOTrainer`, and a mixin for your own subclass of GRPOTrainer
    trl_seam        what we rely on in TRL, checked when a trainer is made
    trl_batch       a batch of TRL's as plain rows
    trl_credit      what is done with it, and when its loss is seen
    policy_states   hidden states of completions: a forward pass of its own, without gradient
    shared_groups   groups whose rollouts lie on several processes
    batch_credit    rows → `assign_credit_packed` → rows
    sequence_ratio  sequence-level importance ratios that keep token advantages apart
    step_metrics    the figures that are logged
    trl_record      a batch on its way into the run
    rollout_rows    rows → rollouts of a run
    recorder        what the trainer used, as a run on disk

The credit is that of `hara_viz.credit`; this room adds no number of its own.
"""
