/** handoffs.md, "Children, hops and budgets". */

import type { LeaseView } from "@handfast/protocol/wire";
import type { Check } from "../check.ts";
import type { Agent } from "../stage/agent.ts";
import { newId } from "../stage/agent.ts";
import { refusal } from "../stage/caller.ts";
import { failure, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";

const section = "handoffs.md#children-hops-and-budgets";

interface Family {
  readonly sender: Agent;
  /** Works on the parent, and sends children. */
  readonly middle: Agent;
  /** Works on the children. */
  readonly below: Agent;
  readonly capability: string;
  readonly parent: LeaseView;
  readonly child: (more?: object) => Promise<{ readonly id: string }>;
  /** The same as a body, for those that are to be refused. */
  readonly childBody: (more?: object) => { readonly body: object };
}

/** A parent that is worked on by an agent which may send children. */
async function family(t: Stage, more: object = {}): Promise<Family> {
  const { sender, worker: middle, capability: above } = await t.pair();
  const capability = t.name("below");
  const below = await t.agent(capability);
  const parent = await working({ sender, worker: middle, capability: above }, more);
  const causation = { id: parent.id, fence: parent.fence };
  const childBody = (said: object = {}) => ({ body: { capability, input: 1, causation, ...said } });
  const child = (said: object = {}) => middle.submit(childBody(said).body);
  return { sender, middle, below, capability, parent, child, childBody };
}

export const children: readonly Check[] = [
  {
    id: "CHILD-1",
    promise: "A child belongs to its parent's correlation and names its parent, in answers, leases and events.",
    section,
    run: async (t) => {
      const { middle, below, parent, child } = await family(t, { correlation_id: "the group" });
      const { id } = await child();
      const view = await middle.get(id);
      t.equal(view.correlation_id, "the group", "the correlation");
      t.equal(view.causation, { id: parent.id, fence: parent.fence }, "the causation");
      t.equal(view.hops, 1, "hops");
      const lease = await below.lease();
      t.equal(
        [lease.correlation_id, lease.causation_id],
        ["the group", parent.id],
        "correlation and causation in the lease",
      );
      for (const event of await middle.events(id)) {
        t.equal(
          [event.correlation_id, event["causation_id"]],
          ["the group", parent.id],
          "correlation and causation in an event",
        );
      }
    },
  },
  {
    id: "CHILD-2",
    promise: "A child of a parent that does not exist is 404.",
    section,
    run: async (t) => {
      const { middle, childBody } = await family(t);
      const parts = childBody({ causation: { id: newId(), fence: 1 } });
      await middle.refused("submit", parts, 404, "unknown_parent");
    },
  },
  {
    id: "CHILD-3",
    promise: "A child under a fence that is another agent's is 403.",
    section,
    run: async (t) => {
      const { sender, below, childBody, capability, parent } = await family(t);
      await below.refused("submit", childBody(), 403, "foreign_parent");
      const body = { capability, input: 1, causation: { id: parent.id, fence: parent.fence } };
      await sender.refused("submit", { body }, 403, "foreign_parent");
    },
  },
  {
    id: "CHILD-4",
    promise: "A child under a fence that is over is 412.",
    section,
    run: async (t) => {
      const { middle, parent, childBody } = await family(t);
      await middle.act("release", parent);
      await middle.refused("submit", childBody(), 412, "lease_lost");
    },
  },
  {
    id: "CHILD-5",
    promise: "A child under a fence that only time has ended is 412, too.",
    section,
    waits: true,
    run: async (t) => {
      const { middle, childBody } = await family(t, { limits: { attempt_ms: 700, lease_ms: 2_000 } });
      let tries = 0;
      const last = await t.until(
        "a child to be refused",
        () => middle.call("submit", childBody({ input: ++tries })),
        ({ status }) => status !== 202,
      );
      refusal("a child", last.status, last.body, 412, "lease_lost");
    },
  },
  {
    id: "CHILD-6",
    promise: "Sixteen hops below the first are allowed; one more is 508.",
    section,
    run: async (t) => {
      const capability = t.name("down");
      const agent = await t.agent(capability);
      let causation = {};
      for (let hops = 0; hops <= 16; hops += 1) {
        await agent.submit({ capability, input: hops, ...causation });
        const lease = await agent.lease();
        t.equal((await agent.get(lease.id)).hops, hops, "hops");
        causation = { causation: { id: lease.id, fence: lease.fence } };
      }
      await agent.refused("submit", { body: { capability, input: 17, ...causation } }, 508, "too_many_hops");
    },
  },
  {
    id: "CHILD-7",
    promise: "A child that names another correlation than its parent's is 400.",
    section,
    run: async (t) => {
      const { middle, childBody } = await family(t);
      await middle.refused("submit", childBody({ correlation_id: "another" }), 400, "correlation_differs");
    },
  },
  {
    id: "CHILD-8",
    promise: "A child's deadline is never after its parent's, detached or not.",
    section,
    run: async (t) => {
      const { middle, parent, child } = await family(t, { limits: { deadline_ms: 60_000 } });
      const { deadline_at } = await middle.get(parent.id);
      for (const more of [{}, { detached: true }, { limits: { deadline_ms: 600_000 } }]) {
        const { id } = await child({ input: JSON.stringify(more), ...more });
        const own = (await middle.get(id)).deadline_at;
        t.that(own <= deadline_at, `a deadline at ${deadline_at} or before`, own);
      }
      const short = await child({ input: "short", limits: { deadline_ms: 1_000 } });
      const view = await middle.get(short.id);
      t.equal(view.deadline_at - view.accepted_at, 1_000, "a deadline of the child's own that is earlier");
    },
  },
  {
    id: "CHILD-9",
    promise: "When a parent ends, its open children are canceled by the relay, and theirs in turn.",
    section,
    run: async (t) => {
      const { middle, below, parent, child, capability } = await family(t);
      const first = await child();
      const lease = await below.lease();
      await below.act("ack", lease);
      const causation = { id: lease.id, fence: lease.fence };
      const grandchild = await below.submit({ capability, input: 2, causation });
      await middle.act("complete", parent, { output: 1 });
      for (const [who, id] of [
        [middle, first.id],
        [below, grandchild.id],
      ] as const) {
        const { state, code } = await who.ended(id);
        t.equal({ state, code }, { state: "canceled", code: 410 }, "how it ended");
        t.equal((await who.event(id, "canceled"))["by"], "relay", "by whom it was canceled");
      }
      await below.refusedAct("complete", lease, { output: 1 }, 410, "canceled");
    },
  },
  {
    id: "CHILD-10",
    promise: "Detached children go on when their parent ends.",
    section,
    run: async (t) => {
      const { middle, below, parent, child } = await family(t);
      const canceled = await child();
      const { id } = await child({ detached: true, input: 2 });
      await middle.act("complete", parent, { output: 1 });
      await middle.ended(canceled.id);
      t.equal((await middle.get(id)).state, "queued", "the state of the detached one");
      const lease = await below.lease();
      t.equal(lease.id, id, "what is still delivered");
      await below.act("complete", lease, { output: 1 });
    },
  },
  {
    id: "CHILD-11",
    promise: "A lost attempt of the parent cancels nothing.",
    section,
    run: async (t) => {
      const { middle, below, parent, child } = await family(t);
      const { id } = await child();
      await middle.act("fail", parent, { error: failure, retryable: true });
      t.equal((await middle.get(id)).state, "queued", "the state of the child");
      t.equal((await below.lease()).id, id, "what is delivered");
    },
  },
  {
    id: "CHILD-12",
    promise: "Children of a parent that is canceled or expires are canceled as well.",
    section,
    waits: true,
    run: async (t) => {
      const one = await family(t);
      const first = await one.child();
      await one.sender.ok("cancel", { params: { id: one.parent.id }, body: {} });
      t.equal((await one.middle.ended(first.id)).state, "canceled", "the child of a canceled parent");
      const two = await family(t, { limits: { deadline_ms: 5_000 } });
      const second = await two.child();
      const { state } = await two.middle.ended(second.id);
      t.that(["canceled", "expired"].includes(state), "a child that ends with its parent", state);
    },
  },
  {
    id: "BUDGET-1",
    promise: "A budget of handoffs counts what is accepted below it at any depth; when it is used up, a submit is 402.",
    section,
    run: async (t) => {
      const { sender, below, middle, parent, child, childBody, capability } = await family(t, {
        budget: { handoffs: 2 },
      });
      await child();
      const lease = await below.lease();
      await below.act("ack", lease);
      const causation = { id: lease.id, fence: lease.fence };
      await below.submit({ capability, input: 2, causation });
      await middle.refused("submit", childBody({ input: 3 }), 402, "budget_spent");
      await below.refused("submit", { body: { capability, input: 4, causation } }, 402, "budget_spent");
      t.equal((await sender.get(parent.id)).spent.handoffs, 2, "the handoffs that were spent");
    },
  },
  {
    id: "BUDGET-2",
    promise:
      "The usage of an outcome is charged to every budget above; a spent budget refuses further submits with 402.",
    section,
    run: async (t) => {
      const { sender, middle, below, parent, child, childBody } = await family(t, {
        budget: { cost: 100, tokens: 1_000 },
      });
      await child();
      const lease = await below.lease();
      await below.act("complete", lease, { output: 1, usage: { cost: 100, tokens: 5 } });
      const { spent } = await sender.get(parent.id);
      t.equal({ cost: spent.cost, tokens: spent.tokens }, { cost: 100, tokens: 5 }, "what was spent");
      await middle.refused("submit", childBody({ input: 2 }), 402, "budget_spent");
    },
  },
  {
    id: "BUDGET-3",
    promise: "A budget further down only narrows: each of its numbers is at most what is left above.",
    section,
    run: async (t) => {
      const { middle, below, child } = await family(t, { budget: { cost: 100, tokens: 50 } });
      await child();
      await below.act("complete", await below.lease(), { output: 1, usage: { cost: 30, tokens: 0 } });
      const { id } = await child({ input: 2, budget: { cost: 1_000, tokens: 20 } });
      const { budget } = await middle.get(id);
      t.equal({ cost: budget?.cost, tokens: budget?.tokens }, { cost: 70, tokens: 20 }, "the budget of the child");
    },
  },
  {
    id: "BUDGET-4",
    promise: "The usage of a failed attempt is charged, and no usage twice.",
    section,
    run: async (t) => {
      const { sender, below, parent, child } = await family(t, { budget: { cost: 1_000 } });
      await child();
      const lease = await below.lease();
      const failed = { error: failure, retryable: true, usage: { cost: 10, tokens: 0 } };
      await below.act("fail", lease, failed);
      await below.act("fail", lease, failed);
      t.equal((await sender.get(parent.id)).spent.cost, 10, "the cost above");
      t.equal((await below.get(lease.id)).spent.cost, 10, "the cost of the handoff itself");
    },
  },
  {
    id: "BUDGET-5",
    promise: "A spent budget stops nothing that already runs.",
    section,
    run: async (t) => {
      const { sender, below, parent, child } = await family(t, { budget: { cost: 10 } });
      await child();
      await child({ input: 2 });
      const [one, two] = [await below.lease(), await below.lease()];
      await below.act("complete", one, { output: 1, usage: { cost: 10, tokens: 0 } });
      await below.act("complete", two, { output: 2, usage: { cost: 15, tokens: 0 } });
      t.equal((await sender.get(parent.id)).spent.cost, 25, "the cost above");
    },
  },
];
