/** Chooses an operation, who calls it and about what, and makes a call that is sound as far as chance lets it. */

import { createHash } from "node:crypto";
import { plain_submit } from "@handfast/protocol/wire";
import type { Operation } from "../../../packages/relay/src/operations/operation.ts";
import { operations } from "../../../packages/relay/src/operations/table.ts";
import { type Persona, stranger } from "../cast/persona.ts";
import { is, type Known } from "../cast/world.ts";
import { type Random, weighted } from "../chance.ts";
import { fitting } from "../json/schema-values.ts";
import type { BaseCall, Facts } from "./base-call.ts";
import { contractParams, party } from "./contract-calls.ts";
import { discoverer, discoveryParams } from "./discovery-calls.ts";
import { unsignedOf } from "./documents.ts";
import { type About, making } from "./fill.ts";
import { makeIdentityCall } from "./identity-calls.ts";
import type { Scene } from "./scene.ts";

/** Those that move handoffs on come more often, or nothing would ever be where it can be attacked. */
const weights: Readonly<Record<string, number>> = {
  submit: 14,
  submit_batch: 3,
  claim: 14,
  ack: 10,
  heartbeat: 4,
  checkpoint: 4,
  write_chunk: 3,
  ask: 6,
  answer: 6,
  complete: 8,
  fail: 4,
  reject: 3,
  release: 3,
  cancel: 4,
  take: 4,
  redrive: 4,
  redrive_many: 2,
  put_artifact: 3,
  register: 1.5,
  rotate_key: 0.7,
  revoke_key: 0.7,
  forget_agent: 0.7,
  agents: 0.7,
  backup: 0.1,
  openapi: 0.2,
  metrics: 0.5,
  discover: 4,
  negotiate: 6,
  proposals: 5,
  propose: 8,
  agree: 4,
  import_agent: 0.5,
  refresh_import: 0.5,
  drop_import: 0.3,
};
const choices = operations.map((operation) => [weights[operation.name] ?? 2, operation] as const);

type Wanted = (known: Known) => boolean;
const wanted: Readonly<Record<string, Wanted>> = {
  ack: ({ state }) => state === "delivered",
  answer: is.asked,
  question: is.asked,
  cancel: is.open,
  take: is.ended,
  redrive: is.dead,
  discard: is.dead,
  dead_letter: is.dead,
};

export async function makeCall(scene: Scene, random: Random, named?: string): Promise<BaseCall> {
  const operation = byName(named) ?? worthwhile(scene, weighted(random, choices), random);
  const identity = await makeIdentityCall(scene, operation, random);
  return identity ?? makePlainCall(scene, operation, random);
}

function byName(name: string | undefined): Operation | undefined {
  return operations.find((operation) => operation.name === name);
}

/** Where there is nothing that it could be about, rather what brings something about. */
function worthwhile({ world }: Scene, operation: Operation, random: Random): Operation {
  const fits = wantedBy(operation);
  if (fits === null || world.handoffs.some(fits) || random.chance(0.2)) return operation;
  const next = world.handoffs.some(({ state }) => state === "queued") ? "claim" : "submit";
  return byName(next) ?? operation;
}

function wantedBy({ name, tag }: Operation): Wanted | null {
  return wanted[name] ?? (tag === "workers" && name !== "claim" ? is.leased : null);
}

function makePlainCall(scene: Scene, operation: Operation, random: Random): BaseCall {
  const { name } = operation;
  const known = scene.world.choose(random, wantedBy(operation) ?? (() => true));
  const lease = known === null ? null : random.chance(0.9) ? (known.leases.at(-1) ?? null) : (known.leases[0] ?? null);
  const persona = personaOf(scene, operation, lease?.agent ?? null, random);
  const about = { name, persona, known, lease };
  const make = making(scene, about, random);
  const body = operation.body === undefined ? undefined : bodyOf(scene, operation, about, random);
  const unsigned = operation.signed !== undefined && random.chance(0.5) ? unsignedOf(scene, about, body, random) : null;
  const bytes = operation.streams_body === true ? Buffer.from(random.bytes(random.skewed(0, 4_000))) : null;
  return {
    operation,
    persona,
    params: paramsOf(scene, operation, about, bytes, random),
    query: operation.query === undefined ? {} : Object(fitting(operation.query, make)),
    body,
    unsigned,
    bytes,
    content_type:
      bytes === null ? null : random.pick(["image/png", "application/octet-stream", "text/plain;charset=x"]),
    wait_ms: operation.waits === true && random.chance(0.15) ? random.pick([1, 50, 1_000, 2_000, 60_000]) : null,
    stream: operation.streams === true && random.chance(0.3),
    facts: factsOf(scene, operation, random),
    worker: workerOf(body),
  };
}

function personaOf(scene: Scene, { name, tag }: Operation, holder: string | null, random: Random): Persona {
  const { sender, worker, rival, operator } = scene.troupe;
  switch (tag) {
    case "workers":
      return weighted(random, [
        [85, holder === null ? random.pick([worker, rival]) : scene.persona(holder)],
        [5, rival],
        [4, sender],
        [3, operator],
        [3, stranger],
      ]);
    case "discovery":
      return discoverer(scene, name, random);
    case "contracts":
      return party(scene, name, random);
    case "relay":
      return weighted(random, [
        [name === "backup" ? 80 : 20, operator],
        [40, sender],
        [20, stranger],
      ]);
    default:
      return weighted(random, [
        [tag === "dead letters" ? 40 : 75, sender],
        [10, worker],
        [4, rival],
        [tag === "dead letters" ? 40 : 8, operator],
        [3, stranger],
      ]);
  }
}

function bodyOf(scene: Scene, operation: Operation, about: About, random: Random): unknown {
  const { name } = operation;
  const make = making(scene, about, random);
  if (name === "submit_batch") {
    const one = { ...about, name: "submit" };
    const count = random.skewed(1, 12);
    return { handoffs: Array.from({ length: count }, () => submitOf(scene, one, random)) };
  }
  if (name === "submit") return submitOf(scene, about, random);
  if (name === "redrive_many") return redriveSet(scene, random);
  return fitting(operation.body, make);
}

function submitOf(scene: Scene, about: About, random: Random): unknown {
  const made: Record<string, unknown> = Object(fitting(plain_submit, making(scene, about, random)));
  const { causation, ...rest } = made;
  const is_holder = about.lease !== null && about.lease.agent === about.persona.name;
  const target = "to" in rest || "capability" in rest ? {} : { capability: scene.troupe.open_capability };
  const id = "id" in rest ? { id: random.chance(0.93) ? scene.newId(random) : about.known?.id } : {};
  // Only who holds the parent has children; anybody else is refused, which is worth a try now and then.
  return {
    ...rest,
    ...target,
    ...id,
    ...(causation !== undefined && (is_holder || random.chance(0.2)) ? { causation } : {}),
  };
}

/** Always of one correlation: a plan over everything would redrive what other episodes play with. */
function redriveSet({ world, correlations }: Scene, random: Random): unknown {
  const plan = world.plans.at(-1);
  if (plan !== undefined && random.chance(0.5)) return { plan };
  return { dry_run: true, filter: { correlation_id: random.pick(correlations) } };
}

function paramsOf(
  scene: Scene,
  { name, params }: Operation,
  { known, persona }: About,
  bytes: Buffer | null,
  random: Random,
): Record<string, string> {
  if (params === undefined) return {};
  const found = discoveryParams(scene, name, random) ?? contractParams(scene, name, random);
  if (found !== null) return found;
  if (name === "put_artifact")
    return {
      sha256: createHash("sha256")
        .update(bytes ?? "")
        .digest("hex"),
    };
  if (name === "get_artifact") return { sha256: scene.world.artifacts.at(-1)?.sha256 ?? "0".repeat(64) };
  if (name === "set_route" || name === "drop_route") {
    const { open_capability, strict_capability } = scene.troupe;
    return { capability: random.pick([open_capability, strict_capability, "offered-by-nobody"]) };
  }
  if (name === "correlation" || name === "correlation_events" || name === "conversation") {
    return { id: random.pick(scene.correlations) };
  }
  if (name === "drain_node" || name === "undrain_node") return { name: random.pick(["n1", scene.newId(random)]) };
  if (name === "question" || name === "answer") {
    return { id: known?.questions.at(-1) ?? `${known?.id ?? scene.newId(random)}:q1` };
  }
  const honest = scene.honest_ids();
  if (persona.role !== "operator" && honest.length > 0 && random.chance(0.04)) return { id: random.pick(honest) };
  return { id: known?.id ?? scene.newId(random) };
}

function factsOf({ world }: Scene, { name, streams }: Operation, random: Random): Facts {
  const key = world.idempotency_keys.at(-1);
  const cursor = world.cursors.at(-1);
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return {
    ...(name === "submit" && key !== undefined && random.chance(0.1) ? { idempotency_key: key } : {}),
    ...(random.chance(0.05) ? { traceparent: trace } : {}),
    ...(streams === true && cursor !== undefined && random.chance(0.3) ? { last_event_id: cursor } : {}),
    ...(name === "get_artifact" && random.chance(0.5)
      ? { range: random.pick(["bytes=0-9", "bytes=-5", "bytes=3-"]) }
      : {}),
  };
}

function workerOf(body: unknown): string | null {
  if (typeof body !== "object" || body === null || !("worker" in body)) return null;
  return typeof body.worker === "string" ? body.worker : null;
}
