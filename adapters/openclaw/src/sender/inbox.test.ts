/** What an inbox does when OpenClaw replaces it while it tells something. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { TestRelay } from "../../../../packages/relay/src/testing/test-relay.ts";
import type { Sessions } from "../openclaw.ts";
import { readSettings } from "../settings.ts";
import { shared } from "../shared.ts";
import { Inbox } from "./inbox.ts";
import { originLabels } from "./origin.ts";

test("a turn that the inbox before it has begun is waited for, and not begun again", async () => {
  const relay = await TestRelay.start();
  onTestFinished(() => relay.stop());
  const home = mkdtempSync(join(tmpdir(), "handfast-keys-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const client = await connect({ url: relay.url, agent: "claw", home });
  onTestFinished(() => client.close());
  await client.serve({ shout: (text: string) => text.toUpperCase() }, { signals: false });
  const labels = originLabels("g1", { sessionKey: "agent:main:busy" });
  const handle = await client.send("shout", "hello", { labels });
  await handle.outcome({ take: false });

  // A session that is busy: what is begun there waits in OpenClaw's queue, and stands in no transcript yet.
  const queued: string[] = [];
  const transcript: object[] = [];
  const { promise: ran, resolve: run } = Promise.withResolvers<{ status: "ok" }>();
  const sessions: Sessions = {
    run: async ({ message, idempotencyKey = "" }) => {
      queued.push(message);
      return { runId: idempotencyKey };
    },
    waitForRun: () => ran,
    getSessionMessages: async () => ({ messages: transcript }),
  };
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const parts = { client, sessions, logger, settings: readSettings({}), gateway: "g1" };
  const first = new Inbox({ ...parts, shared: shared() });
  first.start();
  await vi.waitFor(() => expect(queued).toHaveLength(1));
  first.stop();

  const waited = vi.spyOn(sessions, "waitForRun");
  const second = new Inbox({ ...parts, shared: shared() });
  second.start();
  await vi.waitFor(() => expect(waited).toHaveBeenCalled());
  transcript.push(...queued.map((content) => ({ role: "user", content })));
  run({ status: "ok" });
  await vi.waitFor(async () => expect((await handle.status()).taken_at).not.toBeNull());
  second.stop();
  expect(queued).toHaveLength(1);
});
