/** The relay itself is killed and started again while work is on: the lease survives, the work is not done twice. */

import { must, type Step, seen, showEvents } from "../step.ts";

export const relayDies: Step = {
  name: "relay-killed",
  title: "The relay itself is killed with SIGKILL and restarted in mid-work",
  async run(stage, show) {
    const { client } = stage;
    const handle = await client.send<{ parts: unknown[] }>("report", { topic: "restarts" }, { timeout: "25s" });
    await seen(
      () => handle.status(),
      ({ checkpoint }) => (checkpoint?.number ?? 0) >= 1,
    );
    await stage.killRelay();
    show.line("the relay is dead; the worker works on");
    await stage.startRelay();
    show.line("the relay is back, on the same store");
    const { parts } = await handle.result();
    const { fence, attempts } = await handle.status();
    await showEvents(client, handle.id, show);
    show.line(`completed under fence ${fence}, attempt ${attempts}, ${parts.length} parts: the lease survived`);
    must(parts.length === 5, "the report is whole");
    must(fence === 1 && attempts === 1, "the same lease went on: nothing was done twice");
  },
};
