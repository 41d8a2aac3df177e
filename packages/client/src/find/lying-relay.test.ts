/** A relay that lies to an asker: the fetch given to it changes what a real relay answers. Nothing forged is agreed to. */

import { capabilityDigest, contractId, manifestDigest, type Proof, signBatch, toUtf8 } from "@handfast/protocol/client";
import type { ManifestView, NegotiationView, OfferView, ProposalCall } from "@handfast/protocol/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operator_token } from "../../../relay/src/testing/test-relay.ts";
import { propose } from "../acts.ts";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { HandoffError } from "../errors.ts";
import { type AgentKey, privateJwk } from "../identity/agent-key.ts";
import { nodeKey } from "../identity/node-crypto.ts";
import { Stage } from "../serve/testing/stage.ts";
import type { TermsNeeded } from "./negotiate.ts";

type Body = Record<string, unknown> & Partial<NegotiationView> & Partial<ManifestView>;

const price = { amount: 100, per: "handoff" } as const;

let stage: Stage;
let provider: Client;
let asker: Client;
/** A number is the status that it answers with instead. */
let lie: (body: Body) => unknown;
/** Paths that were asked for. */
let asked: string[];
beforeEach(async () => {
  stage = await Stage.open();
  lie = () => {};
  asked = [];
  provider = await stage.agent("provider");
  await provider.serve(
    {
      upper: { handler: (text: unknown) => String(text).toUpperCase(), cost: price, reliability: 0.9, timeout: "30s" },
      lower: { handler: (text: unknown) => String(text).toLowerCase(), proposes: true },
    },
    { signals: false },
  );
  asker = await stage.agent("asker", dishonest);
});
afterEach(() => stage.close());

const lying: typeof fetch = async (input, init) => {
  asked.push(`${init?.method ?? "GET"} ${new URL(input instanceof Request ? input.url : input).pathname}`);
  const response = await fetch(input, init);
  if (!response.headers.get("content-type")?.includes("json")) return response;
  const body = (await response.json()) as Body;
  const said = lie(body);
  return Response.json(body, { status: typeof said === "number" ? said : response.status });
};
const dishonest: ConnectOptions = { fetch: lying, transport: "http" };

/** Changes each offer; and names the contract as such terms are named, so that only the provider's word is against it. */
const onOffer =
  (tamper: (offer: OfferView, terms: NonNullable<OfferView["terms"]>) => void) =>
  ({ offers = [] }: Body) => {
    for (const offer of offers) {
      if (offer.terms === null) continue;
      tamper(offer, offer.terms);
      offer.contract_id = contractId(asker.base.crypto, offer.terms);
    }
  };

async function accepting(need: TermsNeeded = { capability: "upper" }, by = asker) {
  const { offers } = await by.negotiate(need);
  if (offers[0] === undefined) throw new Error("nobody offers");
  return offers[0].accept();
}

/** Why nothing was agreed on, and that nothing was signed. */
async function refused(agreeing: Promise<unknown>): Promise<string> {
  const error = await agreeing.then(
    () => new Error("it was agreed to"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof HandoffError)) throw error;
  expect(error.code).toBe(401);
  expect(asked).not.toContain("POST /v1/contracts");
  expect((await provider.call("contracts", {})).contracts).toEqual([]);
  return `${error.reason}: ${error.message}`;
}

test("an honest offer is agreed to, and its work gets done", async () => {
  const contract = await accepting();
  expect(contract.view.provider_evidence.kind).toBe("manifest");
  expect(await (await contract.send("hello")).result()).toBe("HELLO");
});

describe("terms that are not what they should be", () => {
  test("are refused where the contract's name is not their hash", async () => {
    lie = ({ offers }) => {
      for (const { terms } of offers ?? []) if (terms !== null) terms.limits.deadline_ms = 1;
    };
    expect(await refused(accepting())).toMatch(/offer_differs.*contract_id/);
  });

  test.each<[string, Parameters<typeof onOffer>[0]]>([
    ["asker", (_offer, terms) => Object.assign(terms, { asker: "mallory" })],
    ["provider", (_offer, terms) => Object.assign(terms, { provider: "mallory" })],
    ["offered", (_offer, terms) => Object.assign(terms, { offered: "0".repeat(64) })],
    ["cost", (_offer, terms) => Object.assign(terms, { cost: { ...price, amount: 1 } })],
    ["relay", (_offer, terms) => Object.assign(terms, { relay: "http://elsewhere.example" })],
    ["namespace", (_offer, terms) => Object.assign(terms, { namespace: "other" })],
    ["evidence", (_offer, terms) => Object.assign(terms, { evidence: "any" })],
    ["min_reliability", (_offer, terms) => Object.assign(terms, { min_reliability: null })],
    ["deadline_ms", (_offer, terms) => Object.assign(terms.limits, { deadline_ms: 60_001 })],
    ["retry", (_offer, terms) => Object.assign(terms.limits, { retry: "attempts" })],
    ["deadline_ms", (_offer, terms) => Object.assign(terms.limits, { deadline_ms: 1 })],
    ["max_attempts", (_offer, terms) => Object.assign(terms.limits, { max_attempts: 1 })],
    ["attempt_ms", (_offer, terms) => Object.assign(terms.limits, { attempt_ms: 10 })],
    ["valid_until", (_offer, terms) => Object.assign(terms, { valid_until: Date.now() + 5 })],
    ["valid_until", (_offer, terms) => Object.assign(terms, { valid_until: Date.now() + 2 * 3_600_000 })],
    ["output_schema", (_offer, terms) => Object.assign(terms, { output_schema: null })],
    [
      "max_cost",
      (offer, terms) => {
        offer.cost = { ...price, amount: 101 };
        terms.cost = { ...price, amount: 101 };
      },
    ],
  ])("are refused where %s is another than was asked for or shown", async (name, tamper) => {
    lie = onOffer(tamper);
    const need: TermsNeeded = {
      capability: "upper",
      timeout: "1m",
      attempt: "40s",
      attempts: 2,
      retry: "until_ack",
      valid: "1h",
      evidence: "signed",
      minReliability: 0.5,
      maxCost: price,
      outputSchema: {},
    };
    expect(await refused(accepting(need))).toMatch(new RegExp(`offer_differs.*\\b${name}\\b`));
  });

  test.each<[string, Parameters<typeof onOffer>[0]]>([
    ["retry", (_offer, terms) => Object.assign(terms.limits, { retry: "until_ack" })],
    ["attempt_ms", (_offer, terms) => Object.assign(terms.limits, { attempt_ms: 10 })],
    ["valid_until", (_offer, terms) => Object.assign(terms, { valid_until: Date.now() + 48 * 3_600_000 })],
  ])("are refused where nothing was asked for and %s is not what follows from the capability", async (name, tamper) => {
    lie = onOffer(tamper);
    expect(await refused(accepting())).toMatch(new RegExp(`offer_differs.*\\b${name}\\b`));
  });

  test("are refused where the relay shows another contract than the one that was agreed on", async () => {
    lie = (body) => {
      const { terms } = body as { terms?: { limits: { max_attempts: number } } };
      if (terms !== undefined) terms.limits.max_attempts = 1;
    };
    await expect(accepting()).rejects.toMatchObject({ code: 401, reason: "offer_differs" });
  });
});

describe("an offer from a manifest", () => {
  test("is refused where its provider never asked for this price", async () => {
    lie = onOffer((offer, terms) => {
      offer.cost = { ...price, amount: 5_000 };
      terms.cost = { ...price, amount: 5_000 };
    });
    expect(await refused(accepting())).toMatch(/price_differs/);
  });

  test("is refused where its provider never offered this", async () => {
    lie = onOffer((offer, terms) => {
      offer.capability = { ...offer.capability, timeout_seconds: 1 };
      terms.offered = capabilityDigest(asker.base.crypto, offer.capability);
      terms.limits.attempt_ms = 1_000;
    });
    expect(await refused(accepting())).toMatch(/binds_another.*does not offer upper like this/);
  });

  test("is refused with a manifest that was changed after it was signed", async () => {
    const { crypto } = asker.base;
    let digest = "";
    lie = (body) => {
      onOffer((offer, terms) => {
        offer.capability = { ...offer.capability, description: "forged" };
        terms.offered = capabilityDigest(crypto, offer.capability);
        digest = offer.manifest;
      })(body);
      const { registration } = body;
      if (registration == null || body.digest !== digest) return;
      const document = JSON.parse(registration.document);
      for (const each of document.capabilities) if (each.name === "upper") each.description = "forged";
      registration.document = JSON.stringify(document);
      expect(manifestDigest(crypto, document)).not.toBe(digest);
    };
    expect(await refused(accepting())).toMatch(/binds_another: .*not the one that it follows from/);
  });

  test("is refused where the manifest is forged through and through, but for the signature", async () => {
    const { crypto } = asker.base;
    const view = await provider.call("agent", { params: { name: "provider" } });
    const { registration } = await provider.call("manifest", { params: { digest: view.manifest?.digest ?? "" } });
    const document = JSON.parse(registration?.document ?? "");
    const [forged] = document.capabilities.filter(({ name }: { name: string }) => name === "upper");
    forged.description = "forged";
    const text = JSON.stringify(document);
    const digest = manifestDigest(crypto, document);
    lie = (body) => {
      onOffer((offer, terms) => {
        offer.capability = forged;
        offer.manifest = digest;
        terms.offered = capabilityDigest(crypto, forged);
      })(body);
      if (body["reason"] !== "unknown_manifest") return undefined;
      Object.assign(body, { registration: { document: text, proof: registration?.proof } });
      return 200;
    };
    expect(await refused(accepting())).toMatch(/bad_signature/);
  });

  test("is refused without a signature where signed evidence was asked for, and where its provider has signed before", async () => {
    const unsign = (body: Body) => {
      if (body.registration != null) body.registration = null;
    };
    lie = unsign;
    expect(await refused(accepting({ capability: "upper", evidence: "signed" }))).toMatch(/unsigned/);
    lie = () => {};
    await (await accepting()).end();
    lie = unsign;
    await expect(accepting()).rejects.toMatchObject({ code: 401, reason: "no_longer_signed" });
  });

  test("is refused where its provider is pinned to another key", async () => {
    const pinning = await stage.agent("pinning", { ...dishonest, pins: { provider: "A".repeat(43) } });
    expect(await refused(accepting({ capability: "upper" }, pinning))).toMatch(/not_pinned/);
  });

  test("of one that cannot sign is taken on the relay's word, unless only what is signed is taken", async () => {
    const made = await stage.relay.call("POST", "/v1/tokens", { token: operator_token, body: { agent: "plain" } });
    const plain = await connect({ url: stage.relay.url, token: String(made.body.token), heartbeats: "here" });
    await plain.serve({ echo: (input: unknown) => input }, { signals: false });
    expect((await accepting({ capability: "echo" })).terms.provider).toBe("plain");
    const careful = await stage.agent("careful", { ...dishonest, requireSigned: true });
    await expect(accepting({ capability: "echo" }, careful)).rejects.toMatchObject({ code: 401, reason: "unsigned" });
    await plain.close();
  });
});

test("a manifest whose key was revoked proves nothing until its agent has signed it anew", async () => {
  const seeds = [1, 2].map(() => crypto.getRandomValues(new Uint8Array(32)));
  const [old, young] = await Promise.all(seeds.map(nodeKey));
  if (old === undefined || young === undefined) throw new Error("two keys were made");
  const capabilities = { echo: (input: unknown) => input };
  const first = await stage.agent("rotating", { key: privateJwk(old) });
  await first.serve(capabilities, { signals: false });
  await rotate(first, old, young);
  await first.close();
  const second = await stage.agent("rotating", { key: privateJwk(young) });
  await second.call("revoke_key", { params: { name: "rotating", thumbprint: old.signer.key } });
  const accepting = async () => (await asker.negotiate({ capability: "echo" })).offers[0]?.accept();
  await expect(accepting()).rejects.toMatchObject({ code: 401, reason: "revoked_key" });
  await second.serve(capabilities, { signals: false });
  expect((await accepting())?.terms.provider).toBe("rotating");
});

async function rotate({ base, agent }: Client, old: AgentKey, young: AgentKey): Promise<void> {
  const { challenge } = await base.link.call("challenge", { body: {} });
  const { relay, namespace } = base;
  const said = { v: 1, typ: "rotation", relay, namespace, agent_id: agent, challenge, old: old.signer.key };
  const document = JSON.stringify({ ...said, key: young.jwk });
  const message = { typ: "rotation", bytes: toUtf8(document) };
  const proofBy = async ({ signer }: AgentKey) => (await signBatch(base.crypto, signer, [message]))[0] as Proof;
  const signed = { document, proof: await proofBy(old), new_proof: await proofBy(young) };
  await base.link.call("rotate_key", { params: { name: agent }, body: { signed } });
}

describe("an offer that was proposed live", () => {
  /** The provider proposes once, as it was asked. */
  async function proposing(): Promise<void> {
    const { proposals } = await provider.call("proposals", {}, { wait_ms: 20_000 });
    const [call] = proposals as [ProposalCall];
    await propose(provider.base, call, { terms: { ...call.terms, cost: price } });
  }
  const need = { capability: "lower", replyBy: "20s" } as const;

  test("is its provider's own word over the very terms", async () => {
    const [contract] = await Promise.all([accepting(need), proposing()]);
    expect([contract.view.provider_evidence.kind, contract.terms.cost]).toEqual(["proposal", price]);
  });

  test.each<[string, (offer: OfferView, terms: NonNullable<OfferView["terms"]>) => void, RegExp]>([
    ["its terms are others", (_offer, terms) => Object.assign(terms.limits, { max_attempts: 9 }), /binds_another/],
    [
      "its document was changed with them",
      (offer, terms) => {
        terms.limits.max_attempts = 9;
        const document = JSON.parse(offer.proposal?.document ?? "");
        document.terms.limits.max_attempts = 9;
        if (offer.proposal !== null) offer.proposal.document = JSON.stringify(document);
      },
      /bad_signature/,
    ],
    [
      "it is called an offer of the manifest",
      (offer, terms) => {
        Object.assign(terms, { cost: null });
        Object.assign(offer, { cost: null, proposal: null, made_by: "manifest" });
      },
      /proof_missing.*wants to be asked/,
    ],
  ])("is refused where %s", async (_what, tamper, reason) => {
    lie = onOffer(tamper);
    const [said] = await Promise.all([refused(accepting(need)), proposing()]);
    expect(said).toMatch(reason);
  });
});
