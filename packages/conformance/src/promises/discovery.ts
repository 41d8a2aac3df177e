/** discovery.md: who is found, in which order, with what said of it; and entries of the log that are of no handoff. */

import { randomBytes } from "node:crypto";
import { type Capability, type Cost, manifestContent, manifestDigest, openProof, sealCost } from "@handfast/protocol";
import type { Discovered, Hit, Miss } from "@handfast/protocol/wire";
import { Key } from "../caller/key.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import type { Agent } from "../stage/agent.ts";
import type { Caller } from "../stage/caller.ts";
import { readLogLines } from "../stage/log-lines.ts";
import type { Stage } from "../stage/stage.ts";

const features = ["discovery"] as const;
const need = "discovery.md#by-need";
const schemas = "discovery.md#schemas";
const misses = "discovery.md#misses";
const prices = "discovery.md#prices";
const endpoints = "discovery.md#discovery-endpoints";
const catalog = "discovery.md#the-catalog";
const others = "discovery.md#agents-of-other-relays";

const discover = (who: Caller, body: object): Promise<Discovered> => who.ok("discover", { body });
const namesOf = ({ hits }: Pick<Discovered, "hits">) => hits.map(({ agent_id }) => agent_id);

async function nobody(who: Caller, body: object): Promise<readonly Miss[]> {
  const problem = await who.refused("discover", { body }, 406, "nobody_meets");
  return (problem as unknown as { readonly near: readonly Miss[] }).near;
}

/** An agent that seals its price. */
async function seller(t: Stage, capability: Capability, cost: Cost): Promise<Agent> {
  const [name, key] = [t.name("seller"), new Key()];
  const registrar = t.registrar();
  const { challenge } = await registrar.ok("challenge", {});
  const opening = { salt: randomBytes(16).toString("base64url"), cost };
  const sealed = { ...capability, cost: sealCost(nodeCrypto, opening) };
  const signed = await t.registration(name, key, challenge, { capabilities: [sealed] });
  await registrar.ok("register", { body: { ...signed, costs: { [capability.name]: opening } } }, 201);
  return t.agentOf(name, key);
}

async function looksOf(who: Caller): Promise<readonly Record<string, unknown>[]> {
  const lines = readLogLines(await who.call("log", { query: {} }));
  return lines.map(({ event }) => event as Record<string, unknown>).filter(({ type }) => type === "looked");
}

function only<T>(t: Stage, list: readonly T[], what: string): T {
  const [first] = list;
  if (list.length !== 1 || first === undefined) {
    t.equal(list.length, 1, `how many ${what}`);
    throw new Error("unreachable");
  }
  return first;
}

export const discovery: readonly Check[] = [
  {
    id: "FIND-1",
    promise: "A capability is found by its name and a range of versions, and each hit says why.",
    section: need,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ version: "1.4.0" });
      const hit: Hit = only(t, (await discover(sender, { capability, version: "^1.2" })).hits, "hits");
      t.equal(hit.agent_id, worker.name, "who is found");
      t.that(hit.why.length > 0, "sentences that say why", hit.why);
      const [miss] = await nobody(sender, { capability, version: ">=2" });
      t.equal(miss?.agent_id, worker.name, "the nearest miss");
    },
  },
  {
    id: "FIND-2",
    promise: "Words are found wherever a capability has them, those of its name before those of its description.",
    section: need,
    features,
    run: async (t) => {
      const word = t.name("word").replaceAll(/[^a-z0-9]/gi, "");
      const described = await t.agent({ name: t.name("other"), description: `It is about ${word}.` });
      const named = await t.agent({ name: word });
      const sender = await t.agent();
      t.equal(namesOf(await discover(sender, { words: `the ${word}` })), [named.name, described.name], "who is found");
    },
  },
  {
    id: "FIND-3",
    promise: "All tags must be there; what an agent does not promise it does not meet.",
    section: need,
    features,
    run: async (t) => {
      const [tag, other] = [t.name("tag"), t.name("tag")];
      const strict = await t.agent({
        name: t.name("strict"),
        tags: [tag, other],
        side_effects: "none",
        data_policy: { retention_seconds: 0, regions: ["eu"], trains: false, shares: false },
      });
      await t.agent({ name: t.name("silent"), tags: [tag] });
      const sender = await t.agent();
      t.equal((await discover(sender, { tags: [tag] })).found, 2, "who has the tag");
      t.equal(namesOf(await discover(sender, { tags: [tag, other] })), [strict.name], "who has both");
      for (const asked of [{ side_effects: "none" }, { data_policy: { trains: false, regions: ["eu", "us"] } }]) {
        t.equal(namesOf(await discover(sender, { tags: [tag], ...asked })), [strict.name], "who promises it");
      }
    },
  },
  {
    id: "FIND-4",
    promise: "Time and reliability are held against what is claimed, while nothing was measured.",
    section: need,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ timeout_seconds: 30, reliability_sla: 0.9 });
      t.equal(
        namesOf(await discover(sender, { capability, within_ms: 30_000, min_reliability: 0.9 })),
        [worker.name],
        "who is found",
      );
      await nobody(sender, { capability, within_ms: 29_999 });
      await nobody(sender, { capability, min_reliability: 0.91 });
    },
  },
  {
    id: "FIND-5",
    promise: "A worker that asks for work makes its agent live, which comes before one that is idle.",
    section: need,
    features,
    run: async (t) => {
      const capability = t.name("work");
      const idle = await t.agentNamed(t.name("a"), new Key(), capability);
      const live = await t.agentNamed(t.name("b"), new Key(), capability);
      const sender = await t.agent();
      await live.ok("claim", { body: { worker: live.worker, capabilities: [capability] } });
      t.equal(namesOf(await discover(sender, { capability })), [live.name, idle.name], "the order");
      t.equal(namesOf(await discover(sender, { capability, live: true })), [live.name], "who is live");
    },
  },
  {
    id: "FIND-6",
    promise: "What an agent offers is found from its registration on, and what it offers no more is not.",
    section: need,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const other = t.name("other");
      await t.register(worker.name, worker.key, [other]);
      t.equal(namesOf(await discover(sender, { capability: other })), [worker.name], "who is found");
      await nobody(sender, { capability });
    },
  },
  {
    id: "FIT-1",
    promise: "Schemas that fit are proven to, both ways; those that do not are refuted by a value.",
    section: schemas,
    features,
    run: async (t) => {
      const input_schema = { type: "object", properties: { n: { type: "integer", maximum: 9 } }, required: ["n"] };
      const output_schema = { type: "object", properties: { m: { type: "integer" } }, required: ["m"] };
      const { sender, capability } = await t.pair({ input_schema, output_schema });
      const wants = { type: "object", properties: { m: { type: "number" } }, required: ["m"] };
      const has = { type: "object", properties: { n: { enum: [1, 2] } }, required: ["n"] };
      const fitting = { capability, input_schema: has, output_schema: wants };
      const hit = only(t, (await discover(sender, fitting)).hits, "hits");
      t.equal([hit.schemas.input.verdict, hit.schemas.output.verdict], ["proven", "proven"], "the verdicts");
      const [miss] = await nobody(sender, { capability, input_schema: { n: "int" } });
      t.equal(miss?.schemas?.input.verdict, "refuted", "the verdict");
      const { n } = Object(miss?.schemas?.input.counterexample) as { n?: unknown };
      t.that(Number.isInteger(n) && Number(n) > 9, "a whole number above 9 as counterexample", n);
    },
  },
  {
    id: "FIT-2",
    promise: "An input is tried as it is.",
    section: schemas,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ input_schema: { type: "integer", maximum: 9 } });
      t.equal(namesOf(await discover(sender, { capability, input: 9 })), [worker.name], "who takes 9");
      await nobody(sender, { capability, input: 10 });
    },
  },
  {
    id: "MISS-1",
    promise: "A need that nobody meets is 406, nobody_meets, with the nearest misses and what each lacks.",
    section: misses,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ timeout_seconds: 60 });
      const near = await nobody(sender, { capability, within_ms: 1_000, tags: [t.name("tag")] });
      t.equal(near[0]?.agent_id, worker.name, "the nearest");
      t.equal(near[0]?.lacks.length, 2, "how many things it lacks");
    },
  },
  {
    id: "PRICE-1",
    promise: "A price is shown to the asker, the cheaper first, and never to an agent that offers the same.",
    section: prices,
    features,
    run: async (t) => {
      const name = t.name("sold");
      const dear = await seller(t, { name }, { amount: 500, per: "handoff" });
      const cheap = await seller(t, { name }, { amount: 200, per: "handoff" });
      const sender = await t.agent();
      const shown = (await discover(sender, { capability: name })).hits.map(({ agent_id, cost }) => [agent_id, cost]);
      const wanted = [
        [cheap.name, { amount: 200, per: "handoff" }],
        [dear.name, { amount: 500, per: "handoff" }],
      ];
      t.equal(shown, wanted, "what the asker sees");
      const { hits } = await discover(cheap, { capability: name });
      t.equal(hits.find(({ agent_id }) => agent_id === dear.name)?.cost, null, "what a rival sees");
      const most = { amount: 1_000, per: "handoff" };
      t.equal(namesOf(await discover(cheap, { capability: name, max_cost: most })), [cheap.name], "what a rival finds");
    },
  },
  {
    id: "LOOK-1",
    promise: "Whoever sees a price is told of in the log, to itself and to whoever asks that price.",
    section: "events.md#entries-of-no-handoff",
    features,
    run: async (t) => {
      const name = t.name("sold");
      const provider = await seller(t, { name }, { amount: 500, per: "handoff" });
      const [sender, stranger] = [await t.agent(), await t.agent()];
      await discover(sender, { capability: name });
      for (const party of [sender, provider]) {
        const { by, agents, capability } = only(t, await looksOf(party), "looks");
        t.equal({ by, agents, capability }, { by: sender.name, agents: [provider.name], capability: name }, "the look");
      }
      t.equal((await looksOf(stranger)).length, 0, "looks that a stranger sees");
    },
  },
  {
    id: "ENDPOINT-1",
    promise: "The discovery endpoint shows what the agent signed, by the key that signed it.",
    section: endpoints,
    features,
    run: async (t) => {
      const { sender, worker } = await t.pair();
      const { manifest, keys, discovery_endpoint } = await sender.ok("discovery", { params: { name: worker.name } });
      const { document, proof, digest } = manifest;
      if (document === null) return t.that(false, "a signed registration", manifest);
      const root = openProof(nodeCrypto, "registration", new TextEncoder().encode(document), proof);
      t.equal(root?.key, worker.key.thumbprint, "who signed it");
      t.that(
        keys.some(({ thumbprint }) => thumbprint === root?.key),
        "that key among its keys",
        keys,
      );
      t.equal(digest, manifestDigest(nodeCrypto, manifestContent(JSON.parse(document))), "the manifest's digest");
      t.that(
        discovery_endpoint.endsWith(`/v1/discovery/${worker.name}`),
        "the relay's own endpoint",
        discovery_endpoint,
      );
    },
  },
  {
    id: "ENDPOINT-2",
    promise: "The agent card has a skill for each capability, and our terms in an extension.",
    section: endpoints,
    features,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ timeout_seconds: 7 });
      const card = await sender.ok("agent_card", { params: { name: worker.name } });
      t.equal(card.name, worker.name, "the name");
      t.equal(
        card.skills.map(({ id }) => id),
        [capability],
        "the skills",
      );
      const terms = card.capabilities.extensions.find(({ uri }) => uri === "https://handfast.dev/ext/a2a-terms/v1");
      const stated = Object(terms?.params["capabilities"])[capability] as { timeout_seconds?: number } | undefined;
      t.equal(stated?.timeout_seconds, 7, "the time limit among the terms");
    },
  },
  {
    id: "CATALOG-1",
    promise: "The catalog lists every agent by name, and goes on in its last entry where there are more.",
    section: catalog,
    features,
    over: ["http"],
    run: async (t) => {
      const { sender, worker } = await t.pair();
      // From just before it on: whoever else tries this relay has agents in it too.
      const before = worker.name.slice(0, -1);
      const { body } = await sender.call("ai_catalog", { query: { after: before, limit: 1 } });
      const { specVersion, entries } = Object(body) as {
        specVersion: string;
        entries: { displayName: string; url: string; type: string }[];
      };
      t.equal(specVersion, "1.0", "specVersion");
      const [first, next] = entries;
      t.that(first !== undefined && first.displayName > before, "an agent after that name", first);
      t.that(first?.url.endsWith("/agent-card.json") === true, "the address of its card", first?.url);
      if (next !== undefined) t.equal(next.type, "application/ai-catalog+json", "what its last entry is");
    },
  },
  {
    id: "FOREIGN-1",
    promise:
      "A handoff to an agent of another relay is 406, foreign_agent, also where it would wait for one that is absent.",
    section: others,
    features,
    run: async (t) => {
      const sender = await t.agent();
      for (const queue_if_absent of [false, true]) {
        const body = { to: `${t.name("far")}@relay.example`, input: 1, queue_if_absent };
        await sender.refused("submit", { body }, 406, "foreign_agent");
      }
    },
  },
  {
    id: "FOREIGN-2",
    promise: "Only an operator imports, and what was never imported is unknown.",
    section: others,
    features,
    needs: ["operator"],
    run: async (t) => {
      const agent = await t.agent();
      await agent.refused("import_agent", { body: { url: "https://relay.example/x" } }, 403, "operator_only");
      const params = { name: `${t.name("far")}@relay.example` };
      await t.operator().refused("drop_import", { params }, 404, "unknown_import");
    },
  },
];
