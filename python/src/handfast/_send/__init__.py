"""The sending side: give work away, and know what became of it."""
