/** A frame over a WebSocket on which its sender was greeted: calls that are sound at first, and then made wrong. */

import { type Message, signBatch, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../../../packages/relay/src/proof/node-crypto.ts";
import type { BaseCall } from "../calls/base-call.ts";
import { makeCall } from "../calls/make-call.ts";
import { sealBody } from "../calls/seal.ts";
import type { Persona } from "../cast/persona.ts";
import type { Random } from "../chance.ts";
import { type List, type Tree, textOf, treeOf } from "../json/json-tree.ts";
import { isObject } from "../json/schema-values.ts";
import { type Credential, credentialMutations } from "../mutate/credential-mutations.ts";
import { frameMutations } from "../mutate/frame-mutations.ts";
import { Mutations } from "../mutate/mutation.ts";
import { proofMutations } from "../mutate/proof-mutations.ts";
import { textMutations } from "../mutate/text-mutations.ts";
import { treeMutations } from "../mutate/tree-mutations.ts";
import { sayAndHear } from "./frame-answers.ts";
import { frameDraft, renderFrames } from "./frame-draft.ts";
import { spare, tallyInput } from "./http-input.ts";
import type { Input, Step } from "./step.ts";

const phases = ["tree", "tree", "tree", "tree", "document", "proof", "text", "frame", "frame", "credential"] as const;

interface NumberedCall {
  readonly n: number;
  readonly call: BaseCall;
}

export const frameInput: Input = async (step) => {
  const { scene, random, without, lines, stage } = step;
  const mutations = new Mutations(random, phases, without);
  const calls = await callsOf(step);
  const [first] = calls;
  const asked = first?.call.persona ?? scene.troupe.sender;
  const persona = asked.role === "stranger" ? scene.troupe.sender : asked;
  const said = await frameOf(step, calls, persona, mutations);
  const tree = mutatedTree(step, treeOf(said), persona, mutations);
  const text = mutations.apply("text", Buffer.from(textOf(tree)), textMutations, scene, persona);
  const draft = mutations.apply("frame", frameDraft(text), frameMutations, scene, persona);
  const bytes = renderFrames(draft);
  tallyInput(stage, bytes, mutations);
  for (const { call } of calls) stage.tally.operation(call.operation.name).sent += 1;
  const wire = await lines.ws(persona);
  const played = { mutations: mutations.count, done: mutations.done, persona: persona.name, bytes };
  if (typeof wire === "string") {
    // Whoever passes through may have lost its key or its token by an act whose answer nobody heard.
    const may_be_lost = persona.name === scene.troupe.passing_name && wire.includes('"code":401');
    if (may_be_lost) scene.changePassing(null);
    return { ...played, fault: may_be_lost ? null : `${persona.name} was not greeted: ${wire}` };
  }
  for (const { n, call } of calls) lines.calls.set(n, call);
  return { ...played, fault: await sayAndHear(step, wire, draft, bytes, persona) };
};

/** Mostly within one of its calls, which is then refused alone; else anywhere, which may well end the connection. */
function mutatedTree({ scene, random }: Step, frame: Tree, persona: Persona, mutations: Mutations): Tree {
  const parts = random.chance(0.75) ? partsOf(frame, random) : [];
  const inside: List = { kind: "list", items: parts.length === 0 ? [frame] : parts.map(({ value }) => value) };
  const { items } = mutations.apply("tree", inside, treeMutations, scene, persona);
  if (parts.length === 0) return items[0] ?? treeOf(null);
  for (const [at, part] of parts.entries()) part.value = items[at] ?? treeOf(null);
  return frame;
}

/** What one of its calls says besides its number and its operation. */
function partsOf(frame: Tree, random: Random) {
  const calls = frame.kind === "members" ? frame.pairs.find(({ name }) => name === '"calls"')?.value : undefined;
  const call = calls?.kind === "list" && calls.items.length > 0 ? random.pick(calls.items) : undefined;
  return call?.kind === "members" ? call.pairs.filter(({ name }) => name !== '"n"' && name !== '"op"') : [];
}

/** Mostly of one persona, whose connection it is; now and then somebody else's among them. */
async function callsOf(step: Step): Promise<readonly NumberedCall[]> {
  const { random, scene, lines } = step;
  const many = random.chance(0.004) ? random.pick([60, 300]) : random.skewed(1, 5);
  const made: BaseCall[] = [];
  for (let tries = many * 3; tries > 0 && made.length < many; tries -= 1) {
    const call = await makeCall(scene, random);
    const [first = call] = made;
    if (first.persona.name === call.persona.name || random.chance(0.05)) made.push(spare(call, step));
  }
  return made.map((call) => ({ n: lines.next(), call }));
}

async function frameOf(step: Step, calls: readonly NumberedCall[], persona: Persona, mutations: Mutations) {
  const { scene, random } = step;
  const shares_signature = random.chance(0.5);
  const messages: Message[] = [];
  const shown: unknown[] = [];
  for (const { n, call } of calls) {
    const own = call.unsigned !== null && call.unsigned.key === persona.key;
    const body = await sealBody(call, mutations, scene, random, !(shares_signature && own));
    if (shares_signature && own && call.unsigned !== null && isObject(body)) {
      const { document } = Object(body["signed"]);
      messages.push({ typ: call.unsigned.typ, bytes: toUtf8(String(document)) });
    }
    shown.push(callOf(n, call, body));
  }
  shown.push(...(await renewals(step, persona, mutations)));
  return {
    calls: shown,
    ...(messages.length > 0 ? { signature: await signatureOf(messages, persona, mutations, step) } : {}),
    ...(random.chance(0.1) ? { abandon: [random.between(1, 50), step.lines.next()] } : {}),
    ...(random.chance(0.05) ? { ping: random.between(-5, 5) } : {}),
  };
}

function callOf(n: number, call: BaseCall, body: unknown) {
  const { operation, params, query, wait_ms, stream, facts, bytes, content_type } = call;
  const { range: _range, ...said } = facts;
  return {
    n,
    op: operation.name,
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(Object.keys(query).length > 0 ? { query } : {}),
    ...(body === undefined ? {} : { body }),
    ...(wait_ms === null ? {} : { wait_ms }),
    ...(stream ? { stream } : {}),
    ...(bytes === null ? {} : { base64: bytes.toString("base64"), content_type }),
    ...said,
  };
}

/** Credentials that are nearly right come as renewals of the one that the connection has. */
async function renewals({ lines, scene, random }: Step, persona: Persona, mutations: Mutations): Promise<unknown[]> {
  if (!mutations.has("credential") && !random.chance(0.03)) return [];
  const credential = await mutations.apply<Credential>(
    "credential",
    persona.credential,
    credentialMutations,
    scene,
    persona,
  )();
  return [{ n: lines.next(), op: "authenticate", body: { credential } }];
}

async function signatureOf(messages: readonly Message[], persona: Persona, mutations: Mutations, { scene }: Step) {
  const [proof] = persona.key === null ? [] : await signBatch(nodeCrypto, persona.key.signer, messages);
  if (proof === undefined) throw new Error("a signature needs a key and a document");
  const { key, sig } = mutations.apply("proof", proof, proofMutations, scene, persona);
  return { key, sig };
}
