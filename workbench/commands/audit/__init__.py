"""The commands of `workbench audit`, its page and its desk."""
