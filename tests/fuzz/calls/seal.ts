/** Signs a document, alone or among others under one signature, and makes the body that carries it. */

import { type Proof, signBatch, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../../../packages/relay/src/proof/node-crypto.ts";
import type { AgentKey } from "../cast/agent-key.ts";
import type { Random } from "../chance.ts";
import { type List, textOf, treeOf } from "../json/json-tree.ts";
import type { Mutations } from "../mutate/mutation.ts";
import { proofMutations } from "../mutate/proof-mutations.ts";
import { treeMutations } from "../mutate/tree-mutations.ts";
import type { BaseCall, Unsigned } from "./base-call.ts";
import type { Scene } from "./scene.ts";

type Sealed = Readonly<Record<string, unknown>>;

/** The body as it goes out; null where the call has none. With `proven: false` a frame's signature covers it instead. */
export async function sealBody(
  call: BaseCall,
  mutations: Mutations,
  scene: Scene,
  random: Random,
  proven = true,
): Promise<unknown> {
  const { unsigned } = call;
  if (unsigned === null) return call.body;
  const document = textOf(writtenDocument(unsigned, call, mutations, scene));
  const signed = {
    document,
    ...(unsigned.payload === null ? {} : payloadOf(unsigned.payload, random)),
  };
  if (!proven) return { signed };
  const proof = await proofOf(unsigned.typ, document, unsigned.key, random);
  const shown = mutations.apply("proof", proof, proofMutations, scene, call.persona);
  scene.last_signed = { document, proof };
  const { new_key } = unsigned;
  const second = new_key === undefined ? {} : { new_proof: await proofOf(unsigned.typ, document, new_key, random) };
  return { signed: { ...signed, proof: shown, ...second } };
}

/** What is wrong with the document itself is signed with it: the signature is right. */
function writtenDocument({ said }: Unsigned, { persona }: BaseCall, mutations: Mutations, scene: Scene) {
  const root: List = { kind: "list", items: [treeOf(said)] };
  const [written] = mutations.apply("document", root, treeMutations, scene, persona).items;
  return written ?? treeOf(null);
}

function payloadOf(payload: string, random: Random): Sealed {
  if (random.chance(0.85)) return { payload };
  return { payload: Buffer.from(payload).toString("base64"), payload_encoding: "base64" };
}

async function proofOf(typ: string, document: string, { signer }: AgentKey, random: Random): Promise<Proof> {
  const size = random.chance(0.7) ? 1 : random.between(2, 9);
  const own = random.between(0, size - 1);
  const messages = Array.from({ length: size }, (_, at) => ({
    typ,
    bytes: at === own ? toUtf8(document) : random.bytes(8),
  }));
  const proof = (await signBatch(nodeCrypto, signer, messages))[own];
  if (proof === undefined) throw new Error("the batch has no such place");
  return proof;
}
