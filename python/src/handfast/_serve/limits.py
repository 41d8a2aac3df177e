"""Bounds of the serving side, each with its unit."""

from __future__ import annotations

from typing import Final

CONCURRENCY: Final = 10
GRACE_S: Final = 20.0
FAREWELL_S: Final = 1.0
"""Handlers that are told to stop get this long to end by themselves, to keep a last checkpoint for instance."""
CLAIMS: Final = 4
"""Claims open at once. They wait only when there is no work, and the first that gets some claims all that is free."""
CLAIM_WAIT_S: Final = 60.0
"""One round of a claim; the link asks anew within it as the relay allows."""
CLAIM_PAUSE_S: Final = 1.0
"""After a claim that was refused or not answered."""
BEATS: Final = 3
"""Beats in one lease period: two may be lost."""
BEAT_MOST_S: Final = 5.0
"""Over HTTP nobody can be told: a handler learns by its next beat that it was canceled, so beats are never far
apart."""
BEAT_THREADS: Final = 4
"""A beat that hangs on a dead connection must not hold up those of other leases. Most servers only ever need one."""
PROGRESS_S: Final = 0.25
"""Progress goes out at most this often; the last is always sent."""
PROGRESS_NOTE_CHARS: Final = 1_000
CHUNK_CHARS: Final = 16_000
"""One chunk on the wire."""
CHUNK_BACKLOG_CHARS: Final = 64_000
"""Text that may wait to be sent before ``write`` makes its caller wait."""
CHUNK_PENDING_CHARS: Final = 8_388_608
"""More than this is waited for by nobody: the stream ends, the work goes on."""
CHUNK_KEPT_CHARS: Final = 1_048_576
"""As much as a relay keeps of one stream: kept here too, to be written again to a relay that restarted."""
MESSAGE_CHARS: Final = 2_000
"""Of an error's message: part of the protocol."""
DETAIL_BYTES: Final = 16_384
DETAIL_DEPTH: Final = 32
"""Of the 64 levels that a document may have."""
DEAF_S: Final = 3.0
"""A handler that goes on for so long after it was told to stop is named in a warning."""
PROPOSE_THREADS: Final = 4
"""Threads for plain functions that answer calls for proposals: never those of the handlers."""
ROOM_PAUSE_S: Final = 5.0
"""An output that a full relay has no room for is told again this often."""
ROOM_PATIENCE_S: Final = 60.0
"""And for this long: then it is a failure."""
NO_THREAD_PAUSE_S: Final = 1.0
"""Before a handoff is given back for whose handler the system had no thread: at once it would come back at once."""
ERRAND_PATIENCE_S: Final = 2.0
"""How long a last call (a release, a claim taken back) goes on trying while the relay is away."""
DESCRIPTION_CHARS: Final = 2_000
"""Of a capability: part of the protocol."""
