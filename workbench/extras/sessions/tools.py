"""Tools that people label in, a file each: how tasks are written, and how exports are read."""

from workbench.extras.sessions import doccano, label_studio, prodigy

# a record is of the last tool that owns it: those of Prodigy may have the fields of doccano's, too
TOOLS = {tool.key: tool for tool in (label_studio.TOOL, doccano.TOOL, prodigy.TOOL)}
