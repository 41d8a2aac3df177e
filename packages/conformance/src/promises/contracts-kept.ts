/** contracts.md: what a contract demands of the handoffs under it, and how its keeping is counted. */

import type { Check } from "../check.ts";
import { seal } from "../stage/agent.ts";
import { agreed_deadline_ms, contract, price, type Trade, trade } from "../stage/market.ts";
import { failure } from "../stage/scenes.ts";

const under = "contracts.md#under-a-contract";
const kept = "contracts.md#how-it-is-kept";
const features = ["contracts"];

async function told({ asker }: Trade, contract_id: string) {
  return asker.ok("contract", { params: { id: contract_id } });
}

export const underContract: readonly Check[] = [
  {
    id: "UNDER-1",
    promise: "A handoff that names a contract goes to its provider with its limits, whoever else offers the same.",
    section: under,
    features,
    run: async (t) => {
      const between = await trade(t, { timeout_seconds: 20 });
      const { asker, provider, capability } = between;
      const { contract_id } = await contract(between);
      await t.agent(capability);
      const { handoff } = await asker.submit({ contract: contract_id, input: { n: 1 } });
      const { to, limits } = handoff ?? {};
      t.equal(
        { to, deadline_ms: limits?.deadline_ms, attempt_ms: limits?.attempt_ms, max_attempts: limits?.max_attempts },
        { to: provider.name, deadline_ms: agreed_deadline_ms, attempt_ms: 20_000, max_attempts: 2 },
        "the handoff",
      );
      const lease = await provider.lease();
      t.equal(lease.contract, contract_id, "the contract that the lease names");
      await provider.act("complete", lease, { output: 1 });
    },
  },
  {
    id: "UNDER-2",
    promise: "It may ask for less than the contract gives; for more, or for another target, it is 400.",
    section: under,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, capability } = between;
      const { contract_id } = await contract(between);
      const body = { contract: contract_id, input: 1 };
      await asker.submit({ ...body, capability, limits: { deadline_ms: 30_000, max_attempts: 1 } });
      for (const more of [
        { limits: { deadline_ms: agreed_deadline_ms + 1 } },
        { limits: { max_attempts: 3 } },
        { to: asker.name },
        { capability: t.name("other") },
      ]) {
        await asker.refused("submit", { body: { ...body, ...more } }, 400, "beyond_contract");
      }
    },
  },
  {
    id: "UNDER-3",
    promise: "A contract of another agent is answered exactly as one that is not there: 428, unknown_contract.",
    section: under,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { capability, provider } = between;
      const { contract_id } = await contract(between);
      const stranger = await t.agent();
      const details = new Set<string>();
      for (const [who, id] of [
        [stranger, contract_id],
        [provider, contract_id],
        [stranger, "f".repeat(64)],
      ] as const) {
        const body = { capability, input: 1, contract: id };
        const { detail } = await who.refused("submit", { body }, 428, "unknown_contract");
        details.add(detail.replaceAll(id, ""));
      }
      t.equal(details.size, 1, "how many different answers there were");
    },
  },
  {
    id: "UNDER-4",
    promise: "A changed capability makes the contract stale: 428 with what changed; another capability does not.",
    section: under,
    features,
    run: async (t) => {
      const between = await trade(t, { version: "1.0.0" });
      const { asker } = between;
      const { contract_id } = await contract(between);
      const body = { contract: contract_id, input: 1 };
      await between.change({ version: "2.0.0" });
      const problem = await asker.refused("submit", { body }, 428, "contract_stale");
      const { changed } = problem as { readonly changed?: unknown };
      t.equal(changed, [{ field: "version", from: "1.0.0", to: "2.0.0" }], "what changed");
      t.equal((await told(between, contract_id)).state, "stale", "how the contract stands");
      await between.change({});
      await asker.submit(body);
    },
  },
  {
    id: "UNDER-5",
    promise: "Either side ends a contract; then it is 428, contract_ended, and what is open goes on.",
    section: under,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider } = between;
      const { contract_id } = await contract(between);
      const body = { contract: contract_id, input: 1 };
      const { id } = await asker.submit(body);
      await provider.ok("end_contract", { params: { id: contract_id }, body: {} });
      await asker.refused("submit", { body }, 428, "contract_ended");
      await provider.act("complete", await provider.lease(), { output: 1 });
      t.equal((await asker.ended(id)).code, 200, "the end of the open one");
    },
  },
  {
    id: "UNDER-6",
    promise:
      "After its validity a contract is 428, contract_expired; a submit that was accepted is still answered alike.",
    section: under,
    features,
    waits: true,
    run: async (t) => {
      const between = await trade(t);
      const { asker } = between;
      const { contract_id, valid_until } = await contract(between, { valid_ms: 3_000 });
      const body = { contract: contract_id, input: 1, idempotency_key: t.name("key") };
      const { id } = await asker.submit(body);
      await t.pause(3_500);
      t.that(valid_until > 0, "a validity", valid_until);
      await asker.refused("submit", { body: { contract: contract_id, input: 2 } }, 428, "contract_expired");
      const again = await asker.submit(body);
      t.equal([again.id, again.repeated], [id, true], "the repeated submit");
    },
  },
  {
    id: "UNDER-7",
    promise: "Input must fit what the asker declared that it sends, and output what it declared that it takes.",
    section: under,
    features,
    run: async (t) => {
      const output_schema = { type: "string", minLength: 2 };
      const between = await trade(t, { output_schema });
      const { asker, provider } = between;
      const schemas = { input_schema: { type: "integer" }, output_schema };
      const { contract_id } = await contract(between, schemas);
      await asker.refused("submit", { body: { contract: contract_id, input: "x" } }, 422, "input_unfit");
      await asker.submit({ contract: contract_id, input: 1 });
      const lease = await provider.lease();
      await provider.refusedAct("complete", lease, { output: "x" }, 502, "output_unfit");
      await provider.act("complete", lease, { output: "xy" });
    },
  },
  {
    id: "UNDER-8",
    promise: "A signed handoff under a contract must itself say to whom it goes and for what.",
    section: under,
    features: [...features, "signed"],
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider, capability } = between;
      const { contract_id } = await contract(between);
      const said = { capability, contract: contract_id };
      await asker.refused("submit", { body: await asker.signedHandoff(said) }, 400, "contract_unsaid");
      await asker.submit(await asker.signedHandoff({ ...said, to: provider.name }, seal("1")));
    },
  },
  {
    id: "BREACH-1",
    promise: "What is completed fulfils a contract, what fails breaks it, what is canceled counts as neither.",
    section: kept,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider } = between;
      const { contract_id } = await contract(between);
      const body = { contract: contract_id, input: 1 };
      await asker.submit(body);
      await provider.act("complete", await provider.lease(), { output: 1 });
      await asker.submit(body);
      await provider.act("fail", await provider.lease(), { error: failure });
      const { id } = await asker.submit(body);
      await asker.ok("cancel", { params: { id }, body: {} });
      const { fulfilled, breaches, uncounted } = (await told(between, contract_id)).fulfilment;
      t.equal({ fulfilled, breaches, uncounted }, { fulfilled: 1, breaches: 1, uncounted: 1 }, "the counts");
    },
  },
  {
    id: "BREACH-2",
    promise: "Only the agreed price is charged to a budget above, and reporting more breaks the contract.",
    section: kept,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider } = between;
      const { contract_id } = await contract(between);
      const boss = await t.agent();
      const work = t.name("budgeted");
      await t.register(asker.name, asker.key, [work]);
      const root = await boss.submit({ capability: work, input: 1, budget: { cost: 10 * price.amount } });
      const held = await asker.lease();
      await asker.act("ack", held);
      const causation = { id: held.id, fence: held.fence };
      await asker.submit({ contract: contract_id, input: 1, causation });
      await provider.act("complete", await provider.lease(), { output: 1, usage: { cost: 5 * price.amount } });
      t.equal((await boss.get(root.id)).spent.cost, price.amount, "what the budget above was charged");
      const { by_reason } = (await told(between, contract_id)).fulfilment;
      t.equal(by_reason, { cost_above_price: 1 }, "why it is broken");
    },
  },
  {
    id: "BREACH-3",
    promise:
      "A contract is breached once at least five handoffs make it certain that less than its min_reliability is kept: 428 with the counts.",
    section: kept,
    features,
    run: async (t) => {
      const between = await trade(t, { reliability_sla: 0.99 });
      const { asker, provider } = between;
      const { contract_id } = await contract(between, { min_reliability: 0.8 });
      const body = { contract: contract_id, input: 1 };
      // Of none in one the interval goes up to 0.79, of none in five to 0.43.
      for (let times = 0; times < 5; times += 1) {
        await asker.submit(body);
        await provider.act("fail", await provider.lease(), { error: failure });
      }
      const problem = await asker.refused("submit", { body }, 428, "contract_breached");
      const { fulfilled, breaches } = problem as { readonly fulfilled?: number; readonly breaches?: number };
      t.equal({ fulfilled, breaches }, { fulfilled: 0, breaches: 5 }, "the counts");
    },
  },
  {
    id: "BREACH-4",
    promise: "Contracts and their counts are the same after the relay was killed.",
    section: kept,
    features,
    needs: ["restart"],
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider } = between;
      const { contract_id } = await contract(between);
      for (const output of [1, 2]) {
        await asker.submit({ contract: contract_id, input: output });
        await provider.act("complete", await provider.lease(), { output });
      }
      await asker.submit({ contract: contract_id, input: 3 });
      await provider.act("fail", await provider.lease(), { error: failure });
      const before = await told(between, contract_id);
      t.equal([before.fulfilment.fulfilled, before.fulfilment.breaches], [2, 1], "the counts before");
      await t.restart();
      t.equal(await told(between, contract_id), before, "the contract after");
    },
  },
  {
    id: "BREACH-5",
    promise:
      "A contract is broken neither by an asker that leaves questions open for a quarter of its time, nor by one whose answers do not fit.",
    section: kept,
    features,
    waits: true,
    run: async (t) => {
      // It says how long it takes: of a shorter attempt than the default, which it never spoke of, a breach would not be counted anyhow.
      const between = await trade(t, { timeout_seconds: 8 });
      const { asker, provider } = between;
      const { contract_id } = await contract(between, { limits: { deadline_ms: 8_000 } });
      const asked = { question: "How many?", schema: { type: "integer", maximum: 4 }, park: true, answer_ms: 2_000 };
      for (const answers of [[], [5, "four"]]) {
        const { id } = await asker.submit({ contract: contract_id, input: 1 });
        const lease = await provider.lease();
        await provider.act("ack", lease);
        const { id: question } = await provider.act("ask", lease, asked);
        for (const answer of answers) {
          await asker.refused("answer", { params: { id: question }, body: { answer } }, 422, "answer_unfit");
        }
        t.equal((await asker.ended(id)).code, 408, "the end of what nobody answered");
      }
      const { fulfilled, breaches, uncounted } = (await told(between, contract_id)).fulfilment;
      t.equal({ fulfilled, breaches, uncounted }, { fulfilled: 0, breaches: 0, uncounted: 2 }, "the counts");
    },
  },
];
