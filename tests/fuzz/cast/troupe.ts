/**
 * The agents of one lane: a sender and a worker that sign, a rival that offers the same with a token only, and a name
 * for those that come and go. No other lane speaks as them, so an episode finds them as it would find them alone.
 */

import { signBatch, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../../../packages/relay/src/proof/node-crypto.ts";
import { bytesOf } from "../chance.ts";
import { AgentKey } from "./agent-key.ts";
import { bearing, keyed, type Persona } from "./persona.ts";

export interface Troupe {
  readonly number: number;
  readonly sender: Persona;
  readonly worker: Persona;
  readonly rival: Persona;
  readonly operator: Persona;
  /** What worker and rival offer without a schema, and what the worker offers with one. */
  readonly open_capability: string;
  readonly strict_capability: string;
  /** The name under which agents register, rotate, and are forgotten. */
  readonly passing_name: string;
  /** Their keys, over and over: to look at a new key costs the relay more than any other input. */
  readonly passing_keys: readonly AgentKey[];
}

const passing_keys = 6;

const strictInput = {
  type: "object",
  required: ["n"],
  properties: { n: { type: "integer", minimum: 0 }, note: { type: "string", maxLength: 40, pattern: "^[a-z ]*$" } },
  additionalProperties: false,
};
const strictOutput = { type: "object", required: ["done"], properties: { done: { type: "boolean" } } };

export async function gather(url: string, operator_token: string, seed: number, number: number): Promise<Troupe> {
  const open_capability = `open-work-${number}`;
  const strict_capability = `strict-work-${number}`;
  const open = { name: open_capability };
  const strict = { name: strict_capability, input_schema: strictInput, output_schema: strictOutput };
  const sender = new AgentKey(bytesOf(seed, "sender", number));
  const worker = new AgentKey(bytesOf(seed, "worker", number));
  const names = { sender: `sender-${number}`, worker: `worker-${number}`, rival: `rival-${number}` };
  await register(url, names.sender, sender, [], operator_token);
  // It proposes for the one, and has offers made in its name for the other.
  const asked = { ...strict, proposes: true };
  await register(url, names.worker, worker, [open, asked], operator_token);
  const offered = { agent: names.rival, capabilities: [open] };
  const { token } = JSON.parse((await ask(url, "POST", "/v1/tokens", offered, operator_token)).text);
  return {
    number,
    sender: keyed(names.sender, sender, url),
    worker: keyed(names.worker, worker, url),
    rival: bearing(names.rival, String(token)),
    operator: bearing("operator", operator_token, "operator"),
    open_capability,
    strict_capability,
    passing_name: `passing-${number}`,
    passing_keys: Array.from({ length: passing_keys }, (_, at) => new AgentKey(bytesOf(seed, "passing", number, at))),
  };
}

/**
 * With the operator's token, so that it does not count among the strangers, of whom few are let in at a time. False: the
 * name belongs to another key, or this key has lost it.
 */
export async function register(
  url: string,
  name: string,
  key: AgentKey,
  capabilities: readonly object[],
  token: string | null,
): Promise<boolean> {
  const challenge = await askChallenge(url, token);
  const header = { v: 1, typ: "registration", relay: url, namespace: "default" };
  const document = JSON.stringify({ ...header, agent_id: name, challenge, key: key.jwk, capabilities });
  const [proof] = await signBatch(nodeCrypto, key.signer, [{ typ: "registration", bytes: toUtf8(document) }]);
  const { status, text } = await ask(url, "POST", "/v1/agents", { signed: { document, proof } }, token);
  // By fire it may have said something with a high version: then it can say no other until it was forgotten.
  if (status === 401 || status === 403 || status === 409) return false;
  if (status >= 400) throw new Error(`${name} could not register: ${status} ${text}`);
  return true;
}

/** Whoever had the name before; nobody may have had it. */
export async function forget(url: string, name: string, token: string | null): Promise<void> {
  const { status, text } = await ask(url, "DELETE", `/v1/agents/${name}`, undefined, token);
  if (status >= 400 && status !== 404) throw new Error(`${name} could not be forgotten: ${status} ${text}`);
}

export async function askChallenge(url: string, token: string | null): Promise<string> {
  const { text } = await ask(url, "POST", "/v1/agents/challenge", {}, token);
  return String(JSON.parse(text).challenge);
}

async function ask(url: string, method: string, path: string, body: unknown, token: string | null) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}
