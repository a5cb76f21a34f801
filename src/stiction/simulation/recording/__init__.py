"""Recordings: runs in HDF5 files (docs/recordings.md).

schedule      which steps are recorded
recorder      frames of steps, in memory or into a file
writer        frames into blocks of a file; `layout` says which datasets there are
claim         the lock of a file that a run writes
checkpoints   the whole state of a simulator, from which it goes on to the same bits
header        checks of what a file says of itself
reader        a file, read on demand
recording     `save` and `load`: trajectories as files, those of older versions too
tables        contacts and joints over time
lazy          data classes whose fields are read when they are asked for
"""
