import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Pulse } from "./pulse.ts";

/** A relay that answers after a while. */
async function slowRelay(delay_ms: () => number) {
  const server = createServer((_, response) => setTimeout(() => response.end("{}"), delay_ms()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => server.closeAllConnections() ?? server.close() };
}

describe("the pulse", () => {
  it("notices that a relay stood still, and from when on it did not", async () => {
    let delay_ms = 1_000;
    const relay = await slowRelay(() => delay_ms);
    const pulse = new Pulse(relay.url);
    const began = performance.now();
    const watching = pulse.run();
    while (!pulse.hasStalledSince(began)) await pause(10);
    delay_ms = 0;
    expect(pulse.hasStalledSince(performance.now() + 60_000)).toBe(false);
    pulse.stop();
    await watching;
    relay.close();
  });
});
