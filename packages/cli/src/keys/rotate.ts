/**
 * A new key for an agent, handed over by the old one. The new key is on disk before the relay hears of it, and takes the
 * old one's place only when the relay has it: broken off anywhere, the same command goes on from there.
 */

import { rename } from "node:fs/promises";
import type { Client } from "@handfast/client";
import { type AgentKey, nodeCrypto } from "@handfast/client/keys";
import { signBatch, toUtf8 } from "@handfast/protocol/client";
import { type KeyPlace, makeKey, requireKey } from "./key-files.ts";

export interface Rotation {
  readonly agent: string;
  readonly path: string;
  readonly old: string;
  readonly thumbprint: string;
  readonly kept_as: string;
}

export async function rotateKey(client: Client, { agent, path }: KeyPlace): Promise<Rotation> {
  const old = await requireKey({ agent, path });
  const next_path = path.replace(/(\.json)?$/, ".next.json");
  const { key: next } = await makeKey(next_path);
  const { keys } = await client.call("agent", { params: { name: agent } });
  if (!keys.some(({ thumbprint }) => thumbprint === next.signer.key)) await handOver(client, agent, old, next);
  const kept_as = path.replace(/(\.json)?$/, `.old-${old.signer.key.slice(0, 8)}.json`);
  await rename(path, kept_as);
  await rename(next_path, path);
  return { agent, path, old: old.signer.key, thumbprint: next.signer.key, kept_as };
}

async function handOver(client: Client, agent: string, old: AgentKey, next: AgentKey): Promise<void> {
  const { namespace, public_urls } = await client.call("well_known");
  const { challenge } = await client.call("challenge", { body: {} });
  const document = JSON.stringify({
    v: 1,
    typ: "rotation",
    relay: public_urls[0],
    namespace,
    agent_id: agent,
    old: old.signer.key,
    key: next.jwk,
    challenge,
  });
  const message = { typ: "rotation", bytes: toUtf8(document) };
  const [proof] = await signBatch(nodeCrypto, old.signer, [message]);
  const [new_proof] = await signBatch(nodeCrypto, next.signer, [message]);
  if (proof === undefined || new_proof === undefined) throw new Error("A batch of one has one proof.");
  await client.call("rotate_key", { params: { name: agent }, body: { signed: { document, proof, new_proof } } });
}
