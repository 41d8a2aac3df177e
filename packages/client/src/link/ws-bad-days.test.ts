/** Bad days of a connection, with a real relay behind it. */

import { makeId, toBase64url } from "@handfast/protocol";
import { afterEach, expect, test } from "vitest";
import { TestRelay, type TestRelayOptions } from "../../../relay/src/testing/test-relay.ts";
import { submit } from "../acts.ts";
import type { Warning } from "../base.ts";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { RelayUnreachable } from "../errors.ts";
import { realSurroundings } from "../surroundings.ts";

let relay: TestRelay;
const clients: Client[] = [];

async function start(options: TestRelayOptions = {}): Promise<void> {
  relay = await TestRelay.start(options);
}

async function open(agent: string, options: ConnectOptions = {}): Promise<Client> {
  const key = toBase64url(realSurroundings.randomBytes(32));
  const client = await connect({ url: relay.url, agent, key, ...options });
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await relay.stop();
});

/** Real sockets whose peer can be made to fall silent, as behind a gateway that forgot the connection. */
function silencing() {
  const sockets: Silent[] = [];
  let is_net_down = false;
  class Silent extends WebSocket {
    is_silent = is_net_down;
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
    override send(text: string): void {
      if (!this.is_silent) super.send(text);
    }
  }
  const silence = () => {
    for (const socket of sockets) socket.is_silent = true;
  };
  const goDown = () => {
    is_net_down = true;
    silence();
  };
  return { sockets, WebSocket: Silent, silence, goDown };
}

const newId = () => makeId(Date.now(), realSurroundings.randomBytes(10));

test("many large texts in Japanese are sent at once: no frame is larger than the relay takes", async () => {
  await start({ limits: { ws_frame_bytes: 1_000_000 } });
  const { sockets, WebSocket } = silencing();
  const ann = await open("ann", { WebSocket });
  const count = sockets.length;
  const input = "漢".repeat(50_000);
  const drafts = Array.from({ length: 20 }, () => ({ id: newId(), capability: "echo", input, queue_if_absent: true }));
  const receipts = await Promise.all(drafts.map((draft) => submit(ann.base, draft)));
  expect(receipts.map(({ id }) => id)).toEqual(drafts.map(({ id }) => id));
  expect(sockets).toHaveLength(count);
});

test("one call makes the relay refuse the whole frame: it alone is told, and everything else goes on", async () => {
  await start({ limits: { ws_frame_json_keys: 2_000 } });
  const ann = await open("ann");
  const wait = ann.call("outcomes", {}, { wait_ms: 500 });
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`k${index}`, 1]));
  const body = { capabilities: [{ name: "echo", description: many }] } as never;
  const poison = ann.call("set_capabilities", { params: { name: "ann" }, body });
  const refused = expect(poison).rejects.toMatchObject({ code: 400, reason: "too_many_keys", retryable: false });
  const draft = () => ({ id: newId(), capability: "echo", input: 1, queue_if_absent: true });
  const others = Array.from({ length: 20 }, () => submit(ann.base, draft()));
  await refused;
  expect(await Promise.all(others)).toHaveLength(20);
  expect((await wait).handoffs).toEqual([]);
});

test("a connection goes silent: a call that may not wait goes over another one", async () => {
  await start();
  const { sockets, WebSocket, silence } = silencing();
  const ann = await open("ann", { WebSocket });
  const count = sockets.length;
  silence();
  expect((await ann.call("agents", {}, { answer_ms: 200 })).agents).toHaveLength(1);
  expect(sockets).toHaveLength(count + 1);
});

test("a relay stands still: a call is not waited for longer than its patience", async () => {
  await start();
  const { WebSocket, goDown } = silencing();
  const ann = await open("ann", { WebSocket });
  goDown();
  await expect(ann.call("agents", {}, { patience_ms: 100 })).rejects.toBeInstanceOf(RelayUnreachable);
});

test("a relay stands still: what became of a scatter is not waited for longer than the timeout", async () => {
  await start();
  const { WebSocket, goDown } = silencing();
  const ann = await open("ann", { WebSocket, patience: "1s" });
  goDown();
  const scatter = ann.scatter([{ capability: "echo", input: 1 }]);
  await expect(scatter.settled({ timeout: "50ms" })).rejects.toMatchObject({ reason: "wait_over" });
});

/** Real sockets whose peer says something else after its hello. */
function lying(lie: string) {
  return class extends WebSocket {
    #told = 0;
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      const dispatch = this.dispatchEvent.bind(this);
      this.dispatchEvent = (event: Event) => {
        const is_lie = event instanceof MessageEvent && this.#told++ >= (lie.includes('"hello"') ? 0 : 1);
        return dispatch(is_lie ? new MessageEvent("message", { data: lie }) : event);
      };
    }
  };
}

test.each(['{"hello":null}', '{"hello":{"limits":null}}', '{"replies":[null]}', '{"replies":5}', '{"events":[{}]}'])(
  "what answers is no relay and says %s: connect() says so in time, and the process lives",
  async (lie) => {
    await start();
    const warnings: Warning[] = [];
    const options = { WebSocket: lying(lie), transport: "websocket", patience: "300ms" } as const;
    const opening = open("ann", { ...options, onWarning: (warning) => warnings.push(warning) });
    await expect(opening).rejects.toBeInstanceOf(RelayUnreachable);
    expect(warnings.map(({ reason }) => reason)).toEqual(["not_a_frame"]);
  },
);
