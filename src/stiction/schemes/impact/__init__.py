"""Impact laws with restitution, for `Moreau`.

law           Newton's, Poisson's and Stronge's law for any number of contacts at once
several       ways to resolve an impact at several contacts: at once, in sequence, driven by work
incremental   one contact, followed through its impact; `rows` has its arrays
work          several contacts that compress and release together, with `kernels`
energy        impacts that add energy: found, refused, or given a smaller coefficient of restitution
"""
