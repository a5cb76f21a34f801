"""Plots, pictures and the viewer; nothing in the physics depends on this folder.

plots, contact_plots        figures of a trajectory, and of its contacts and joints
silhouettes                 bodies at moments and as a film; `raster` computes pixels, `movies` writes files
web/                        the viewer in the browser
convergence, profiles, solution_space, jamming
                            figures of studies
style                       one look for every figure
"""
