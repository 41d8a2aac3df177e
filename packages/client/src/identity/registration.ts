/** Becoming known to a relay, or renewing what the agent offers: a challenge, and a registration signed by its key. */

import { type Crypto, signBatch, toUtf8 } from "@handfast/protocol/client";
import { HandoffError, type ProblemDocument } from "../errors.ts";
import { type HttpExchange, Refused } from "../link/http-exchange.ts";
import { refusalOf } from "../link/refusal.ts";
import type { CredentialFacts } from "./credential.ts";
import type { Stated } from "./manifest.ts";

export interface RegistrationFacts extends CredentialFacts {
  readonly exchange: HttpExchange;
  readonly crypto: Crypto;
  /** Of an operator, or of the agent itself: admits the key where the relay does not take every new one. */
  readonly token: string | null;
}

/** A relay that restarted in between knows its old challenges no more. */
const tries_most = 3;

export async function register(facts: RegistrationFacts, stated: Stated, signal?: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await registerOnce(facts, stated, signal);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.problem.reason.startsWith("challenge_") && tries < tries_most) continue;
      throw explain(error, facts);
    }
  }
}

async function registerOnce(facts: RegistrationFacts, stated: Stated, signal?: AbortSignal): Promise<void> {
  const { exchange, crypto, namespace, relay, key, token } = facts;
  const { manifest, costs } = stated;
  const { challenge } = await exchange.once("challenge", { body: {} }, { signal });
  const document = JSON.stringify({
    v: 1,
    typ: "registration",
    relay,
    namespace,
    challenge,
    key: key.jwk,
    ...manifest,
  });
  const [proof] = await signBatch(crypto, key.signer, [{ typ: "registration", bytes: toUtf8(document) }]);
  if (proof === undefined) throw new Error("One document gives one proof.");
  const options = token === null ? { signal } : { signal, authorization: token };
  const beside = Object.keys(costs).length === 0 ? {} : { costs };
  await exchange.once("register", { body: { signed: { document, proof }, ...beside } }, options);
}

function explain({ problem, retry_after_ms }: Refused, facts: RegistrationFacts): Error {
  const remedy = remedyFor(problem, facts);
  if (remedy !== null) return HandoffError.from(problem, null, remedy);
  return refusalOf(problem, null, retry_after_ms).error;
}

function remedyFor({ reason }: ProblemDocument, { agent, key }: RegistrationFacts): string | null {
  const thumbprint = key.signer.key;
  switch (reason) {
    case "not_admitted":
      return `Connect once with the operator's token (option admission), or let an operator start the relay with --admit ${agent}=${thumbprint}.`;
    case "name_taken":
      return (
        `Connect under another name (option agent, HANDFAST_AGENT), or with the key or token that ${agent} belongs to ` +
        `(HANDFAST_KEY, HANDFAST_TOKEN). If that key is lost: handfast agents forget ${agent}`
      );
    case "name_reserved":
      return "Connect under another name (option agent, HANDFAST_AGENT).";
    case "key_taken":
      return "Connect under the name that the key belongs to (option agent, HANDFAST_AGENT), or with another key.";
    default:
      return null;
  }
}
