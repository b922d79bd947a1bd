"""The command line: the commands of the core, and the doctor."""
