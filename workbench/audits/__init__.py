"""An audit as a whole: plan, labels, finding."""
