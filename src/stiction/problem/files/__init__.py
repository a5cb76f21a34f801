"""Contact problems in files: FCLIB (HDF5), read and written, and the texts of Siconos."""
