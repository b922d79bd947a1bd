"""Where the labels go: rules, samples of frames, streams and label plans."""
