"""What `benchmarks.ot` and `benchmarks.training_group` are made of.

measured   clocks, memory, calibration
planted    rollouts of any size, and the objective (2)
peers      other solvers of the same job, from the same start
"""
