"""What a lesson's notebook reads and checks before it shows anything, a file per topic.

Each has one function, `read`, which the notebook calls with its parameters and which its metadata names, as in
`{"workbench": {"read": "workbench.inputs.stratified.read"}}`. The command line calls it too, with those parameters that
it takes, before it starts a kernel: a mistake that it refuses is told at once. A function with a parameter `write` gets
False there, since only the notebook may write files.
"""
