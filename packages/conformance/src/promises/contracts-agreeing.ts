/** contracts.md: how terms are agreed on, and who sees what of it. */

import { type Capability, capabilityDigest, contractId, opensCost, verifyProof } from "@handfast/protocol";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import { readLogLines } from "../stage/log-lines.ts";
import { agreed_deadline_ms, contract, negotiation, offer, price, trade } from "../stage/market.ts";
import { publicKey } from "./public-key.ts";

const negotiating = "contracts.md#negotiating";
const proposals = "contracts.md#proposals";
const taking = "contracts.md#agreeing";
const sealed = "contracts.md#sealed-prices";
const features = ["contracts"];

export const agreeing: readonly Check[] = [
  {
    id: "TERMS-1",
    promise: "The id of a contract is the SHA-256 of its terms in canonical JSON.",
    section: "contracts.md#terms",
    features,
    run: async (t) => {
      const between = await trade(t, { output_schema: { type: "string" } });
      const offered = await offer(between, { output_schema: { type: "string" } });
      const { terms } = offered;
      if (terms === null) return t.that(false, "terms in the offer", offered);
      t.equal(offered.contract_id, contractId(nodeCrypto, terms), "the id that the offer announces");
      const made = await between.asker.ok("agree", { body: { offer_id: offered.offer_id } }, 201);
      t.equal({ id: made.contract_id, terms: made.terms }, { id: offered.contract_id, terms }, "the contract");
    },
  },
  {
    id: "NEGO-1",
    promise: "An offer from a manifest has the limits that were asked for, the provider's price and its validity.",
    section: negotiating,
    features,
    run: async (t) => {
      const between = await trade(t, { timeout_seconds: 20 });
      const { terms, cost, made_by } = await offer(between, { valid_ms: 600_000 });
      t.equal({ cost, made_by }, { cost: price, made_by: "manifest" }, "the offer");
      const { asker, provider, capability, limits } = terms ?? {};
      t.equal(
        { asker, provider, capability, deadline_ms: limits?.deadline_ms, attempt_ms: limits?.attempt_ms },
        {
          asker: between.asker.name,
          provider: between.provider.name,
          capability: between.capability,
          deadline_ms: agreed_deadline_ms,
          attempt_ms: 20_000,
        },
        "its terms",
      );
    },
  },
  {
    id: "NEGO-2",
    promise: "A need that nobody meets on these terms is 406, with the nearest and what each lacks.",
    section: negotiating,
    features,
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { timeout_seconds: 20 });
      const body = { capability, limits: { attempt_ms: 1_000 } };
      const refused = await asker.refused("negotiate", { body }, 406, "no_offer");
      const { near } = refused as {
        readonly near?: readonly { readonly agent_id: string; readonly lacks: string[] }[];
      };
      t.equal(
        near?.map(({ agent_id, lacks }) => [agent_id, lacks.length > 0]),
        [[provider.name, true]],
        "the nearest",
      );
    },
  },
  {
    id: "NEGO-3",
    promise: "The same negotiation under the same id answers as the first time; another under it is 409.",
    section: negotiating,
    features,
    run: async (t) => {
      const { asker, capability } = await trade(t);
      const body = { id: newId(), capability };
      const first = await asker.ok("negotiate", { body });
      t.equal(await asker.ok("negotiate", { body }), first, "the second answer");
      await asker.refused("negotiate", { body: { ...body, valid_ms: 5 } }, 409, "id_taken");
    },
  },
  {
    id: "NEGO-4",
    promise: "A negotiation is there for its asker only.",
    section: negotiating,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider, capability } = between;
      const begun = await negotiation(asker, { capability });
      const params = { id: begun.negotiation_id };
      t.equal(await asker.ok("negotiation", { params }), begun, "what the asker reads");
      await provider.refused("negotiation", { params }, 404, "unknown_negotiation");
    },
  },
  {
    id: "NEGO-5",
    promise: "A manifest alone binds its provider to no output_schema that its own does not prove to be met.",
    section: negotiating,
    features,
    run: async (t) => {
      const { asker, capability, change } = await trade(t);
      const body = { capability, output_schema: { type: "string", minLength: 2 } };
      await asker.refused("negotiate", { body }, 406, "no_offer");
      await change({ output_schema: { type: "string" } });
      await asker.refused("negotiate", { body }, 406, "no_offer");
      await change({ output_schema: { type: "string", minLength: 3 } });
      await asker.ok("negotiate", { body });
    },
  },
  {
    id: "PROPOSE-1",
    promise:
      "An agent that proposes is asked live and may name its price; it sees its own calls only, and not what the asker would pay.",
    section: proposals,
    features: [...features, "prefer_wait"],
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { proposes: true }, null);
      const other = await t.agent({ name: capability, proposes: true });
      const most = { amount: 987_654_321, per: "handoff" } as const;
      const answer = t.meanwhile(negotiation(asker, { capability, reply_by_ms: 20_000, max_cost: most }, 20_000));
      const [call] = (await provider.ok("proposals", { wait_ms: 10_000 })).proposals;
      const [others] = (await other.ok("proposals", { wait_ms: 10_000 })).proposals;
      t.equal([call?.from, call?.terms.provider], [asker.name, provider.name], "the call");
      const told = JSON.stringify(call);
      t.that(!told.includes(other.name) && !told.includes("987654321"), "nothing of others, nor of the most", call);
      await provider.refused("propose", { params: { id: others?.id ?? "" }, body: {} }, 404, "unknown_proposal");
      await provider.ok("propose", { params: { id: call?.id ?? "" }, body: { cost: price } });
      const decline = { reason: "too_busy", message: "Not today." };
      await other.ok("propose", { params: { id: others?.id ?? "" }, body: { decline } });
      const { open, offers, declined } = await answer;
      t.equal(
        { open, offers: offers.map(({ agent_id, cost, made_by }) => ({ agent_id, cost, made_by })) },
        { open: false, offers: [{ agent_id: provider.name, cost: price, made_by: "proposal" }] },
        "the answer",
      );
      t.equal(
        declined.map(({ agent_id, reason }) => [agent_id, reason]),
        [[other.name, "too_busy"]],
        "who declined",
      );
    },
  },
  {
    id: "PROPOSE-2",
    promise: "Silence until reply_by is a decline, a wait lasts no longer, and an answer after it is 408.",
    section: proposals,
    features: [...features, "prefer_wait"],
    waits: true,
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { proposes: true }, null);
      const free = await t.agent(capability);
      const answer = t.meanwhile(negotiation(asker, { capability, reply_by_ms: 2_000 }, 20_000));
      const [call] = (await provider.ok("proposals", { wait_ms: 10_000 })).proposals;
      const { open, offers, declined } = await answer;
      t.equal(
        [open, offers.map(({ agent_id }) => agent_id), declined.map(({ agent_id, reason }) => [agent_id, reason])],
        [false, [free.name], [[provider.name, "no_answer"]]],
        "the answer",
      );
      await provider.refused("propose", { params: { id: call?.id ?? "" }, body: {} }, 408, "proposal_too_late");
    },
  },
  {
    id: "PROPOSE-3",
    promise: "A proposal narrows what was asked, never widens it; it is made once.",
    section: proposals,
    features,
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { proposes: true }, null);
      await negotiation(asker, { capability, reply_by_ms: 60_000 });
      const [call] = (await provider.ok("proposals", {})).proposals;
      const params = { id: call?.id ?? "" };
      const wider = { limits: { deadline_ms: agreed_deadline_ms + 1 } };
      await provider.refused("propose", { params, body: wider }, 400, "beyond_call");
      const body = { limits: { deadline_ms: 30_000 } };
      const { terms, answer } = await provider.ok("propose", { params, body });
      t.equal([answer, terms.limits.deadline_ms], ["proposed", 30_000], "what was proposed");
      await provider.ok("propose", { params, body });
      await provider.refused("propose", { params, body: { cost: price } }, 409, "already_proposed");
    },
  },
  {
    id: "PROPOSE-4",
    promise:
      "A signed proposal over the terms is the provider's side of the contract; terms that nobody asked for are 400.",
    section: proposals,
    features: [...features, "signed"],
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { proposes: true }, null);
      const { negotiation_id } = await negotiation(asker, { capability, reply_by_ms: 60_000 });
      const [call] = (await provider.ok("proposals", {})).proposals;
      const params = { id: call?.id ?? "" };
      const sign = (said: object) => provider.signed(provider.write("proposal", { offer: call?.id, ...said }));
      const foreign = await sign({ terms: { ...call?.terms, offered: "0".repeat(64) } });
      await provider.refused("propose", { params, body: foreign }, 400, "terms_differ");
      await provider.ok("propose", { params, body: await sign({ terms: { ...call?.terms, cost: price } }) });
      const { offers } = await asker.ok("negotiation", { params: { id: negotiation_id } });
      const made = await asker.ok("agree", { body: { offer_id: offers[0]?.offer_id } }, 201);
      const { kind, document, proof } = made.provider_evidence;
      t.equal(offers[0]?.proposal, { document, proof }, "what the offer shows of it");
      t.equal(kind, "proposal", "the provider's side");
      const isProven = await verifyProof(
        nodeCrypto,
        publicKey(provider.key),
        "proposal",
        Buffer.from(document ?? ""),
        proof,
      );
      t.that(isProven, "a proof that verifies", made.provider_evidence);
    },
  },
  {
    id: "PROPOSE-5",
    promise:
      "An offer expires no later than its terms, also where the provider narrowed their validity; terms that are over already are 400.",
    section: proposals,
    features,
    run: async (t) => {
      const { asker, provider, capability } = await trade(t, { proposes: true }, null);
      const { negotiation_id } = await negotiation(asker, { capability, reply_by_ms: 60_000 });
      const [call] = (await provider.ok("proposals", {})).proposals;
      const params = { id: call?.id ?? "" };
      await provider.refused("propose", { params, body: { valid_until: 1 } }, 400, "validity_over");
      const valid_until = (call?.asked_at ?? 0) + 30_000;
      await provider.ok("propose", { params, body: { valid_until } });
      const { offers } = await asker.ok("negotiation", { params: { id: negotiation_id } });
      t.equal(
        offers.map(({ terms, expires_at }) => [terms?.valid_until, expires_at <= valid_until]),
        [[valid_until, true]],
        "until when the offer's terms hold, and whether it expires by then",
      );
    },
  },
  {
    id: "AGREE-1",
    promise: "An offer makes one contract, however often it is taken; its parties see it, and nobody else.",
    section: taking,
    features,
    run: async (t) => {
      const between = await trade(t);
      const { asker, provider } = between;
      const { offer_id } = await offer(between);
      const made = await asker.ok("agree", { body: { offer_id } }, 201);
      t.equal(await asker.ok("agree", { body: { offer_id } }, 200), made, "the second answer");
      const params = { id: made.contract_id };
      t.equal(await provider.ok("contract", { params }), made, "what the provider sees");
      const { contracts } = await provider.ok("contracts", {});
      t.equal(
        contracts.map(({ contract_id }) => contract_id),
        [made.contract_id],
        "the provider's list",
      );
      const stranger = await t.agent();
      await stranger.refused("contract", { params }, 404, "unknown_contract");
      await stranger.refused("end_contract", { params, body: {} }, 404, "unknown_contract");
      t.equal((await stranger.ok("contracts", {})).contracts, [], "a stranger's list");
    },
  },
  {
    id: "AGREE-2",
    promise: "An offer that has expired is 428, offer_expired.",
    section: taking,
    features,
    waits: true,
    run: async (t) => {
      const between = await trade(t);
      const { offer_id } = await offer(between, { valid_ms: 1_000 });
      await t.pause(1_500);
      await between.asker.refused("agree", { body: { offer_id } }, 428, "offer_expired");
    },
  },
  {
    id: "AGREE-3",
    promise: "An offer of somebody else is 404, like one that is not there.",
    section: "status-codes.md#reasons-of-contracts",
    features,
    run: async (t) => {
      const between = await trade(t);
      const { offer_id } = await offer(between);
      for (const who of [between.provider, await t.agent()]) {
        await who.refused("agree", { body: { offer_id } }, 404, "unknown_offer");
      }
      await between.asker.refused("agree", { body: { offer_id: newId() } }, 404, "unknown_offer");
    },
  },
  {
    id: "AGREE-4",
    promise: "An offer whose capability has changed since is 428, offer_stale, with what changed.",
    section: taking,
    features,
    run: async (t) => {
      const between = await trade(t, { version: "1.0.0" });
      const { offer_id } = await offer(between);
      await between.change({ version: "2.0.0" });
      const problem = await between.asker.refused("agree", { body: { offer_id } }, 428, "offer_stale");
      const { changed } = problem as { readonly changed?: unknown };
      t.equal(changed, [{ field: "version", from: "1.0.0", to: "2.0.0" }], "what changed");
    },
  },
  {
    id: "AGREE-5",
    promise: "A contract may be signed by its asker over the exact terms; over others it is refused.",
    section: taking,
    features: [...features, "signed"],
    run: async (t) => {
      const between = await trade(t);
      const { asker } = between;
      const { terms, contract_id } = await offer(between);
      const sign = (said: object) => asker.signed(asker.write("contract", { contract: contract_id, terms, ...said }));
      const cheaper = await sign({ terms: { ...terms, cost: { amount: 1, per: "handoff" } } });
      await asker.refused("agree", { body: cheaper }, 400, "terms_differ");
      const { asker_evidence } = await asker.ok("agree", { body: await sign({}) }, 201);
      t.equal(asker_evidence.kind, "signed", "the asker's side");
      const bytes = Buffer.from(asker_evidence.document ?? "");
      const isProven = await verifyProof(nodeCrypto, publicKey(asker.key), "contract", bytes, asker_evidence.proof);
      t.that(isProven, "a proof that verifies", asker_evidence);
    },
  },
  {
    id: "AGREE-6",
    promise:
      "An offer from a manifest can be checked before it is taken: the signed manifest by its digest, its capability by " +
      "`offered`, its price by the salt that opens the seal.",
    section: taking,
    features: [...features, "signed"],
    run: async (t) => {
      const between = await trade(t);
      const { manifest, terms, cost, cost_salt, proposal } = await offer(between);
      t.equal(proposal, null, "no proposal");
      const { registration } = await between.asker.ok("manifest", { params: { digest: manifest } });
      const { capabilities } = JSON.parse(registration?.document ?? "{}") as { capabilities?: Capability[] };
      const offered = capabilities?.find(({ name }) => name === between.capability);
      if (offered?.cost === undefined || cost === null || cost_salt === null) {
        return t.that(false, "a sealed price in the signed manifest, and what opens it", { offered, cost, cost_salt });
      }
      t.equal(capabilityDigest(nodeCrypto, offered), terms?.offered, "the capability as it was offered");
      t.that(opensCost(nodeCrypto, { salt: cost_salt, cost }, offered.cost), "a salt that opens the price", cost_salt);
    },
  },
  {
    id: "SEALED-1",
    promise: "An asker that offers the same sees neither price nor terms, and cannot agree.",
    section: sealed,
    features,
    run: async (t) => {
      const between = await trade(t);
      const rival = await t.agent(between.capability);
      const seen = await offer({ ...between, asker: rival });
      const { cost, cost_salt, terms, contract_id } = seen;
      const nothing = { cost: null, cost_salt: null, terms: null, contract_id: null };
      t.equal({ cost, cost_salt, terms, contract_id }, nothing, "what a rival sees");
      t.that(!JSON.stringify(seen).includes('"amount"'), "no price anywhere in it", seen);
      await rival.refused("agree", { body: { offer_id: seen.offer_id } }, 403, "price_sealed");
    },
  },
  {
    id: "SEALED-2",
    promise: "An asker that offers the same does not learn a price by what it would pay at most.",
    section: sealed,
    features,
    run: async (t) => {
      const { capability } = await trade(t);
      const rival = await t.agent(capability);
      const told = new Set<string>();
      for (const amount of [price.amount - 1, price.amount, price.amount + 1]) {
        const body = { capability, max_cost: { amount, per: price.per } };
        const { status, body: said } = await rival.call("negotiate", { body });
        const { near } = said as { readonly near?: unknown };
        told.add(JSON.stringify([status, near]));
      }
      t.equal(told.size, 1, "how many different answers there were");
    },
  },
  {
    id: "SEALED-4",
    promise: "An asker that offered the same of late, and dropped it, is kept from the price all the same.",
    section: sealed,
    features,
    run: async (t) => {
      const between = await trade(t);
      const rival = await t.agent(between.capability);
      await rival.ok("set_capabilities", { params: { name: rival.name }, body: { capabilities: [] } });
      const seen = await offer({ ...between, asker: rival });
      t.equal({ cost: seen.cost, terms: seen.terms }, { cost: null, terms: null }, "what a rival of late sees");
      await rival.refused("agree", { body: { offer_id: seen.offer_id } }, 403, "price_sealed");
    },
  },
  {
    id: "SEALED-3",
    promise: "Each look at a price is an entry of the log, which the asker and the provider see.",
    section: "events.md#entries-of-no-handoff",
    features,
    run: async (t) => {
      const between = await trade(t);
      await contract(between);
      for (const who of [between.asker, between.provider]) {
        const lines = readLogLines(await who.call("log"));
        const about = lines
          .filter(({ event }) => event["capability"] === between.capability)
          .map(({ event }) => event.type);
        t.equal(about, ["looked", "agreed"], `the entries that ${who.name} sees`);
      }
    },
  },
];
