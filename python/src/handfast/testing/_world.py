"""What a test relay and everybody around it share: one clock, one network, one kind of chance, on one event loop."""

from __future__ import annotations

import random

from .._protocol.encoding import to_base64url
from .._settings import ConnectOptions
from ._calm import Calm, Stir
from ._clock import VirtualClock
from ._loops import OtherLoops
from ._network import End, Network
from ._peer import Peer
from ._process import RelayProcess, State
from ._standstill import Standstill
from ._threads import Threads
from ._time import VirtualTime

SEED_BYTES = 32


class World:
    """Made on the loop that it lives on: the kit's own."""

    def __init__(self, process: RelayProcess, beginning: State, seed: int) -> None:
        self.name: str = beginning["name"]
        """How documents name the relay, in every run the same."""
        self._seed = seed
        self._processes: dict[str, int] = {}
        others = OtherLoops()
        stir = Stir()
        self.clock = VirtualClock(beginning["now"], stir.note)
        self.threads = Threads(stir.note, others)
        calm = Calm(stir, self.threads, others)
        self.network = Network(self.clock, process, beginning, stir, calm, others)
        self.time = VirtualTime(self.clock, self.network, calm, others)
        self.standstill = Standstill(self.time, self.network, self.threads, others)

    def peer(self, agent: str, is_fake: bool) -> Peer:
        """A new process of the agent, which is named after it."""
        number = self._processes.get(agent, 0) + 1
        self._processes[agent] = number
        name = f"{agent}.{number}"
        chance = self._chance(f"the process {name}")
        return Peer(agent, name, self.network, self.threads, chance, End(is_fake))

    def connect_options(self, peer: Peer) -> ConnectOptions:
        """What makes a client live in this world, as this process of its agent."""
        key = to_base64url(self._chance(f"the key of {peer.agent}").randbytes(SEED_BYTES))
        return {"url": self.name, "agent": peer.agent, "key": key, "namespace": "default", "surroundings": peer}

    def _chance(self, whose: str) -> random.Random:
        """Each has its own, so that what one draws does not change what another gets."""
        return random.Random(f"{self._seed} {whose}")
