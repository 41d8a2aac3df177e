"""Written by scripts/generate-python.ts from the protocol's own tables: change those, not these."""
