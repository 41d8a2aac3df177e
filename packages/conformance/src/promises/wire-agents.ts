/** wire.md, "Agents, keys and tokens", "Artifacts" and "The log". */

import { toUtf8 } from "@handfast/protocol";
import { HttpLink } from "../caller/http-link.ts";
import { Key } from "../caller/key.ts";
import type { CallParts } from "../caller/link.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import type { Caller } from "../stage/caller.ts";
import { type LogLine, readLogLines } from "../stage/log-lines.ts";
import { completed, dead, delivered, failure, sent, working } from "../stage/scenes.ts";

const names = "wire.md#agents-keys-and-tokens";
const artifacts = "wire.md#artifacts";
const log = "wire.md#the-log";

async function logOf(who: Caller, query: NonNullable<CallParts["query"]> = {}): Promise<readonly LogLine[]> {
  return readLogLines(await who.call("log", { query }));
}

function named(bytes: Uint8Array): string {
  return Buffer.from(nodeCrypto.sha256(bytes)).toString("hex");
}

export const wireAgents: readonly Check[] = [
  {
    id: "NAME-1",
    promise: "A challenge is good for one registration; one that the relay did not give is 401.",
    section: names,
    over: ["http"],
    run: async (t) => {
      const registrar = t.registrar();
      const { challenge, expires_in_seconds } = await registrar.ok("challenge", {});
      t.that(expires_in_seconds > 0, "a time to live", expires_in_seconds);
      const body = await t.registration(t.name("a"), new Key(), challenge);
      await registrar.ok("register", { body }, 201);
      const second = await t.registration(t.name("b"), new Key(), challenge);
      await registrar.refused("register", { body: second }, 401, "challenge_used");
      const invented = await t.registration(t.name("c"), new Key(), "A".repeat(54));
      await registrar.refused("register", { body: invented }, 401, "challenge_unknown");
    },
  },
  {
    id: "NAME-2",
    promise: "A wrong signature does not use a challenge up, and registers nobody.",
    section: names,
    over: ["http"],
    run: async (t) => {
      const registrar = t.registrar();
      const { challenge } = await registrar.ok("challenge", {});
      const [name, key] = [t.name("a"), new Key()];
      const forged = await t.registration(name, new Key(), challenge, { key: key.jwk });
      await registrar.refused("register", { body: forged }, 401, "bad_signature");
      await registrar.refused("agent", { params: { name } }, 404, "unknown_agent");
      await registrar.ok("register", { body: await t.registration(name, key, challenge) }, 201);
    },
  },
  {
    id: "NAME-3",
    promise: "A name belongs to the key that came with it first: another key is 403, name_taken.",
    section: names,
    over: ["http"],
    run: async (t) => {
      const registrar = t.registrar();
      const agent = await t.agent();
      const { challenge } = await registrar.ok("challenge", {});
      const body = await t.registration(agent.name, new Key(), challenge);
      await registrar.refused("register", { body }, 403, "name_taken");
    },
  },
  {
    id: "NAME-4",
    promise: "A key belongs to one name: under another it is 403, key_taken.",
    section: names,
    over: ["http"],
    run: async (t) => {
      const registrar = t.registrar();
      const agent = await t.agent();
      const { challenge } = await registrar.ok("challenge", {});
      const body = await t.registration(t.name("other"), agent.key, challenge);
      await registrar.refused("register", { body }, 403, "key_taken");
    },
  },
  {
    id: "NAME-5",
    promise:
      "Registering again by the same key replaces what the agent offers; the same again keeps the manifest's digest.",
    section: names,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const before = await sender.ok("agent", { params: { name: worker.name } });
      await t.register(worker.name, worker.key, [capability]);
      const same = await sender.ok("agent", { params: { name: worker.name } });
      t.equal(same.manifest?.digest, before.manifest?.digest, "the digest of the same manifest");
      const other = t.name("other");
      await t.register(worker.name, worker.key, [other]);
      const after = await sender.ok("agent", { params: { name: worker.name } });
      t.equal(
        after.capabilities.map(({ name }) => name),
        [other],
        "what it offers",
      );
      await sender.refused("submit", { body: { capability, input: 1 } }, 406, "nobody_offers");
      await sender.submit({ capability: other, input: 1 });
    },
  },
  {
    id: "NAME-6",
    promise: "An agent's public keys are shown, so that others can check what it signed.",
    section: "wire.md#calls",
    run: async (t) => {
      const { sender, worker } = await t.pair();
      const { keys, identity, name } = await sender.ok("agent", { params: { name: worker.name } });
      t.equal({ name, identity }, { name: worker.name, identity: worker.key.thumbprint }, "name and identity");
      t.equal(
        keys.map(({ thumbprint, x }) => ({ thumbprint, x })),
        [{ thumbprint: worker.key.thumbprint, x: worker.key.jwk.x }],
        "its keys",
      );
      await sender.refused("agent", { params: { name: t.name("nobody") } }, 404, "unknown_agent");
    },
  },
  {
    id: "NAME-7",
    promise: "A token stands for its agent until it is revoked, at once: then it is 401.",
    section: names,
    run: async (t) => {
      const agent = await t.agent();
      const { token, id } = await agent.ok("create_token", { body: { agent: agent.name, label: "ci" } }, 201);
      t.that(token.startsWith("hft_"), "a token that begins with hft_", token.slice(0, 4));
      const bearer = t.bearer(agent.name, token, "http");
      await bearer.ok("list", {});
      const { tokens } = await agent.ok("tokens", {});
      t.that(!JSON.stringify(tokens).includes(token), "a list without the token itself", tokens);
      await agent.ok("revoke_token", { params: { id } });
      await bearer.refused("list", {}, 401, "unknown_token");
    },
  },
  {
    id: "NAME-8",
    promise: "A token that was made for a time is worth nothing after it.",
    section: names,
    over: ["http"],
    waits: true,
    run: async (t) => {
      const agent = await t.agent();
      const body = { agent: agent.name, life_ms: 2_000 };
      const { token } = await agent.ok("create_token", { body }, 201);
      const bearer = t.bearer(agent.name, token);
      await t.pause(2_500);
      await bearer.refused("list", {}, 401, "unknown_token");
    },
  },
  {
    id: "NAME-9",
    promise: "In development mode anyone may have a token for a new name; for a name that is taken it is 403.",
    section: names,
    mode: "development",
    over: ["http"],
    run: async (t) => {
      const stranger = t.stranger();
      const name = t.name("keyless");
      const { token } = await stranger.ok("create_token", { body: { agent: name } }, 201);
      t.equal((await t.bearer(name, token).ok("list", {})).handoffs, [], "what its bearer sees");
      await stranger.refused("create_token", { body: { agent: name } }, 403, "name_taken");
      const agent = await t.agent();
      await stranger.refused("create_token", { body: { agent: agent.name } }, 403);
    },
  },
  {
    id: "NAME-10",
    promise:
      "Outside development mode a key that no operator admitted is 403, not_admitted, and its thumbprint is named.",
    section: names,
    mode: "production",
    over: ["http"],
    run: async (t) => {
      const stranger = t.stranger();
      const { challenge } = await stranger.ok("challenge", {});
      const key = new Key();
      const body = await t.registration(t.name("stranger"), key, challenge);
      const problem: object = await stranger.refused("register", { body }, 403, "not_admitted");
      const { key: told }: { key?: unknown } = problem;
      t.equal(told, key.thumbprint, "the thumbprint that an operator would admit");
    },
  },
  {
    id: "NAME-11",
    promise: "An agent that is forgotten is unknown from then on; its handoffs stay.",
    section: "wire.md#operations",
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.ok("forget_agent", { params: { name: pair.worker.name } });
      await pair.sender.refused("agent", { params: { name: pair.worker.name } }, 404, "unknown_agent");
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state of what it held");
      const late = t.agentOf(pair.worker.name, pair.worker.key, "http");
      await late.refused("list", {}, 401);
    },
  },
  {
    id: "NAME-12",
    promise:
      "What completed and what the agent failed counts in its reliability, once; what it rejected, released or was canceled never does.",
    section: names,
    features: ["reliability"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      await completed(pair);
      await completed(pair);
      await dead(pair);
      await worker.act("reject", await delivered(pair), { error: failure });
      await worker.act("release", await working(pair));
      const again = await worker.lease();
      await sender.ok("cancel", { params: { id: again.id }, body: {} });
      const { capabilities } = await sender.ok("reliability", { params: { name: worker.name } });
      const found = capabilities.find((each) => each.capability === capability);
      const { attempts = 0, successes = 0, lower = 0, upper = 0 } = found?.measured ?? {};
      t.equal([attempts, successes].map(Math.round), [3, 2], "attempts and successes");
      t.that(lower > 0.1 && lower < 0.3 && upper > 0.9 && upper < 1, "the bounds of Wilson's interval", found);
      t.equal(found?.status, "unclaimed", "its status");
      await sender.refused("reliability", { params: { name: t.name("nobody") } }, 404, "unknown_agent");
    },
  },
  {
    id: "ARTIFACT-1",
    promise: "Bytes go up under their own SHA-256 only: under another it is 422, and nothing of them stays.",
    section: artifacts,
    features: ["artifacts"],
    run: async (t) => {
      const agent = await t.agent();
      const bytes = toUtf8(`bytes of ${agent.name}`);
      const sha256 = named(bytes);
      const other = named(toUtf8("other"));
      await agent.refused("put_artifact", { params: { sha256: other }, bytes }, 422, "digest_differs");
      await agent.refused("get_artifact", { params: { sha256: other } }, 404);
      const put = { params: { sha256 }, bytes, content_type: "text/plain" };
      t.equal(
        await agent.ok("put_artifact", put, 201),
        { sha256, size: bytes.length, media_type: "text/plain" },
        "the answer",
      );
      await agent.ok("put_artifact", put, 200);
      const got = await agent.call("get_artifact", { params: { sha256 } });
      t.equal(Buffer.from(got.bytes ?? []).toString(), Buffer.from(bytes).toString(), "the bytes");
    },
  },
  {
    id: "ARTIFACT-2",
    promise:
      "To know a digest gives no right to the bytes: only who put them up and the parties of a handoff that refers to them have them.",
    section: artifacts,
    features: ["artifacts"],
    run: async (t) => {
      const [pair, stranger] = await Promise.all([t.pair(), t.agent()]);
      const bytes = toUtf8(`secret of ${pair.sender.name}`);
      const sha256 = named(bytes);
      const params = { sha256 };
      await pair.sender.ok("put_artifact", { params, bytes, content_type: "text/plain" });
      await stranger.refused("get_artifact", { params }, 404);
      await pair.worker.refused("get_artifact", { params }, 404);
      const artifact = { sha256, size: bytes.length, media_type: "text/plain" };
      const theft = { capability: pair.capability, input: 1, artifacts: [artifact] };
      await stranger.refused("submit", { body: theft }, 404, "unknown_artifact");
      await sent(pair, { artifacts: [artifact] });
      await pair.worker.refused("get_artifact", { params }, 404);
      const lease = await pair.worker.lease();
      t.equal(
        lease.artifacts.map((each) => each.sha256),
        [sha256],
        "the artifacts in the lease",
      );
      const got = await pair.worker.call("get_artifact", { params });
      t.equal(Buffer.from(got.bytes ?? []).toString(), Buffer.from(bytes).toString(), "the bytes, for the worker");
      await stranger.refused("get_artifact", { params }, 404);
    },
  },
  {
    id: "ARTIFACT-3",
    promise: "Ranges of an artifact are served.",
    section: "wire.md#operations",
    features: ["artifacts"],
    over: ["http"],
    run: async (t) => {
      const agent = await t.agent();
      const bytes = toUtf8(`0123456789 of ${agent.name}`);
      const params = { sha256: named(bytes) };
      await agent.ok("put_artifact", { params, bytes });
      const { link } = agent;
      if (!(link instanceof HttpLink)) throw new Error("this check is for HTTP");
      const response = await link.fetch("get_artifact", { params }, { range: "bytes=2-5" });
      t.equal({ status: response.status, text: await response.text() }, { status: 206, text: "2345" }, "the range");
      t.equal(response.headers.get("content-range"), `bytes 2-5/${bytes.length}`, "Content-Range");
    },
  },
  {
    id: "LOG-1",
    promise:
      "The log is one line of JSON per event, with its position, a cursor and the event as it is; an agent sees its own.",
    section: log,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const text = await logOf(pair.sender);
      const lines = text.map((line) => line.event).filter((event) => event.handoff === id);
      const logged = (await pair.sender.events(id)).map(({ pos: _pos, ...event }) => event);
      t.equal(lines, logged, "the events in the log");
      const positions = text.map(({ pos }) => pos);
      t.equal(
        positions,
        positions.toSorted((a, b) => a - b),
        "the positions",
      );
      const other = await t.agent();
      t.equal(await logOf(other), [], "the log of somebody else");
      await other.refused("log", { query: { agent: pair.sender.name } }, 403);
    },
  },
  {
    id: "LOG-2",
    promise: "Any line's cursor goes on from there, and with `payloads=inline` the payloads stand beside the events.",
    section: log,
    run: async (t) => {
      const pair = await t.pair();
      await completed(pair, { input: { secret: "swordfish" } }, { answer: "blue" });
      const all = await logOf(pair.sender);
      const [first] = all;
      const rest = await logOf(pair.sender, { cursor: first?.cursor ?? "" });
      t.equal(
        rest.map(({ pos }) => pos),
        all.slice(1).map(({ pos }) => pos),
        "what follows the first line",
      );
      t.that(!JSON.stringify(all).includes("swordfish"), "no payload where none was asked for", all[0]);
      const inline = await logOf(pair.sender, { payloads: "inline" });
      const payloads = inline.flatMap(({ payload }) => (payload === undefined ? [] : [JSON.stringify(payload)]));
      t.that(
        payloads.some((each) => each.includes("swordfish")) && payloads.some((each) => each.includes("blue")),
        "both payloads",
        payloads,
      );
    },
  },
];
