/** How checks of contracts begin: somebody that offers at a price, somebody that needs it, and what they agree on. */

import { randomBytes } from "node:crypto";
import { type Capability, type Cost, sealCost, toBase64url } from "@handfast/protocol";
import type { ContractView, NegotiationView, OfferView } from "@handfast/protocol/wire";
import { Broken, shown } from "../broken.ts";
import { Key } from "../caller/key.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import type { Agent } from "./agent.ts";
import type { Stage } from "./stage.ts";

/** An asker, and the only provider of a capability. */
export interface Trade {
  readonly asker: Agent;
  readonly provider: Agent;
  readonly capability: string;
  /** Anew what the provider says of it. */
  readonly change: (terms: Partial<Capability>) => Promise<void>;
}

export const price: Cost = { amount: 1_000, per: "handoff" };
export const agreed_deadline_ms = 60_000;

/** `cost` null: it names none. */
export async function trade(stage: Stage, terms: Partial<Capability> = {}, cost: Cost | null = price): Promise<Trade> {
  const capability = stage.name("trade");
  const [name, key] = [stage.name("provider"), new Key()];
  const opening = { salt: toBase64url(randomBytes(16)), cost: cost ?? price };
  const sealed = cost === null ? {} : { cost: sealCost(nodeCrypto, opening) };
  const costs = cost === null ? {} : { [capability]: opening };
  const change = (said: Partial<Capability>) =>
    stage.register(name, key, [{ ...terms, ...said, ...sealed, name: capability }], costs);
  await change({});
  return { asker: await stage.agent(), provider: stage.agentOf(name, key), capability, change };
}

export async function negotiation(asker: Agent, need: object, wait_ms = 0): Promise<NegotiationView> {
  const limits = { deadline_ms: agreed_deadline_ms, max_attempts: 2 };
  return asker.ok("negotiate", { body: { limits, ...need }, wait_ms });
}

/** The one offer there is. */
export async function offer({ asker, capability }: Trade, need: object = {}): Promise<OfferView> {
  const { offers } = await negotiation(asker, { capability, ...need });
  const [only, ...others] = offers;
  if (only === undefined || others.length > 0) throw new Broken("one offer", shown(offers));
  return only;
}

export async function contract(between: Trade, need: object = {}): Promise<ContractView> {
  const { offer_id } = await offer(between, need);
  return between.asker.ok("agree", { body: { offer_id } }, 201);
}
