/** What was agreed on, and handing work over under it. */

import type { ContractTerms } from "@handfast/protocol";
import { contractId } from "@handfast/protocol/client";
import type { ContractView, Operations } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { HandoffError } from "../errors.ts";
import { present } from "../present.ts";
import { usage } from "../send/faults.ts";
import { iterable } from "../send/iterable.ts";
import type { Handle, SendingFrom, SendOptions, Target } from "../send/mod.ts";
import { shown } from "../shown.ts";
import { checkNames } from "./need.ts";

/** Terms that both sides have agreed on. The relay enforces them for every handoff that names the contract. */
export interface Contract {
  /** The hash of the terms: keep it, and `client.contract(id)` finds the contract again. */
  readonly id: string;
  readonly terms: ContractTerms;
  /** Milliseconds since 1970 by the relay's clock. */
  readonly validUntil: number;
  /** As the relay told it last: how it stands, both sides' word for it, and how it was kept. */
  readonly view: ContractView;
  /** Whom work under it goes to: for `send` of a handler's context, together with the option `contract`. */
  readonly target: Exclude<Target, string>;
  /** Gives work to the provider on these terms. Options may ask for less than was agreed on, never for more. */
  send<Out = unknown>(input: unknown, options?: Omit<SendOptions, "contract">): Promise<Handle<Out>>;
  /** How it stands now. */
  status(options?: { readonly signal?: AbortSignal }): Promise<Contract>;
  /** Ends it. What is open under it goes on to its end. */
  end(reason?: string): Promise<Contract>;
}

type Sends = Pick<SendingFrom, "send">;

export async function readContract(base: Base, sends: Sends, id: string, signal?: AbortSignal): Promise<Contract> {
  if (typeof id !== "string" || !/^[0-9a-f]{64}$/.test(id)) {
    const remedy = "Give all 64 characters that `handfast negotiate --accept` printed.";
    throw usage(`${shown(id)} is no id of a contract.`, remedy);
  }
  return contractOf(base, sends, await base.link.call("contract", { params: { id } }, { signal }), id);
}

/** Which contracts are listed. */
export interface ContractsOptions {
  readonly state?: ContractView["state"];
  /** Only those in which this agent is on this side. Default: both. */
  readonly as?: "asker" | "provider";
  readonly signal?: AbortSignal;
}

/** Those that this agent is a party of, by id. */
export function listContracts(base: Base, sends: Sends, options: ContractsOptions = {}): AsyncIterable<Contract> {
  checkNames("contracts()", options, ["state", "as", "signal"]);
  const { signal: given, ...filter } = options;
  const generate = async function* (signal: AbortSignal) {
    let cursor: string | null = null;
    do {
      const query: Operations["contracts"]["query"] = { ...present(filter), ...(cursor === null ? {} : { cursor }) };
      const page: Operations["contracts"]["reply"] = await base.link.call("contracts", { query }, { signal });
      for (const view of page.contracts) yield contractOf(base, sends, view, view.contract_id);
      cursor = page.cursor;
    } while (cursor !== null);
  };
  return iterable(generate, given, base.closed);
}

/** Throws where the terms that the relay shows are not those that the contract is named by. */
export function contractOf(base: Base, sends: Sends, view: ContractView, id: string): Contract {
  const { terms } = view;
  if (view.contract_id !== id || contractId(base.crypto, terms) !== id) throw differs(id);
  const target = { to: terms.provider, capability: terms.capability };
  // A signed handoff says all of it itself: nobody adds to what was signed.
  const said = terms.evidence === "signed" ? { contract: id, evidence: "signed" as const } : { contract: id };
  return {
    id,
    terms,
    validUntil: terms.valid_until,
    view,
    target,
    send: (input, options = {}) => sends.send(target, input, { ...options, ...said }),
    status: ({ signal } = {}) => readContract(base, sends, id, signal),
    end: async (reason) => {
      const body = reason === undefined ? {} : { reason };
      return contractOf(base, sends, await base.link.call("end_contract", { params: { id }, body }), id);
    },
  };
}

/** Work would go to whomever the relay likes, on its own terms. */
function differs(id: string): HandoffError {
  return new HandoffError({
    code: 401,
    reason: "offer_differs",
    message: `The contract that the relay shows is not ${id}: its terms are others.`,
    remedy: "Hand nothing over under it. Do not trust this relay with contracts; tell its operator.",
    retryable: false,
  });
}
