/** A call over HTTP: sound at first, then made wrong in any of its parts. */

import type { BaseCall } from "../calls/base-call.ts";
import { makeCall } from "../calls/make-call.ts";
import { sealBody } from "../calls/seal.ts";
import type { Persona } from "../cast/persona.ts";
import { type List, textOf, treeOf } from "../json/json-tree.ts";
import { faultOf, operationAt } from "../judge/answers.ts";
import { count } from "../judge/tally.ts";
import { type Credential, credentialMutations } from "../mutate/credential-mutations.ts";
import { httpMutations } from "../mutate/http-mutations.ts";
import { Mutations } from "../mutate/mutation.ts";
import { textMutations } from "../mutate/text-mutations.ts";
import { treeMutations } from "../mutate/tree-mutations.ts";
import type { HttpReply } from "../wire/http-reader.ts";
import { type Answer, HttpWire } from "../wire/http-wire.ts";
import { draft, type Header, type HttpDraft, isWellFramed, render } from "./http-draft.ts";
import type { Line } from "./lines.ts";
import { patience_ms, type Stage, someAddress } from "./stage.ts";
import type { Input, Step } from "./step.ts";

const phases = ["tree", "tree", "tree", "document", "proof", "text", "http", "http", "http", "credential"] as const;

export const httpInput: Input = async (step) => {
  const { scene, random, without } = step;
  const mutations = new Mutations(random, phases, without);
  const call = spare(await makeCall(scene, random), step);
  const request = await draftOf(step, call, mutations);
  const bytes = render(request);
  tallyInput(step.stage, bytes, mutations);
  step.stage.tally.operation(call.operation.name).sent += 1;
  const fault = await send(step, call, request, bytes);
  return { fault, mutations: mutations.count, done: mutations.done, persona: call.persona.name, bytes };
};

/** Only a few copies of the store are made in a run; then somebody asks who may not. */
export function spare(call: BaseCall, { stage, scene }: Step): BaseCall {
  if (call.operation.name !== "backup" || call.persona.role !== "operator") return call;
  stage.backups_left -= 1;
  return stage.backups_left >= 0 ? call : { ...call, persona: scene.troupe.sender };
}

export function tallyInput({ tally }: Stage, bytes: Buffer, { done }: Mutations): void {
  tally.bytes += bytes.length;
  for (const name of new Set(done)) count(tally.mutations, name);
}

async function draftOf(step: Step, call: BaseCall, mutations: Mutations): Promise<HttpDraft> {
  const { scene, stage, random } = step;
  const { operation, persona } = call;
  const sealed = await sealBody(call, mutations, scene, random);
  const tree: List = { kind: "list", items: [treeOf(call.params), treeOf(call.query), treeOf(sealed ?? {})] };
  const [params, query, body] = mutations.apply("tree", tree, treeMutations, scene, persona).items;
  const has_body = operation.body !== undefined;
  const plain = has_body ? Buffer.from(textOf(body ?? treeOf(null))) : call.bytes;
  const sent = plain === null ? null : mutations.apply("text", plain, textMutations, scene, persona);
  const credential = mutations.apply<Credential>("credential", persona.credential, credentialMutations, scene, persona);
  const proof = await credential();
  const target = targetOf(operation.path, readTree(params), readTree(query));
  const headers = headersOf(stage, call, proof, has_body);
  return mutations.apply("http", draft(operation.method, target, headers, sent), httpMutations, scene, persona);
}

/** Parameters as they ended up, as text; of what is no object any more, nothing. */
function readTree(tree: ReturnType<typeof treeOf> | undefined): readonly (readonly [string, string])[] {
  if (tree?.kind !== "members") return [];
  return tree.pairs.map(({ name, value }) => [unquoted(name), unquoted(textOf(value))] as const);
}

function unquoted(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

const most_value_chars = 3_000;

function targetOf(
  path: string,
  params: readonly (readonly [string, string])[],
  query: readonly (readonly [string, string])[],
): string {
  const values = new Map(params);
  const place = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => escaped(values.get(name) ?? ""));
  const asked = query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
  return asked === "" ? place : `${place}?${asked}`;
}

/** Halves of characters have no place in an address; they go as what stands in for them. */
function escaped(text: string): string {
  return encodeURIComponent(text.slice(0, most_value_chars).toWellFormed());
}

function headersOf({ port }: Stage, call: BaseCall, proof: string | null, has_body: boolean): Header[] {
  const { facts, wait_ms, stream, content_type } = call;
  const headers: Header[] = [["host", `127.0.0.1:${port}`]];
  const add = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined) headers.push([name, value.replaceAll(/[\r\n\0]/g, " ")]);
  };
  add("authorization", proof === null ? null : `Bearer ${proof}`);
  add("content-type", content_type ?? (has_body ? "application/json" : null));
  add("prefer", wait_ms === null ? null : `wait=${Math.ceil(wait_ms / 1_000)}`);
  add("accept", stream ? "text/event-stream" : null);
  add("idempotency-key", facts.idempotency_key);
  add("traceparent", facts.traceparent);
  add("last-event-id", facts.last_event_id);
  add("range", facts.range);
  return headers;
}

async function send(step: Step, call: BaseCall, request: HttpDraft, bytes: Buffer): Promise<string | null> {
  const { lines, stage } = step;
  const is_sound = isWellFramed(request);
  const { wire, is_new } = await lineFor(step, request, is_sound);
  const answer = await exchange(wire, request, bytes, stage.answer_within_ms);
  if (answer.kind === "closed" && !is_new) {
    // It was closed before anything was said over it, as any connection that is kept may be.
    lines.done(wire);
    return send(step, call, request, bytes);
  }
  const fault = judge(step, call, request, answer);
  if (!is_sound || answer.kind !== "reply" || isLast(answer.reply)) lines.done(wire);
  return fault;
}

async function lineFor({ lines, stage, random }: Step, { headers }: HttpDraft, is_sound: boolean): Promise<Line> {
  const address = someAddress(stage, random);
  if (!is_sound) return { wire: await HttpWire.open(stage.port, address), is_new: true };
  return headers.some(([name]) => name === "authorization") ? lines.http() : lines.strange(address);
}

/** Nothing more can be asked behind it. */
function isLast({ whole, headers }: HttpReply): boolean {
  return !whole || headers.get("connection") === "close";
}

async function exchange(wire: HttpWire, request: HttpDraft, bytes: Buffer, within_ms: number): Promise<Answer> {
  wire.write(bytes);
  if (request.ending === "cut") {
    await new Promise(setImmediate);
    wire.drop();
    return { kind: "late" };
  }
  if (request.ending === "half_close") wire.end();
  return wire.answer(request.method, waits(request) ? patience_ms : within_ms);
}

function waits({ headers }: HttpDraft): boolean {
  return headers.some(([name]) => name.toLowerCase() === "prefer");
}

function judge(step: Step, call: BaseCall, request: HttpDraft, answer: Answer): string | null {
  switch (answer.kind) {
    case "garbled":
      return answer.why;
    case "late":
      return request.ending === "cut" || waits(request) ? null : `no answer within ${step.stage.answer_within_ms} ms`;
    case "closed":
      return isWellFramed(request) && request.method !== "CONNECT"
        ? "the connection was closed without an answer"
        : null;
    case "reply":
      return judgeReply(step, call, request, answer.reply);
    default:
      return answer satisfies never;
  }
}

function judgeReply({ stage, scene }: Step, call: BaseCall, request: HttpDraft, reply: HttpReply): string | null {
  const { status, headers, body } = reply;
  const type = headers.get("content-type") ?? "";
  const is_problem = type.startsWith("application/problem+json");
  const is_json = reply.whole && request.method !== "HEAD" && (is_problem || /^application\/json(;|$)/.test(type));
  const operation = operationAt(request.method, request.target);
  const said: unknown = is_json ? parse(body) : null;
  if (is_json && said === undefined) return `an answer that is not JSON: ${body.toString("utf8").slice(0, 300)}`;
  stage.tally.answered(operation, status, is_problem ? Object(said).reason : undefined);
  const foreign = request.headers.some(([name, value]) => isForeign(name.toLowerCase(), value, stage));
  const fault = request.method === "HEAD" ? null : faultOf(operation, { status, body: said, is_problem }, foreign);
  if (is_problem) scene.world.learnRefusal(call.params["id"], said);
  if (fault !== null || status >= 400 || operation === null) return fault;
  stage.ledger.confirm(operation, said);
  scene.world.learn(said, call.persona.name, call.worker);
  if (operation === call.operation.name) call.done?.();
  return trespass(stage, call.persona, { operation, place: request.target, said });
}

function isForeign(name: string, value: string, { port }: Stage): boolean {
  return name === "origin" || (name === "host" && value !== `127.0.0.1:${port}`);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

interface Heard {
  readonly operation: string;
  readonly place: string;
  readonly said: unknown;
}

/** Nobody but the operator gets anywhere with the handoffs of others. */
export function trespass({ honest_ids }: Stage, persona: Persona, heard: Heard): string | null {
  const path = heard.place.split("?", 1)[0] ?? "";
  if (persona.role === "operator" || !honest_ids().some((id) => path.includes(id)) || isNothing(heard)) return null;
  return `${persona.name} was let in: ${heard.operation} on a handoff of others`;
}

/** Any text may name a conversation; whoever has no part in one of that name is shown an empty list. */
function isNothing({ operation, said }: Heard): boolean {
  return operation === "conversation" && Object(said).handoffs?.length === 0;
}
