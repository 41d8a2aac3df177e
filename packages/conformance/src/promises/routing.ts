/** routing.md: which agent gets a handoff for a capability, and what is said of it. */

import type { LeaseView } from "@handfast/protocol/wire";
import type { Check } from "../check.ts";
import type { Agent } from "../stage/agent.ts";
import { failure } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";

const features = ["routing"] as const;
const choice = "routing.md#the-choice";
const holding = "routing.md#holding-back";
const versions = "routing.md#versions";
const routes = "routing.md#routes";
const ties = "routing.md#ties";
const why = "routing.md#why-this-agent";
const pinned = "routing.md#the-manifest-of-a-lease";

interface Market {
  readonly sender: Agent;
  readonly capability: string;
  readonly agents: readonly Agent[];
}

/** Agents that offer one capability, each on terms of its own. */
async function market(t: Stage, ...terms: readonly object[]): Promise<Market> {
  const capability = t.name("work");
  const agents = await Promise.all(terms.map((each) => t.agent({ ...each, name: capability })));
  return { sender: await t.agent(), capability, agents };
}

function two({ agents }: Market): readonly [Agent, Agent] {
  const [one, other] = agents;
  if (one === undefined || other === undefined) throw new Error("the check needs two agents");
  return [one, other];
}

/** What an agent is given where there may be nothing for it; asked without waiting, it is heard of. */
async function givenTo(agent: Agent): Promise<readonly string[]> {
  return (await agent.claim({})).map(({ id }) => id);
}

async function finish(agent: Agent, lease: LeaseView): Promise<void> {
  await agent.act("complete", lease, { output: 1 });
}

export const routing: readonly Check[] = [
  {
    id: "CHOICE-1",
    promise: "After a failed attempt another agent that is connected goes first.",
    section: choice,
    features,
    waits: true,
    run: async (t) => {
      const all = await market(t, {}, {});
      const [first, second] = two(all);
      const { id } = await all.sender.submit({ capability: all.capability, input: 1 });
      const lease = await first.lease();
      t.equal(await givenTo(second), [], "what the other is given meanwhile");
      await first.act("ack", lease);
      await first.act("fail", lease, { error: failure, retryable: true });
      const gone = new AbortController();
      const body = { worker: first.worker, slots: 9 };
      const same = first.call("claim", { body, wait_ms: 20_000, signal: gone.signal }).catch(() => null);
      await first.asking();
      const next = await second.lease();
      t.equal([next.id, next.why?.rule], [id, "elsewhere"], "what the other agent is given, and why");
      gone.abort();
      await same;
    },
  },
  {
    id: "CHOICE-2",
    promise: "Work goes to nobody that by its own word cannot end it before the deadline.",
    section: choice,
    features,
    run: async (t) => {
      const all = await market(t, { latency: { p50_ms: 600_000 } }, {});
      const [slow, quick] = two(all);
      const { id } = await all.sender.submit({
        capability: all.capability,
        input: 1,
        limits: { deadline_ms: 60_000 },
      });
      t.equal(await givenTo(slow), [], "what the slow agent is given");
      t.equal((await quick.lease()).id, id, "what the other is given");
      const patient = { capability: all.capability, input: 1, limits: { deadline_ms: 1_200_000 } };
      const later = await all.sender.submit(patient);
      t.equal(await givenTo(slow), [later.id], "what the slow agent is given with time enough");
    },
  },
  {
    id: "CHOICE-3",
    promise: "An agent gets no more leases for a capability at a time than its manifest allows.",
    section: choice,
    features,
    run: async (t) => {
      const all = await market(t, { max_concurrent: 2 }, {});
      const [bounded, other] = two(all);
      for (let n = 0; n < 3; n += 1) await all.sender.submit({ capability: all.capability, input: n });
      const [lease, ...more] = await bounded.claim({ slots: 9 });
      t.equal(more.length, 1, "how many leases come beside the first");
      t.equal((await bounded.claim({ slots: 9, worker: "w2" })).length, 0, "how many another worker of it gets");
      if (lease !== undefined) await finish(bounded, lease);
      t.equal((await bounded.claim({ slots: 9 })).length, 1, "how many come when one of them has ended");
      t.equal(await givenTo(other), [], "what is left");
    },
  },
  {
    id: "CHOICE-4",
    promise: "An agent that measurably breaks its claim gets nothing while another lives, and says so where none does.",
    section: choice,
    features: [...features, "reliability"],
    run: async (t) => {
      const all = await market(t, { reliability_sla: 0.95 }, {});
      const [shaky, steady] = two(all);
      const { sender, capability } = all;
      for (let n = 0; n < 8; n += 1) {
        await sender.submit({ to: shaky.name, capability, input: n });
        const lease = await shaky.lease();
        await shaky.act("ack", lease);
        await shaky.act("fail", lease, { error: failure, retryable: false });
      }
      const { capabilities } = await sender.ok("reliability", { params: { name: shaky.name } });
      t.equal(capabilities[0]?.status, "breached", "how it stands");
      const alone = await sender.submit({ capability, input: 1 });
      const lease = await shaky.lease();
      t.equal([lease.id, lease.why?.rule], [alone.id, "no_other"], "what it is given alone, and why");
      await finish(shaky, lease);
      t.equal(await givenTo(steady), [], "what there is for the other");
      const { id } = await sender.submit({ capability, input: 2 });
      t.equal(await givenTo(shaky), [], "what it is given beside another");
      t.equal((await steady.lease()).id, id, "what the other is given");
    },
  },
  {
    id: "RANGE-1",
    promise: "A range of versions is met by the agents whose version lies in it, and by nobody else.",
    section: versions,
    features,
    run: async (t) => {
      const all = await market(t, { version: "1.4.0" }, { version: "2.0.1" }, {});
      const [old, young] = two(all);
      for (const [version, one, other] of [
        ["^1.2", old, young],
        ["2.x", young, old],
      ] as const) {
        const { id } = await all.sender.submit({ capability: all.capability, version, input: 1 });
        t.equal(await givenTo(other), [], `what an agent outside of ${version} is given`);
        for (const silent of all.agents.slice(2))
          t.equal(await givenTo(silent), [], "what one without a version is given");
        const lease = await one.lease();
        t.equal(lease.id, id, `what the agent in ${version} is given`);
        t.equal((await all.sender.get(id)).version_range, version, "the range in the handoff's view");
        await finish(one, lease);
      }
    },
  },
  {
    id: "RANGE-2",
    promise: "A range that nobody offers is 406, no_such_version, with the versions there are, or waited for.",
    section: versions,
    features,
    run: async (t) => {
      const all = await market(t, { version: "1.4.0" }, { version: "2.0.1" });
      const body = { capability: all.capability, version: "^3", input: 1 };
      const problem = await all.sender.refused("submit", { body }, 406, "no_such_version");
      t.equal((problem as unknown as { versions: unknown }).versions, ["1.4.0", "2.0.1"], "the versions there are");
      const { id } = await all.sender.submit({ ...body, queue_if_absent: true });
      const newest = await t.agent({ name: all.capability, version: "3.1.0" });
      t.equal((await newest.lease()).id, id, "what one is given that came with such a version");
    },
  },
  {
    id: "RANGE-3",
    promise: "A range without a capability is 400; the same key with another range is 409.",
    section: versions,
    features,
    run: async (t) => {
      const all = await market(t, { version: "1.4.0" });
      const { sender, capability, agents } = all;
      const nothing = { to: agents[0]?.name, version: "^1", input: 1 };
      await sender.refused("submit", { body: nothing }, 400, "version_of_nothing");
      const body = { capability, version: "^1", input: 1, idempotency_key: t.name("key") };
      const { id } = await sender.submit(body);
      t.equal((await sender.submit(body)).id, id, "the id of the same again");
      await sender.refused("submit", { body: { ...body, version: "1.x" } }, 409);
    },
  },
  {
    id: "CANARY-1",
    promise:
      "A route divides work among ranges of versions about as its weights say, and each handoff says where it was put.",
    section: routes,
    features: [...features, "batch"],
    needs: ["operator"],
    run: async (t) => {
      const all = await market(t, { version: "1.4.0" });
      const { sender, capability } = all;
      const weights = [
        { version: "1.x", weight: 75 },
        { version: "2.x", weight: 25 },
      ];
      await t.operator().ok("set_route", { params: { capability }, body: { weights } });
      const handoffs = Array.from({ length: 200 }, (_, n) => ({ capability, input: n }));
      const { receipts } = await sender.ok("submit_batch", { body: { handoffs } });
      const put = receipts.map(({ handoff }) => handoff?.canary);
      const young = put.filter((range) => range === "2.x").length;
      t.equal(put.filter((range) => range === "1.x").length, 200 - young, "handoffs under the other range");
      // Six standard deviations.
      t.that(Math.abs(young - 50) <= 37, "about 50 of 200 under 2.x", young);
    },
  },
  {
    id: "CANARY-2",
    promise:
      "What a route put under a range goes to an agent in it where one lives, else to any, and a range of its sender's own goes before.",
    section: routes,
    features,
    needs: ["operator"],
    run: async (t) => {
      const all = await market(t, { version: "1.4.0" }, { version: "2.0.0" });
      const [old, young] = two(all);
      const { sender, capability } = all;
      const weights = [{ version: "2.x", weight: 1 }];
      await t.operator().ok("set_route", { params: { capability }, body: { weights } });
      const first = await sender.submit({ capability, input: 1 });
      const fallen = await old.lease();
      t.equal(fallen.id, first.id, "what the only agent that lives is given");
      t.equal(fallen.why?.canary, { version: "2.x", met: false }, "what is said of the route");
      await finish(old, fallen);
      t.equal(await givenTo(young), [], "what there is for the other");
      const second = await sender.submit({ capability, input: 2 });
      t.equal(await givenTo(old), [], "what an agent outside of the range is given");
      const met = await young.lease();
      t.equal([met.id, met.why?.canary], [second.id, { version: "2.x", met: true }], "what the one in it is given");
      const own = await sender.submit({ capability, version: "1.x", input: 3 });
      t.equal(await givenTo(old), [own.id], "what is given by its sender's own range");
    },
  },
  {
    id: "CANARY-3",
    promise: "Routes are the operators'; weights that are all 0 and a range that stands twice are 400.",
    section: routes,
    features,
    needs: ["operator"],
    run: async (t) => {
      const { sender, capability } = await market(t, { version: "1.4.0" });
      const route = (...weights: readonly object[]) => ({ params: { capability }, body: { weights } });
      const whole = { version: "1.x", weight: 1 };
      await sender.refused("set_route", route(whole), 403);
      await sender.refused("routes", {}, 403);
      const operator = t.operator();
      await operator.refused("set_route", route({ version: "1.x", weight: 0 }), 400, "no_weight");
      await operator.refused("set_route", route(whole, whole), 400, "range_twice");
      await operator.ok("set_route", route(whole));
      const shown = async () => {
        const { routes: all } = await operator.ok("routes", {});
        return all.filter((each) => each.capability === capability).map(({ weights }) => weights);
      };
      t.equal(await shown(), [[whole]], "the routes for the capability");
      await operator.ok("drop_route", { params: { capability } });
      t.equal(await shown(), [], "the routes for it when it is dropped");
      await operator.refused("drop_route", { params: { capability } }, 404, "unknown_route");
    },
  },
  {
    id: "BACK-1",
    promise: "Work is held back for a busy agent for a quarter of its time at most, and then goes to one that is free.",
    section: holding,
    features,
    waits: true,
    run: async (t) => {
      const all = await market(t, {}, {});
      const [first, second] = two(all);
      const body = { capability: all.capability, conversation_id: t.name("talk"), input: 1 };
      await all.sender.submit(body);
      await finish(first, await first.lease());
      const { id } = await all.sender.submit({ ...body, limits: { deadline_ms: 8_000 } });
      t.equal(await givenTo(second), [], "what another is given at once");
      t.equal((await second.lease()).id, id, "what the other is given before its deadline");
    },
  },
  {
    id: "TIE-1",
    promise: "A handoff of a conversation goes to the agent that served the last one for the same capability.",
    section: ties,
    features,
    run: async (t) => {
      await tied(t, { conversation_id: t.name("talk") }, "conversation");
    },
  },
  {
    id: "TIE-2",
    promise: "A handoff of a lane goes to the agent that served the one before.",
    section: ties,
    features,
    run: async (t) => {
      await tied(t, { ordering_key: t.name("key") }, "sticky_order");
    },
  },
  {
    id: "TIE-3",
    promise: "A conversation is held for its agent no longer than 10 s.",
    section: ties,
    features,
    waits: true,
    run: async (t) => {
      const all = await market(t, {}, {});
      const [first, second] = two(all);
      const body = { capability: all.capability, conversation_id: t.name("talk"), input: 1 };
      await all.sender.submit(body);
      await finish(first, await first.lease());
      const { id } = await all.sender.submit(body);
      t.equal(await givenTo(second), [], "what another is given at once");
      t.equal((await second.lease()).id, id, "what the other is given in the end");
    },
  },
  {
    id: "TIE-4",
    promise: "The handoffs of a conversation are shown to their parties, oldest first, and to nobody else.",
    section: ties,
    features,
    run: async (t) => {
      const all = await market(t, {}, {});
      const [worker, other] = two(all);
      const conversation_id = t.name("talk");
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        ids.push((await all.sender.submit({ to: worker.name, conversation_id, input: n })).id);
        await t.pause(2);
      }
      const seenBy = async (agent: Agent) => {
        const { handoffs } = await agent.ok("conversation", { params: { id: conversation_id } });
        return handoffs.map(({ id }) => id);
      };
      t.equal(await seenBy(all.sender), ids, "what the sender sees");
      t.equal(await seenBy(worker), ids, "what the agent sees that they went to");
      t.equal(await seenBy(other), [], "what a stranger sees");
    },
  },
  {
    id: "WHY-1",
    promise: "Why an agent got a handoff is told in the lease, in the event, and in the view, also after the end.",
    section: why,
    features,
    run: async (t) => {
      const all = await market(t, {}, {});
      const [worker] = two(all);
      const { id } = await all.sender.submit({ capability: all.capability, input: 1 });
      const lease = await worker.lease();
      t.equal(lease.why, { rule: "only", among: 1 }, "what the lease says");
      t.equal((await all.sender.event(id, "delivered"))["why"], lease.why, "what the event says");
      t.equal((await all.sender.get(id)).why, lease.why, "what the view says");
      await finish(worker, lease);
      t.equal((await all.sender.get(id)).why, lease.why, "what the view says after the end");
    },
  },
  {
    id: "PINNED-1",
    promise:
      "A lease binds the manifest that was in force when it was given; one that is registered meanwhile changes nothing.",
    section: pinned,
    features: [...features, "manifests"],
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ description: "As it was." });
      const inForce = async () => (await sender.ok("agent", { params: { name: worker.name } })).manifest?.digest;
      const before = await inForce();
      await sender.submit({ capability, input: 1 });
      const lease = await worker.lease();
      t.equal(lease.manifest, before, "the manifest of the lease");
      await t.register(worker.name, worker.key, [{ name: capability, description: "As it is." }]);
      const after = await inForce();
      t.that(after !== before, "another manifest in force", after);
      const newer = await worker.signed(worker.writeAck({ ...lease, manifest: after ?? "" }));
      const params = { id: lease.id };
      await worker.refused("ack", { params, body: newer }, 400);
      await worker.ok("ack", { params, body: await worker.signed(worker.writeAck(lease)) });
      await finish(worker, lease);
      await sender.submit({ capability, input: 2 });
      t.equal((await worker.lease()).manifest, after, "the manifest of the next lease");
    },
  },
];

/** Both agents are connected, and the one that asks first is not the one that it is tied to. */
async function tied(t: Stage, tie: object, rule: string): Promise<void> {
  const all = await market(t, {}, {});
  const [first, second] = two(all);
  const body = { capability: all.capability, ...tie };
  await all.sender.submit({ ...body, input: 1 });
  await finish(first, await first.lease());
  for (let n = 2; n < 4; n += 1) {
    const { id } = await all.sender.submit({ ...body, input: n });
    t.equal(await givenTo(second), [], "what another is given");
    const lease = await first.lease();
    t.equal([lease.id, lease.why?.rule], [id, rule], "what the same agent is given, and why");
    await finish(first, lease);
  }
}
