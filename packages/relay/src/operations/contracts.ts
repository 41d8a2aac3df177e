/** Contracts: taking an offer, looking at what was agreed on and how it is kept, ending it. */

import { contractId } from "@handfast/protocol";
import {
  agree_request,
  contract_page,
  contract_params,
  contract_query,
  contract_view,
  end_contract_request,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import type { Static } from "typebox";
import type { ContractRecord, Said } from "../contracts/contract-record.ts";
import { unknownContract } from "../contracts/contracts.ts";
import type { FoundOffer } from "../contracts/negotiations.ts";
import { isSealed, showContract, showWhole } from "../contracts/show.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { attestedAct, signedAct } from "./acts.ts";
import { pauses } from "./bounded-page.ts";
import { makeCursor, readCursor } from "./cursor.ts";
import { differing, termsDiffer } from "./negotiations.ts";
import { json, jsonList, operation } from "./operation.ts";
import { agentOf, rivalry } from "./parties.ts";
import { badCursor } from "./read.ts";
import type { Relay } from "./relay.ts";

export const agree = operation(
  {
    name: "agree",
    method: "POST",
    path: "/v1/contracts",
    tag: "contracts",
    access: "caller",
    summary: "Take an offer. Repeated, it is answered alike: a contract is named by its terms.",
    body: agree_request,
    signed: signed_body,
    replies: { 200: contract_view, 201: contract_view },
    problems: [401, 403, 404, 409, 413, 428, 429, 507],
  },
  async ({ relay, caller, body, room }) => {
    const agent = agentOf(caller);
    const { offer_id, said } = await taken(relay, caller, agent, body);
    const known = relay.contracts.madeOf(offer_id);
    if (known !== null) {
      if (!relay.contracts.isAsker(known.contract, agent)) throw unknownOffer(offer_id);
      said(known.contract);
      return json(await whole(relay, known.id, known.contract, room));
    }
    const found = relay.negotiating.table.offer(offer_id);
    if (found === null || !relay.negotiating.isAsker(found.negotiation, agent)) throw unknownOffer(offer_id);
    if (isSealed(found.offer, rivalry(relay, caller))) throw sealed(found);
    const { id, created } = await relay.contracts.agree(found, said(found.offer));
    return json(await whole(relay, id, seen(relay, caller, id), room), created ? 201 : 200);
  },
);

type Terms = Pick<ContractRecord, "terms">;

/** Which offer is taken, and what the asker says to its terms; that throws where the two do not belong together. */
async function taken(
  relay: Relay,
  caller: Caller,
  agent: string,
  body: Static<typeof agree_request> | SignedBody,
): Promise<{ readonly offer_id: string; readonly said: (offer: Terms) => Said }> {
  if (!("signed" in body)) {
    const said = ({ terms }: Terms) => {
      const document = { contract: contractId(nodeCrypto, terms), terms };
      return { document: attestedAct(relay, "contract", agent, document, null).text, proof: null };
    };
    return { offer_id: body.offer_id, said };
  }
  const { document, text, proof } = await signedAct(relay, caller, "contract", body.signed, () => undefined);
  const said = ({ terms }: Terms) => {
    const wrong = differing(document.terms, terms).map((name) => `terms/${name}`);
    if (document.contract !== contractId(nodeCrypto, terms)) wrong.push("contract");
    if (wrong.length > 0) throw termsDiffer(wrong);
    return { document: text, proof: proof === null ? null : JSON.parse(proof) };
  };
  return { offer_id: document.terms.offer, said };
}

export const listContracts = operation(
  {
    name: "contracts",
    method: "GET",
    path: "/v1/contracts",
    tag: "contracts",
    access: "caller",
    summary: "Contracts that the caller is a party of, by id; an operator sees all.",
    query: contract_query,
    replies: { 200: contract_page },
  },
  async ({ relay, caller, query }) => {
    const after = query.cursor === undefined ? "" : readCursor("list", query.cursor);
    if (after === null) throw badCursor();
    const { texts, last } = await contractPage(relay, caller, query, after);
    const is_more = relay.contracts.next(partyOf(caller), last) !== undefined;
    return jsonList("contracts", texts, { cursor: is_more ? makeCursor("list", last) : null });
  },
);

/** Bounded in number, in bytes and in how many are looked at; one at a time, since others may change the list meanwhile. */
async function contractPage(relay: Relay, caller: Caller, query: Static<typeof contract_query>, after: string) {
  const { limit = relay.limits.page_size_default } = query;
  const pause = pauses();
  const texts: string[] = [];
  let [bytes, last] = [0, after];
  for (let looked = 0; looked < relay.limits.contracts_scanned && texts.length < limit; looked += 1) {
    const id = relay.contracts.next(partyOf(caller), last);
    if (id === undefined) break;
    const text = listed(relay, caller, query, id);
    const size = text === null ? 0 : Buffer.byteLength(text);
    if (texts.length > 0 && bytes + size > relay.limits.reply_bytes) break;
    if (text !== null) texts.push(text);
    bytes += size;
    last = id;
    await pause();
  }
  return { texts, last };
}

/** Null: it is not what was asked for. */
function listed(relay: Relay, caller: Caller, { as, state }: Static<typeof contract_query>, id: string): string | null {
  const contract = relay.contracts.get(id);
  if (contract === undefined || !maySee(relay, caller, contract)) return null;
  if (as !== undefined && contract.terms[as] !== caller.name) return null;
  const view = showContract(shown(relay, id, contract));
  return state === undefined || view.state === state ? JSON.stringify(view) : null;
}

/** Whose contracts a caller is shown; null: everybody's. */
function partyOf({ role, name }: Caller): string | null {
  return role === "operator" ? null : name;
}

export const getContract = operation(
  {
    name: "contract",
    method: "GET",
    path: "/v1/contracts/{id}",
    tag: "contracts",
    access: "caller",
    summary: "A contract for its parties: terms, both sides' word, how it stands and how it was kept.",
    params: contract_params,
    replies: { 200: contract_view },
    problems: [404],
  },
  async ({ relay, caller, params, room }) => json(await whole(relay, params.id, seen(relay, caller, params.id), room)),
);

export const endContract = operation(
  {
    name: "end_contract",
    method: "POST",
    path: "/v1/contracts/{id}/end",
    tag: "contracts",
    access: "caller",
    summary: "End a contract, by either side. What is open under it goes on to its end.",
    params: contract_params,
    body: end_contract_request,
    replies: { 200: contract_view },
    problems: [404, 507],
  },
  async ({ relay, caller, params, body, room }) => {
    seen(relay, caller, params.id);
    await relay.contracts.end(params.id, caller.name, body.reason ?? null);
    return json(await whole(relay, params.id, seen(relay, caller, params.id), room));
  },
);

function seen(relay: Relay, caller: Caller, id: string): ContractRecord {
  const contract = relay.contracts.get(id);
  if (contract !== undefined && maySee(relay, caller, contract)) return contract;
  throw unknownContract(id);
}

function maySee({ contracts }: Relay, { role, name }: Caller, contract: ContractRecord): boolean {
  return role === "operator" || contracts.isAsker(contract, name) || contracts.isProvider(contract, name);
}

function shown({ contracts }: Relay, id: string, contract: ContractRecord) {
  return { id, contract, standing: contracts.standing(id, contract), counts: contracts.tally.of(id) };
}

async function whole(relay: Relay, id: string, contract: ContractRecord, room: (bytes: number) => Promise<void>) {
  const { capability, schemas, asker_said, proposal, manifest_bytes } = contract;
  await room(manifest_bytes + JSON.stringify([capability, schemas, asker_said, proposal]).length);
  return showWhole(shown(relay, id, contract), await relay.contracts.providerSaid(contract));
}

/** The same for an offer that is not there and for one that was made to somebody else. */
function unknownOffer(id: string): Problem {
  return new Problem(404, "unknown_offer", `There is no offer ${id}, or it was not made to you. Negotiate first.`);
}

function sealed({ offer }: FoundOffer): Problem {
  const { agent_id, capability } = offer;
  const message = `You offer ${capability.name} yourself, or did of late, so the price of ${agent_id} is not shown to you, and nobody agrees to a price unseen. Hand it over without a contract.`;
  return new Problem(403, "price_sealed", message);
}
