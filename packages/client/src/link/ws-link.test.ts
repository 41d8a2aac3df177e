/** The link over a WebSocket: what it has in common with others, and what is its own. */

import { makeId, toBase64url } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { acknowledge, cancel, submit } from "../acts.ts";
import type { Warning } from "../base.ts";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { realSurroundings } from "../surroundings.ts";
import { describeLink } from "./link.conformance.ts";
import type { LeaseOver } from "./link.ts";

describeLink("websocket");

interface Frame {
  readonly calls?: readonly { readonly n: number; readonly op: string }[];
  readonly signature?: object;
  readonly abandon?: readonly number[];
}

/** Real sockets, with what was sent over each. */
function recording() {
  const frames: Frame[] = [];
  const sockets: WebSocket[] = [];
  class RecordingSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
    override send(text: string): void {
      frames.push(JSON.parse(text));
      super.send(text);
    }
  }
  return { frames, sockets, WebSocket: RecordingSocket };
}

describe("the link over a WebSocket", () => {
  let relay: TestRelay;
  const clients: Client[] = [];

  async function open(agent: string, options: ConnectOptions = {}): Promise<Client> {
    const key = toBase64url(realSurroundings.randomBytes(32));
    const client = await connect({ url: relay.url, agent, key, ...options });
    clients.push(client);
    return client;
  }

  beforeEach(async () => {
    relay = await TestRelay.start();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await relay.stop();
  });

  const newId = () => makeId(Date.now(), realSurroundings.randomBytes(10));

  test("sends all calls of a tick in one frame, under one signature", async () => {
    const { frames, WebSocket } = recording();
    const ann = await open("ann", { WebSocket });
    frames.length = 0;
    const drafts = Array.from({ length: 50 }, (_, input) => ({ id: newId(), capability: "echo", input }));
    await Promise.all(drafts.map((draft) => submit(ann.base, { ...draft, queue_if_absent: true })));
    expect(frames.map(({ calls = [] }) => calls.length)).toEqual([50]);
    expect(frames[0]?.signature).toMatchObject({ key: ann.key });
  });

  test("tells the relay of a wait that nobody wants any more", async () => {
    const { frames, WebSocket } = recording();
    const ann = await open("ann", { WebSocket });
    const controller = new AbortController();
    const waiting = ann.call("outcomes", {}, { wait_ms: 60_000, signal: controller.signal });
    await ann.call("agents", {});
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await ann.call("agents", {});
    const waited = frames.flatMap(({ calls = [] }) => calls).find(({ op }) => op === "outcomes");
    expect(frames.flatMap(({ abandon = [] }) => abandon)).toEqual([waited?.n]);
  });

  test("sends a new credential well before the old one runs out, and stays connected", async () => {
    const { frames, sockets, WebSocket } = recording();
    let is_compressed = false;
    const after: typeof realSurroundings.after = (ms, run, holds) => {
      const is_first = ms > 200_000 && !is_compressed;
      is_compressed ||= is_first;
      return realSurroundings.after(is_first ? 10 : ms, run, holds);
    };
    const ann = await open("ann", { WebSocket, surroundings: { ...realSurroundings, after } });
    const count = sockets.length;
    const isSent = () => frames.some(({ calls = [] }) => calls.some(({ op }) => op === "authenticate"));
    while (!isSent()) await ann.call("agents", {});
    expect((await ann.call("agents", {})).agents).toHaveLength(1);
    expect(sockets).toHaveLength(count);
  });

  test("goes on over a connection that breaks: waits are asked again, and no submit is done twice", async () => {
    const { sockets, WebSocket } = recording();
    const ann = await open("ann", { WebSocket });
    const worker = await open("worker");
    await worker.base.offer([{ name: "echo" }]);
    const claim = worker.call("claim", { body: { worker: "w1", slots: 50 } }, { wait_ms: 60_000 });
    const id = newId();
    await submit(ann.base, { id, capability: "echo", input: 0 });
    const acknowledged = ann.call("get", { params: { id }, query: { until: "acknowledged" } }, { wait_ms: 60_000 });
    const more = Array.from({ length: 30 }, (_, input) =>
      submit(ann.base, { id: newId(), capability: "echo", input, queue_if_absent: true }),
    );
    sockets.at(-1)?.close();
    const [lease] = (await claim).leases;
    if (lease === undefined) throw new Error("no lease came");
    await acknowledge(worker.base, lease, "w1");
    expect((await acknowledged).state).toBe("working");
    expect(new Set((await Promise.all(more)).map((receipt) => receipt.id)).size).toBe(30);
    expect((await ann.call("list", { query: { limit: 100 } })).handoffs).toHaveLength(31);
  });

  test("tells at once of a lease that is over", async () => {
    const ann = await open("ann");
    const worker = await open("worker");
    await worker.base.offer([{ name: "echo" }]);
    const told = Promise.withResolvers<LeaseOver>();
    const stop = worker.base.link.onLeaseOver(told.resolve);
    const receipt = await submit(ann.base, { id: newId(), capability: "echo", input: 0 });
    const { leases } = await worker.call("claim", { body: { worker: "w1", slots: 1 } }, { wait_ms: 60_000 });
    await cancel(ann.base, { id: receipt.id, digest: receipt.digest }, "not needed");
    expect(await told.promise).toMatchObject({ id: receipt.id, fence: leases[0]?.fence, code: 410 });
    stop();
  });

  test("is not insisted on: where no WebSocket goes through, HTTP is used and somebody is told", async () => {
    const warnings: Warning[] = [];
    class Blocked extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url.replace("/v1/connect", "/v1/nowhere"), protocols);
      }
    }
    const onWarning = (warning: Warning) => warnings.push(warning);
    const ann = await open("ann", { WebSocket: Blocked, patience: "500ms", onWarning });
    expect((await ann.call("agents", {})).agents).toHaveLength(1);
    expect(warnings).toMatchObject([{ reason: "no_websocket" }]);
  });

  test("whose key is revoked while it is open is told why, and not for ever tried", async () => {
    const ann = await open("ann");
    const waiting = ann.call("outcomes", {}, { wait_ms: 60_000 });
    const refused = expect(waiting).rejects.toMatchObject({ code: 401, reason: "revoked_key" });
    await ann.call("revoke_key", { params: { name: "ann", thumbprint: String(ann.key) } });
    await refused;
  });
});
