"""The labeling tools. Each has a module that writes its tasks and reads its exports."""

from workbench.extras.sessions import doccano, label_studio, prodigy

# the last tool that owns a record counts: records of Prodigy may also have the fields of doccano
TOOLS = {tool.key: tool for tool in (label_studio.TOOL, doccano.TOOL, prodigy.TOOL)}
