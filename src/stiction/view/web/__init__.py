"""The viewer in the browser.

viewer     the server that shows a run; `live` shows one while it is made
guard      who may talk to the viewer, and what they may say
reel       frames to look at; `play` is where the viewer stands in time
stage      what there is to see of a frame, as arrays; `surfaces` are the shapes
scene      the scene in the browser
panel      controls, charts and numbers beside it
"""
