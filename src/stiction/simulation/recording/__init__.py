"""Recordings: what is written when (`schedule`, `recorder`), how (`writer`, `layout`, `checkpoints`, `claim`), and how
it is read again (`header`, `reader`, `recording`, `tables`, `lazy`).
"""
