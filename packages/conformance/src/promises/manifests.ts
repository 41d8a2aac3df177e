/** manifest.md: what agents offer, how it is written, named, counted, sealed and leased. */

import { manifestDigest, sealCost } from "@handfast/protocol";
import { Key } from "../caller/key.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import type { Agent } from "../stage/agent.ts";
import type { Stage } from "../stage/stage.ts";

const features = ["manifests"];
const opening = { salt: "AAECAwQFBgcICQoLDA0ODw", cost: { amount: 1_200, per: "handoff" as const } };

/** The agent says by its key what it offers. */
async function state(agent: Agent, body: object) {
  return agent.ok("set_capabilities", { params: { name: agent.name }, body });
}

async function refuse(agent: Agent, body: object, code: number, reason?: string) {
  return agent.refused("set_capabilities", { params: { name: agent.name }, body }, code, reason);
}

/** A registration by this key that says this. */
async function registers(t: Stage, name: string, key: Key, said: object, status: number) {
  const registrar = t.registrar();
  const { challenge } = await registrar.ok("challenge", {});
  return registrar.ok("register", { body: await t.registration(name, key, challenge, said) }, status);
}

export const manifests: readonly Check[] = [
  {
    id: "MANIFEST-1",
    promise: "Everything that a manifest can say is taken, and shown as it was written.",
    section: "manifest.md#fields",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const capability = {
        name: t.name("everything"),
        description: "It.",
        version: "1.2.0",
        input_schema: { n: "int" },
        output_schema: { sum: "int" },
        timeout_seconds: 5,
        reliability_sla: 0.95,
        sla: { window_seconds: 3_600, conditions: "On weekdays." },
        idempotent: true,
        side_effects: "none",
        tags: ["t"],
        examples: [{ title: "One", input: { n: 1 }, output: { sum: 1 } }],
        max_concurrent: 4,
        latency: { p50_ms: 100, p95_ms: 900 },
        data_policy: { retention_seconds: 0, regions: ["eu"], trains: false, shares: false },
        questions: [{ name: "which", schema: { choice: "string" } }],
        proposes: true,
      };
      const body = { capabilities: [capability], discovery_endpoint: "https://a.example/x", lease_seconds: 600 };
      const { digest } = await state(agent, body);
      const { manifest } = await agent.ok("manifest", { params: { digest } });
      t.equal(manifest, { agent_id: agent.name, ...body }, "the manifest as it was written");
    },
  },
  {
    id: "MANIFEST-2",
    promise:
      "A claim above 1, a name in another script, an example that does not fit and a schema in a circle are 400.",
    section: "manifest.md#fields",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const offer = (capability: object) => ({ capabilities: [{ name: "x", ...capability }] });
      await refuse(agent, offer({ reliability_sla: 1.5 }), 400);
      await refuse(agent, offer({ name: "rеsearch" }), 400);
      const input_schema = { n: "int" };
      await refuse(agent, offer({ input_schema, examples: [{ input: { n: "1" } }] }), 400, "example_unfit");
      const circle = { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" };
      await refuse(agent, offer({ input_schema: circle }), 400, "schema_refused");
      const { capabilities } = await agent.ok("agent", { params: { name: agent.name } });
      t.equal(capabilities, [], "what it offers after all were refused");
    },
  },
  {
    id: "MANIFEST-3",
    promise: "A schema in shorthand is held against inputs, closed, and against outputs, open.",
    section: "manifest.md#schemas-in-shorthand",
    features,
    run: async (t) => {
      const name = t.name("short");
      const worker = await t.agent({
        name,
        input_schema: { q: "string", "d?": "int" },
        output_schema: { s: "string" },
      });
      const sender = await t.agent();
      await sender.refused("submit", { body: { capability: name, input: { q: 1 } } }, 422);
      await sender.refused("submit", { body: { capability: name, input: { q: "a", more: 1 } } }, 422);
      await sender.submit({ capability: name, input: { q: "a" } });
      const lease = await worker.lease();
      await worker.act("ack", lease);
      await worker.refusedAct("complete", lease, { output: {} }, 502);
      await worker.act("complete", lease, { output: { s: "b", more: 1 } });
    },
  },
  {
    id: "MANIFEST-4",
    promise:
      "An object whose members are all keywords is JSON Schema, and one whose annotations name types is shorthand.",
    section: "manifest.md#schemas-in-shorthand",
    features,
    run: async (t) => {
      const [full, short] = [t.name("full"), t.name("short")];
      await t.agent(
        { name: full, input_schema: { type: "string" } },
        { name: short, input_schema: { title: "string" } },
      );
      const sender = await t.agent();
      await sender.submit({ capability: full, input: "a text" });
      await sender.refused("submit", { body: { capability: full, input: { type: "a" } } }, 422);
      await sender.submit({ capability: short, input: { title: "a text" } });
      await sender.refused("submit", { body: { capability: short, input: "a text" } }, 422);
    },
  },
  {
    id: "MANIFEST-5",
    promise: "A manifest is named by the digest of its canonical JSON, and stays readable by it after newer ones.",
    section: "manifest.md#the-digest",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const first = { capabilities: [{ name: "x", reliability_sla: 0.95 }], lease_seconds: 600 };
      const { digest } = await state(agent, first);
      t.equal(digest, manifestDigest(nodeCrypto, { agent_id: agent.name, ...first }), "its digest");
      const newer = await state(agent, { capabilities: [{ name: "y" }] });
      const kept = await agent.ok("manifest", { params: { digest } });
      t.equal(
        { agent_id: kept.agent_id, until: kept.until },
        { agent_id: agent.name, until: newer.since },
        "the older one",
      );
      const { manifests: all } = await agent.ok("manifests", { params: { name: agent.name } });
      t.equal(
        all.slice(0, 2).map((each) => each.digest),
        [newer.digest, digest],
        "the newest first",
      );
      await agent.refused("manifest", { params: { digest: "0".repeat(64) } }, 404, "unknown_manifest");
    },
  },
  {
    id: "MANIFEST-6",
    promise: "A manifest that was signed is shown with the registration document and its proof.",
    section: "manifest.md#the-digest",
    features,
    run: async (t) => {
      const [name, key] = [t.name("signer"), new Key()];
      const registered = await registers(t, name, key, { capabilities: [{ name: "x" }] }, 201);
      const agent = t.agentOf(name, key);
      const { registration, signed } = await agent.ok("manifest", { params: { digest: registered.manifest ?? "" } });
      t.that(signed && registration !== null, "the signed registration", registration);
      const said = JSON.parse(registration?.document ?? "{}");
      t.equal(manifestDigest(nodeCrypto, said), registered.manifest, "the digest of what was signed");
      t.equal(registration?.proof.key, key.thumbprint, "whose proof it is");
    },
  },
  {
    id: "MANIFEST-7",
    promise: "Versions of a manifest only grow: an older one is 409, and so is other content under the same version.",
    section: "manifest.md#versions",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const offer = (version: number | null, name: string) => ({
        capabilities: [{ name }],
        ...(version === null ? {} : { version }),
      });
      await state(agent, offer(5, "a"));
      await state(agent, offer(5, "a"));
      await refuse(agent, offer(4, "b"), 409, "manifest_older");
      await refuse(agent, offer(null, "b"), 409, "manifest_older");
      await refuse(agent, offer(5, "b"), 409, "manifest_differs");
      t.equal((await state(agent, offer(6, "b"))).version, 6, "the version in force");
    },
  },
  {
    id: "MANIFEST-8",
    promise: "A sealed cost is taken with what opens it, is refused without, and what opens it stands in no view.",
    section: "manifest.md#costs-are-sealed",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const sealed = { capabilities: [{ name: "x", cost: sealCost(nodeCrypto, opening) }] };
      await refuse(agent, sealed, 400, "cost_missing");
      const other = { ...opening, cost: { ...opening.cost, amount: 1 } };
      await refuse(agent, { ...sealed, costs: { x: other } }, 400, "cost_differs");
      await refuse(agent, { capabilities: [{ name: "x" }], costs: { x: opening } }, 400, "cost_unsealed");
      const { digest } = await state(agent, { ...sealed, costs: { x: opening } });
      const looker = await t.agent();
      const views = [
        await looker.ok("agent", { params: { name: agent.name } }),
        await looker.ok("manifest", { params: { digest } }),
      ];
      t.that(!JSON.stringify(views).includes(opening.salt), "views without the salt", views);
    },
  },
  {
    id: "MANIFEST-9",
    promise: "A registration holds for the lease that it states, and any call of the agent renews it.",
    section: "manifest.md#leases",
    features,
    run: async (t) => {
      const agent = await t.agent();
      const { since } = await state(agent, { capabilities: [{ name: "x" }], lease_seconds: 3_600 });
      const { liveness } = await agent.ok("agent", { params: { name: agent.name } });
      t.that(liveness.lease_until >= since + 3_600_000, "a lease of an hour", liveness);
      t.that(liveness.lease_until < since + 3_700_000, "and of no more than that", liveness);
      t.that(liveness.state !== "lapsed", "an agent that has not lapsed", liveness);
    },
  },
  {
    id: "MANIFEST-10",
    promise:
      "Whoever lapsed is not counted among those who offer a capability, and is back with the next sign of life.",
    section: "manifest.md#leases",
    features,
    over: ["http"],
    waits: true,
    run: async (t) => {
      const [agent, sender] = [await t.agent(), await t.agent()];
      const capability = t.name("short-lived");
      await state(agent, { capabilities: [{ name: capability }], lease_seconds: 10 });
      await sender.submit({ capability, input: 1 });
      await t.pause(11_000);
      await sender.refused("submit", { body: { capability, input: 1 } }, 406, "nobody_offers");
      const { liveness } = await sender.ok("agent", { params: { name: agent.name } });
      t.equal(liveness.state, "lapsed", "its state");
      await agent.ok("agent", { params: { name: agent.name } });
      await sender.submit({ capability, input: 1 });
    },
  },
];
