"""Bounds of the sending side. Times are in seconds."""

WAITS = 64
"""Calls that wait at once, each on a connection of its own. A relay lets one agent have 500, but httpx goes through all
connections for every request: with hundreds that costs more than the shared call which tells of the others."""
WAIT = 60.0
"""One round of a wait; the link asks anew within it as the relay allows."""
LOOK = 20.0
"""Those beyond WAITS hear of outcomes by one call for all; each looks for itself this often besides."""
LOOK_FOR_ACK = 2.0
"""The same for a wait for the ack, of which no list tells."""
PAUSE_LEAST = 0.5
PAUSE_MOST = 8.0
"""Between two looks at a list in which nothing is new but something stays."""
PAGE = 50
STREAM_PATIENCE = 300.0
"""How long a stream waits at least for a relay that is away."""
PAST_DEADLINE = 60.0
"""And how long after the handoff's deadline."""
ERRAND_PATIENCE = 60.0
"""How long a take or a cancel in the background goes on trying while the relay is away."""
ERRAND_GRACE = 10.0
"""How long closing waits for them: what was not taken is only listed again."""
