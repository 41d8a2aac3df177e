/** websocket.md, "Opening" and "Calls". The rest of the page is in websocket-life.ts. */

import { toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Item } from "../caller/peer.ts";
import { rawRequest } from "../caller/raw-http.ts";
import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import { refusal } from "../stage/caller.ts";
import { sent, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";

const opening = "websocket.md#opening";
const calls = "websocket.md#calls";
const over = ["websocket"] as const;

function refused(what: string, { status = 0, problem }: Item, code: number, reason?: string): void {
  refusal(what, status, problem, code, reason);
}

/** What an upgrade is answered with. */
function upgrade(t: Stage, more: Readonly<Record<string, string>>) {
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64"),
    ...more,
  };
  return rawRequest(t.url, { method: "GET", path: "/v1/connect", headers });
}

export const websocketCalls: readonly Check[] = [
  {
    id: "OPENING-1",
    promise:
      "An upgrade without the subprotocol handfast.v1 is refused with HTTP 400, a request without an upgrade with 426.",
    section: opening,
    over,
    run: async (t) => {
      const bare = await upgrade(t, {});
      refusal("an upgrade without the subprotocol", bare.status, bare.body, 400, "subprotocol");
      const plain = await rawRequest(t.url, { method: "GET", path: "/v1/connect" });
      t.equal(plain.status, 426, "the answer to a request without an upgrade");
      const right = await upgrade(t, { "sec-websocket-protocol": "handfast.v1" });
      t.equal(right.status, 101, "the answer to an upgrade as it should be");
    },
  },
  {
    id: "OPENING-2",
    promise: "In development mode an upgrade from a foreign Origin or for a foreign Host is refused with 403.",
    section: opening,
    over,
    mode: "development",
    run: async (t) => {
      const protocol = { "sec-websocket-protocol": "handfast.v1" };
      const origin = await upgrade(t, { ...protocol, origin: "https://evil.example" });
      t.equal(origin.status, 403, "the answer to a foreign Origin");
      const host = await upgrade(t, { ...protocol, host: "evil.example" });
      t.equal(host.status, 403, "the answer to a foreign Host");
    },
  },
  {
    id: "OPENING-3",
    promise: "The relay's hello says who the caller is, and the limits of the connection.",
    section: opening,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const peer = await t.peer(agent);
      const { hello } = await peer.frame((frame) => frame["hello"] !== undefined, "a hello");
      const {
        protocol,
        agent: name,
        role,
        namespace,
        expires_in_ms,
        ping_ms,
        limits,
      }: Record<string, unknown> = Object(hello);
      t.equal(
        { protocol, name, role, namespace },
        { protocol: "handfast.v1", name: agent.name, role: "agent", namespace: t.about.namespace },
        "the hello",
      );
      t.that(
        Number(expires_in_ms) > 0 && Number(expires_in_ms) <= 311_000,
        "expires_in_ms within the life of the credential",
        expires_in_ms,
      );
      t.that(Number(ping_ms) > 0, "ping_ms", ping_ms);
      for (const limit of ["frame_bytes", "frame_calls", "calls_in_flight", "wait_ms"]) {
        t.that(Number(Object(limits)[limit]) > 0, `the limit ${limit}`, limits);
      }
    },
  },
  {
    id: "OPENING-4",
    promise: "A hello that proves no identity ends the connection with 4401.",
    section: opening,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const wrong = [
        "nonsense",
        agent.key.credential(agent.name, "https://other.example"),
        agent.key.credential("somebody-else", t.audience),
      ];
      for (const credential of wrong) {
        const peer = await t.silentPeer();
        peer.send({ hello: { credential } });
        t.equal((await peer.closedByRelay()).code, 4401, "the close code");
      }
      const silent = await t.silentPeer();
      silent.send({ calls: [{ n: 1, op: "list" }] });
      t.equal((await silent.closedByRelay()).code, 4401, "the close code of a frame without a hello");
    },
  },
  {
    id: "OPENING-5",
    promise:
      "Calls may come with the hello, in the same frame or right after it: they are answered after the relay's hello.",
    section: opening,
    over,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const credential = sender.key.credential(sender.name, t.audience);
      const peer = await t.silentPeer();
      const submit = (n: number) => ({ n, op: "submit", body: { capability, input: n } });
      peer.send({ hello: { credential }, calls: [submit(1)] });
      peer.send({ calls: [submit(2)] });
      t.equal([(await peer.reply(1)).status, (await peer.reply(2)).status], [202, 202], "the replies");
      t.that(peer.frames[0]?.["hello"] !== undefined, "the hello first", peer.frames[0]);
      peer.close();
    },
  },
  {
    id: "OPENING-6",
    promise: "A connection that does not say who it is within 10 seconds is closed with 4408.",
    section: opening,
    over,
    waits: true,
    run: async (t) => {
      const peer = await t.silentPeer();
      const began = performance.now();
      t.equal((await peer.closedByRelay(20_000)).code, 4408, "the close code");
      t.that(performance.now() - began >= 9_500, "ten seconds before that", performance.now() - began);
    },
  },
  {
    id: "OPENING-7",
    promise: "`websocket_urls` in `/.well-known/handfast` names where to connect.",
    section: opening,
    over,
    run: async (t) => {
      const { websocket_urls } = t.about;
      t.that(websocket_urls.length > 0, "an address", websocket_urls);
      t.that(
        websocket_urls.every((url) => /^wss?:\/\/.+\/v1\/connect$/.test(url)),
        "addresses that end in /v1/connect",
        websocket_urls,
      );
    },
  },
  {
    id: "FRAME-1",
    promise: "Calls of one frame run side by side, and each is answered under its own number.",
    section: calls,
    over,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const peer = await t.peer(sender);
      const replies = await peer.calls(
        Array.from({ length: 40 }, (_, input) => ({
          op: "submit",
          body: { capability, input, labels: { n: `${input}` } },
        })),
      );
      t.that(
        replies.every(({ status }) => status === 202),
        "40 that are accepted",
        replies.map(({ status }) => status),
      );
      const slow = { op: "get", params: { id: newId() }, wait_ms: 1_000 };
      const [first, second] = await peer.calls([slow, { op: "list", query: { limit: 1 } }]);
      t.equal([first?.status, second?.status], [404, 200], "the replies of a frame of different calls");
      const leases = await worker.claim({ slots: 100 });
      const pairs = leases.map(({ input, labels }) => `${input}` === labels["n"]);
      t.that(leases.length === 40 && pairs.every(Boolean), "each as it was sent", leases.length);
    },
  },
  {
    id: "FRAME-2",
    promise:
      "A call that is wrong is refused alone, with the problem that HTTP has for it; the others of its frame run.",
    section: calls,
    over,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const peer = await t.peer(sender);
      const replies = await peer.calls([
        { op: "fly" },
        { op: "submit", body: { capability, input: 1, colour: "red" } },
        { op: "submit", body: { capability, input: 2 } },
        { op: "list", stream: true },
        { op: "get", params: { id: newId() } },
      ]);
      const [unknown, unfit, good, stream, missing] = replies;
      if (!(unknown && unfit && good && stream && missing)) return t.that(false, "five replies", replies.length);
      refused("an unknown operation", unknown, 404, "unknown_operation");
      refused("an unknown field", unfit, 400, "unknown_field");
      t.equal(good.status, 202, "the status of the one that is right");
      refused("a stream of what does not stream", stream, 400, "no_stream");
      refused("a handoff that is not there", missing, 404, "unknown_handoff");
    },
  },
  {
    id: "FRAME-3",
    promise: "A frame that is none ends the connection with 4400, and nothing of it is run.",
    section: calls,
    over,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const id = newId();
      const submit = { n: 1, op: "submit", body: { id, capability, input: 1 } };
      const text = JSON.stringify(submit);
      const frames: readonly (readonly [string, unknown])[] = [
        ["what is no JSON", `{"calls":[${text}]`],
        ["a duplicate key", `{"calls":[${text}],"calls":[${text}]}`],
        ["an unknown member", { calls: [submit], urgent: true }],
        ["an unknown member of a call", { calls: [submit, { n: 2, op: "list", urgent: true }] }],
        ["a call without n", { calls: [submit, { op: "list" }] }],
        ["a call without op", { calls: [submit, { n: 2 }] }],
        ["a number that is taken", { calls: [submit, { n: 1, op: "list" }] }],
        ["a list", [submit]],
        ["a binary frame", new TextEncoder().encode(`{"calls":[${text}]}`).buffer],
        ["a second hello", { hello: { credential: "x" }, calls: [submit] }],
      ];
      for (const [what, frame] of frames) {
        const peer = await t.peer(sender);
        peer.send(frame);
        t.equal((await peer.closedByRelay()).code, 4400, `the close code after ${what}`);
        await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
      }
    },
  },
  {
    id: "FRAME-4",
    promise: "More calls than `limits.frame_calls` end the connection with 4413, and none of them is run.",
    section: calls,
    over,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const peer = await t.peer(sender);
      const { hello } = await peer.frame((frame) => frame["hello"] !== undefined, "a hello");
      const most = Number(Object(Object(hello).limits).frame_calls);
      const id = newId();
      const many = Array.from({ length: most + 1 }, (_, n) => ({
        n: n + 1,
        op: "submit",
        body: { id, capability, input: 1 },
      }));
      peer.send({ calls: many });
      t.equal((await peer.closedByRelay()).code, 4413, "the close code");
      await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
    },
  },
  {
    id: "FRAME-5",
    promise: "A frame beyond `limits.frame_bytes` ends the connection with 1009.",
    section: calls,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const peer = await t.peer(agent);
      const { hello } = await peer.frame((frame) => frame["hello"] !== undefined, "a hello");
      const most = Number(Object(Object(hello).limits).frame_bytes);
      peer.send(`{"ping":1${" ".repeat(most)}}`);
      t.equal((await peer.closedByRelay()).code, 1009, "the close code");
    },
  },
  {
    id: "FRAME-6",
    promise: "An abandoned call is answered no more, and nothing that was done is undone by it.",
    section: calls,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const peer = await t.peer(pair.sender);
      const n = peer.next();
      peer.send({ calls: [{ n, op: "get", params: { id }, query: { until: "ended" }, wait_ms: 30_000 }] });
      await t.pause(300);
      peer.send({ abandon: [n, 999] });
      const [pong] = await peer.calls([{ op: "list", query: { limit: 1 } }]);
      t.equal(pong?.status, 200, "the status of a call after it");
      const lease = await pair.worker.lease();
      await pair.worker.act("complete", lease, { output: 1 });
      await t.pause(500);
      t.that(
        peer.items("replies").every((reply) => reply.n !== n),
        "no reply to what was abandoned",
        peer.items("replies"),
      );
    },
  },
  {
    id: "FRAME-7",
    promise: "The leases that an abandoned claim would have brought go to others, and nothing is counted.",
    section: calls,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const peer = await t.peer(pair.worker);
      const n = peer.next();
      peer.send({ calls: [{ n, op: "claim", body: { worker: "gone" }, wait_ms: 30_000 }] });
      await pair.worker.asking("gone");
      peer.send({ abandon: [n] });
      await peer.calls([{ op: "list", query: { limit: 1 } }]);
      const { id } = await sent(pair);
      const lease = await pair.worker.lease();
      t.equal(lease.id, id, "what another worker is given");
      t.equal((await pair.sender.get(id)).deliveries, 0, "deliveries");
    },
  },
  {
    id: "FRAME-8",
    promise: "A stream goes on from `last_event_id` over another connection, without a gap and without a repeat.",
    section: calls,
    over,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const peer = await t.peer(pair.sender);
      const n = peer.next();
      peer.send({ calls: [{ n, op: "handoff_events", params: { id: lease.id }, stream: true }] });
      const third = await peer.event(n, 2, 10_000);
      t.equal(third.event, "acknowledged", "the third event");
      peer.close();
      await peer.ended;
      await pair.worker.act("complete", lease, { output: 1 });
      const next = await t.peer(pair.sender);
      const m = next.next();
      const again = { n: m, op: "handoff_events", params: { id: lease.id }, stream: true, last_event_id: third.id };
      next.send({ calls: [again] });
      const [one, two] = [await next.event(m, 0, 10_000), await next.event(m, 1, 10_000)];
      t.equal([one.event, two.event], ["completed", "end"], "what follows");
    },
  },
  {
    id: "FRAME-9",
    promise: "Artifacts that fit in a frame go up and down in base64.",
    section: calls,
    over,
    features: ["artifacts"],
    run: async (t) => {
      const agent = await t.agent();
      const peer = await t.peer(agent);
      const bytes = toUtf8(`bytes of ${agent.name}`);
      const sha256 = Buffer.from(nodeCrypto.sha256(bytes)).toString("hex");
      const base64 = Buffer.from(bytes).toString("base64");
      const put = { op: "put_artifact", params: { sha256 }, base64, content_type: "text/plain" };
      const [up] = await peer.calls([put]);
      t.equal(up?.status, 201, "the status of the upload");
      const [down] = await peer.calls([{ op: "get_artifact", params: { sha256 } }]);
      t.equal(
        { base64: down?.["base64"], type: String(down?.["content_type"]).split(";")[0] },
        { base64, type: "text/plain" },
        "the reply",
      );
    },
  },
];
