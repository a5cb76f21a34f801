"""The figures of the papers' experiments, drawn from what the modules of `papers/` have found."""
