/** What the schemas cannot say: which of the real ids, fences, names and times a call should carry to mean something. */

import type { Persona } from "../cast/persona.ts";
import type { Known, KnownLease } from "../cast/world.ts";
import type { Random } from "../chance.ts";
import type { Making } from "../json/schema-values.ts";
import { importUrl } from "./discovery-calls.ts";
import type { Scene } from "./scene.ts";

export interface About {
  readonly name: string;
  readonly persona: Persona;
  readonly known: Known | null;
  readonly lease: KnownLease | null;
}

/** How likely optional members are, where that is not the same for all. */
const likely: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  submit: {
    "/id": 0.8,
    "/capability": 0.9,
    "/to": 0.15,
    "/input": 1,
    "/text": 0,
    "/limits": 0.5,
    "/contract": 0.05,
    "/artifacts": 0.05,
  },
  negotiate: { "/capability": 0.95, "/words": 0.05, "/tags": 0.02, "/agents": 0.1, "/version": 0.05 },
  propose: { "/decline": 0.1, "/cost": 0.6 },
  claim: { "/request_id": 0.7, "/slots": 0.8 },
  ask: { "/question_id": 0.6, "/park": 0.3, "/answer_ms": 0.4, "/schema": 0.15, "/to": 0.2 },
  complete: { "/output": 1, "/text": 0, "/worker": 0.5 },
  fail: { "/retryable": 0.5, "/retry_after_ms": 0.3 },
  redrive: { "/input": 0.2, "/text": 0, "/to": 0.05, "/capability": 0.1 },
  redrive_many: { "/dry_run": 0, "/filter": 0, "/plan": 0 },
  log: { "/from": 0.95 },
  backup: { "/name": 1 },
  create_token: { "/capabilities": 0.3, "/costs": 0.02, "/life_ms": 0.5 },
  // A high version would keep the agents that come and go from ever saying anything again.
  set_capabilities: { "/version": 0, "/costs": 0.02 },
};
/** Pages are asked for in small pieces: large ones cost much and show no more. */
const likely_anywhere: Readonly<Record<string, number>> = { "/limit": 0.9 };
const likely_else = 0.12;

const durations: Readonly<Record<string, readonly number[]>> = {
  deadline_ms: [30, 300, 3_000, 10_000, 20_000],
  queue_ms: [20, 500, 5_000],
  ack_ms: [20, 500, 10_000],
  lease_ms: [2_000, 5_000, 30_000],
  attempt_ms: [50, 1_000, 10_000],
  answer_ms: [20, 300, 5_000],
  retry_after_ms: [1, 50, 1_000],
  life_ms: [1_000, 60_000],
  reply_by_ms: [1, 300, 2_000],
  valid_ms: [1, 3_000, 60_000],
  older_than_ms: [0, 1_000],
  younger_than_ms: [1_000, 60_000],
};

export function making(scene: Scene, about: About, random: Random): Making {
  const asText = random.chance(0.25);
  return {
    random,
    likely: (_name, path) => {
      if (asText && about.name !== "redrive" && (path === "/input" || path === "/output")) return 0;
      if (asText && about.name !== "redrive" && path === "/text") return 1;
      return likely[about.name]?.[path] ?? likely_anywhere[path] ?? likely_else;
    },
    fill: (name, path) => fill(scene, about, random, name, path),
  };
}

function fill(scene: Scene, about: About, random: Random, name: string, path: string): unknown {
  const { world, troupe, correlations } = scene;
  const { lease, known, persona } = about;
  const duration = durations[name];
  if (duration !== undefined) return random.pick(duration);
  switch (name) {
    case "fence":
      return lease?.fence ?? random.between(1, 3);
    case "worker":
      return lease?.worker ?? random.pick(["w1", "w2"]);
    case "id":
      return path === "/causation/id" || path === "/causation_id" ? known?.id : undefined;
    case "causation_id":
      return known?.id;
    case "correlation_id":
    case "ordering_key":
    case "conversation_id":
      return random.pick(correlations);
    case "idempotency_key":
      return again(random, world.idempotency_keys, () => `key-${scene.newId(random)}`);
    case "request_id":
      return again(random, world.request_ids, () => `claim-${scene.newId(random)}`);
    case "question_id":
      return random.pick(["q1", "q2", "q3", "q4"]);
    case "capability":
    case "dead_letter_to":
      return random.chance(0.8) ? troupe.open_capability : troupe.strict_capability;
    case "to":
      return about.name === "ask" ? troupe.open_capability : troupe.worker.name;
    case "from":
      return about.name === "log" ? Date.now() - 3_000 : troupe.sender.name;
    case "until":
      return about.name === "log" ? Date.now() : undefined;
    case "agent":
      return about.name === "log" ? troupe.sender.name : troupe.passing_name;
    case "after":
      return about.name === "manifests" ? "3" : troupe.sender.name;
    case "cursor":
      return world.cursors.length === 0 ? undefined : random.pick(world.cursors);
    case "plan":
      return world.plans.at(-1);
    case "limit":
      return random.pick([1, 2, 5]);
    case "slots":
      return random.between(1, 4);
    case "offset":
      return random.pick([0, 0, 0, 5, 11]);
    case "text":
      return about.name === "write_chunk" ? "eleven char" : undefined;
    case "code":
      return path === "/code" ? random.pick([200, 408, 410, 500, 502, 504]) : undefined;
    case "contract":
      return world.contracts.at(-1);
    case "offer_id":
      return world.offers.at(-1);
    case "url":
      return about.name === "import_agent" ? importUrl(scene, random) : undefined;
    case "version":
      return about.name === "discover" || about.name === "negotiate"
        ? random.pick(["*", "^1.2", ">=2 <4", "1.x"])
        : undefined;
    case "words":
      return random.pick(["open work", "strict", "whatever you have"]);
    case "name":
      return about.name === "backup" ? `copy-${random.between(0, 2)}.db` : undefined;
    case "0":
      return path === "/capabilities/*" && about.name === "claim" ? offered(scene, persona) : artifactAt(scene, path);
    case "input":
      return about.name !== "get" && random.chance(0.5) ? { n: random.between(0, 9), note: "a note" } : undefined;
    case "output":
      return random.chance(0.5) ? { done: true } : undefined;
    default:
      return undefined;
  }
}

function artifactAt({ world }: Scene, path: string): unknown {
  return path === "/artifacts/*" ? world.artifacts.at(-1) : undefined;
}

function offered({ troupe }: Scene, { name }: Persona): string {
  return name === troupe.worker.name ? troupe.strict_capability : troupe.open_capability;
}

/** One that was used before, now and then: a repeat. */
function again(random: Random, used: string[], make: () => string): string {
  if (used.length > 0 && random.chance(0.25)) return random.pick(used);
  const made = make();
  used.push(made);
  return made;
}
