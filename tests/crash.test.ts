/**
 * Real crashes: a relay process is killed with SIGKILL at random moments under load and started again on its data.
 * Then everything is drained and every confirmation that anybody ever got is held against what the relay has kept.
 *
 * `KILLS=500 npx vitest run tests/crash.test.ts` kills more often.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Load } from "./support/load.ts";
import { RelayProcess } from "./support/relay-process.ts";

const kills = Number(process.env["KILLS"] ?? 25);
const timeout = 120_000 + kills * 10_000;

test(`${kills} times SIGKILL under load: nothing accepted is lost, nothing is completed twice`, {
  timeout,
}, async () => {
  const relay = await RelayProcess.start(["--requests-per-second", "100000", "--request-burst", "100000"]);
  try {
    const load = await Load.start(relay.url);
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(100 + Math.random() * 700);
      await relay.end("SIGKILL");
      await relay.start();
    }
    await load.drain();
    await load.check();
    expect(load.told.accepted.size).toBeGreaterThan(kills * 5);
    expect(load.repeats).toBeGreaterThan(kills);
    const count = load.told.accepted.size;
    process.stdout.write(
      `${kills} kills: ${count} handoffs accepted and completed, ${load.repeats} calls repeated, 0 lost, 0 twice\n`,
    );
  } finally {
    await relay.dispose();
  }
});
