"""LaTeX read as its author meant it: masked, expanded, split in frames, then walked."""
