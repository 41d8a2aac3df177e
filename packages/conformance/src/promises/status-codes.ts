/** status-codes.md and evolution.md: codes, problems, and what a relay says about itself. */

import { statusCodes } from "@handfast/protocol";
import { HttpLink } from "../caller/http-link.ts";
import type { Check } from "../check.ts";
import { completed, failure, sent, working } from "../stage/scenes.ts";

const places = "status-codes.md#two-places";
const problems = "status-codes.md#problems";
const everybody = "evolution.md#what-everybody-does";
const about = "evolution.md#what-a-relay-says-about-itself";

export const statusCodesAndEvolution: readonly Check[] = [
  {
    id: "CODE-1",
    promise:
      "The HTTP status tells how the call went, `code` how the handoff goes: reading an expired handoff is 200 with code 408.",
    section: places,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair, { limits: { deadline_ms: 300 } });
      await pair.sender.ended(id);
      const view = await pair.sender.ok("get", { params: { id } }, 200);
      const { code, name, state } = view;
      t.equal({ code, name, state }, { code: 408, name: "deadline_passed", state: "expired" }, "the handoff");
    },
  },
  {
    id: "CODE-2",
    promise: "A handoff's code follows its state: 202, 210, 211, 212, 213, 200, 410, 500, 501.",
    section: places,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const codes: number[] = [];
      const { id } = await sent(pair);
      const look = async (which = id) => codes.push((await sender.get(which)).code);
      await look();
      const lease = await worker.lease();
      await look();
      await worker.act("ack", lease);
      await look();
      await worker.act("heartbeat", lease, { progress: { fraction: 0.1 } });
      await look();
      await worker.act("ask", lease, { question: "which?" });
      await look();
      await worker.act("complete", lease, { output: 1 });
      await look();
      const canceled = await sent(pair);
      await sender.ok("cancel", { params: { id: canceled.id }, body: {} });
      await look(canceled.id);
      const failed = await working(pair);
      await worker.act("fail", failed, { error: failure });
      await look(failed.id);
      const rejected = await working(pair);
      await worker.act("reject", rejected, { error: failure });
      await look(rejected.id);
      t.equal(codes, [202, 210, 211, 212, 213, 200, 410, 500, 501], "the codes");
    },
  },
  {
    id: "PROBLEM-1",
    promise:
      "A refused call is answered with a problem whose type names its reason and whose status, name and retryable are those of its code.",
    section: problems,
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker, capability } = pair;
      const lease = await completed(pair);
      const refused = [
        await sender.refused("submit", { body: { capability, input: 1, x: 1 } }, 400),
        await sender.refused("get", { params: { id: "01932f6b-7a00-7c3a-9b1e-0123456789ab" } }, 404),
        await sender.refused("submit", { body: { capability: t.name("none"), input: 1 } }, 406),
        await worker.refusedAct("complete", lease, { output: 2 }, 409),
        await worker.refusedAct("release", lease, {}, 412),
        await worker.refused("take", { params: { id: lease.id } }, 403),
      ];
      for (const { type, title, status, code, name, reason, detail, retryable } of refused) {
        const row = statusCodes.find((each) => each.code === code);
        const wanted = {
          type: `urn:handfast:problem:${reason}`,
          status: code,
          name: row?.name,
          retryable: row?.retryable,
        };
        t.equal({ type, status, name, retryable }, wanted, `the problem ${reason}`);
        t.that(title.length > 5 && detail.length > 10, "a title and a detail for people", { title, detail });
      }
    },
  },
  {
    id: "PROBLEM-2",
    promise: "Over HTTP a problem is application/problem+json, and a 401 has `WWW-Authenticate: Bearer`.",
    section: problems,
    over: ["http"],
    run: async (t) => {
      const stranger = t.stranger();
      const { link } = stranger;
      if (!(link instanceof HttpLink)) throw new Error("a stranger calls over HTTP");
      const response = await link.fetch("list", {});
      await response.arrayBuffer();
      t.equal(response.status, 401, "the HTTP status");
      const type = response.headers.get("content-type") ?? "";
      t.that(type.startsWith("application/problem+json"), "application/problem+json", type);
      const challenge = response.headers.get("www-authenticate") ?? "";
      t.that(/^Bearer\b/.test(challenge), "WWW-Authenticate: Bearer", challenge);
    },
  },
  {
    id: "PROBLEM-3",
    promise: "A refused act on a handoff tells the state it is in now.",
    section: problems,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.sender.ok("cancel", { params: { id: lease.id }, body: {} });
      const problem: object = await pair.worker.refusedAct("heartbeat", lease, {}, 410, "canceled");
      const { state }: { state?: unknown } = problem;
      t.equal(state, "canceled", "the state in the problem");
    },
  },
  {
    id: "PROBLEM-4",
    promise: "Unfit input is told with its path and never quoted.",
    section: "status-codes.md#reasons-of-the-state-machine",
    run: async (t) => {
      const input_schema = { type: "object", properties: { age: { type: "number" } } };
      const { sender, capability } = await t.pair({ input_schema });
      const body = { capability, input: { age: "swordfish-7781" } };
      const problem = await sender.refused("submit", { body }, 422, "input_unfit");
      t.that(problem.detail.includes("age"), "a detail that names the path", problem.detail);
      t.that(!JSON.stringify(problem).includes("swordfish"), "a problem that does not quote the value", problem);
    },
  },
  {
    id: "PROBLEM-5",
    promise: "An operator's token sends and works in nobody's name: 403, not_an_agent.",
    section: "status-codes.md#reasons-of-identity",
    needs: ["operator"],
    run: async (t) => {
      const { capability } = await t.pair();
      const operator = t.operator();
      await operator.refused("submit", { body: { capability, input: 1 } }, 403, "not_an_agent");
      await operator.refused("claim", { body: { worker: "w" } }, 403, "not_an_agent");
    },
  },
  {
    id: "PROBLEM-6",
    promise: "What is missing or of the wrong kind is 400 with its reason and the place in `fields`.",
    section: "status-codes.md#reasons-of-the-wire",
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const params = { id: lease.id };
      const missing: object = await pair.worker.refused(
        "complete",
        { params, body: { output: 1 } },
        400,
        "missing_field",
      );
      t.equal(Object(missing).fields, ["/fence"], "the fields that are named");
      const unfit: object = await pair.worker.refused("ack", { params, body: { fence: "one" } }, 400, "unfit");
      t.equal(Object(unfit).fields, ["/fence"], "the fields that are named");
      const unknown = { capability: pair.capability, input: 1, labels: { team: 7 } };
      const deep: object = await pair.sender.refused("submit", { body: unknown }, 400, "unfit");
      t.equal(Object(deep).fields, ["/labels/team"], "the fields that are named, below");
    },
  },
  {
    id: "EVOLVE-1",
    promise: "What stands under `ext` is kept and passed on, and changes nothing.",
    section: everybody,
    run: async (t) => {
      const pair = await t.pair();
      const ext = { "https://example.com/ext/a": { deep: [1, { b: null }] }, "urn:example:b": "x" };
      await sent(pair, { ext });
      const lease = await pair.worker.lease();
      t.equal(lease.ext, ext, "what the worker is shown");
      const key = { capability: pair.capability, input: { n: 1 }, idempotency_key: "k" };
      const first = await pair.sender.submit({ ...key, ext });
      t.equal((await pair.sender.submit(key)).id, first.id, "the id of a retry without it");
    },
  },
  {
    id: "EVOLVE-2",
    promise: "Extensions are keyed by URI: another key under `ext` is refused.",
    section: everybody,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      await sender.refused("submit", { body: { capability, input: 1, ext: { colour: "red" } } }, 400);
    },
  },
  {
    id: "VERSION-1",
    promise: "The path begins with the major version: what is not under /v1 or well known is 404.",
    section: "evolution.md#versions",
    over: ["http"],
    run: async (t) => {
      for (const path of ["/v2/handoffs", "/handoffs", "/v1/nothing"]) {
        const response = await fetch(`${t.url}${path}`);
        await response.arrayBuffer();
        t.equal(response.status, 404, `the answer to ${path}`);
      }
      t.that(t.about.versions.includes("v1"), "v1 among the versions", t.about.versions);
    },
  },
  {
    id: "ABOUT-1",
    promise:
      "A relay tells without credentials what it is: protocol, versions, mode, public URLs, its key, features and limits.",
    section: about,
    over: ["http"],
    run: async (t) => {
      const told = await t.stranger().ok("well_known", {}, 200);
      t.equal(told.protocol, "handfast", "the protocol");
      t.that(
        told.public_urls.length > 0 && told.public_urls.every((url) => /^https?:/.test(url)),
        "public URLs",
        told.public_urls,
      );
      t.that(told.features.includes("http"), "http among the features", told.features);
      t.that(
        Object.keys(told.limits).every((name) => /_(ms|bytes|seconds|chars|per_second)$|^[a-z_]+$/.test(name)),
        "limits by name",
        told.limits,
      );
      t.equal(Object.keys(told.relay_key).toSorted(), ["crv", "kty", "x"], "the members of its key");
    },
  },
];
