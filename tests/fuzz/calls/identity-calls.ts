/** Calls about agents, keys and tokens. They are made for an agent that comes and goes, so that the cast stays whole. */

import { documentSchemas } from "@handfast/protocol";
import type { Operation } from "../../../packages/relay/src/operations/operation.ts";
import { bearing, type Persona, stranger } from "../cast/persona.ts";
import { type Random, weighted } from "../chance.ts";
import { fitting, type Making } from "../json/schema-values.ts";
import type { BaseCall, Unsigned } from "./base-call.ts";
import { making } from "./fill.ts";
import type { Scene } from "./scene.ts";

/** Null: the operation is about something else. */
export async function makeIdentityCall(scene: Scene, operation: Operation, random: Random): Promise<BaseCall | null> {
  if (operation.tag !== "agents") return null;
  const { troupe, world } = scene;
  const passing = await scene.passing();
  const persona = await callerOf(scene, operation, passing, random);
  const about = { name: operation.name, persona, known: null, lease: null };
  const make = making(scene, about, random);
  const named = weighted(random, [
    [80, troupe.passing_name],
    [
      20,
      persona.role === "operator"
        ? troupe.passing_name
        : random.pick(["honest-worker", "honest-sender", "nobody-at-all"]),
    ],
  ]);
  const thumbprint = passing.key?.signer.key ?? "";
  const params: Record<string, string> = {
    ...(operation.path.includes("{name}") ? { name: named } : {}),
    ...(operation.path.includes("{thumbprint}") ? { thumbprint } : {}),
    ...(operation.path.includes("{digest}") ? { digest: world.manifests.at(-1) ?? "0".repeat(64) } : {}),
    ...(operation.path.includes("{id}") ? { id: world.token_ids.at(-1) ?? "AAAAAAAAAAAA" } : {}),
  };
  const plain = {
    operation,
    persona,
    params,
    query: operation.query === undefined ? {} : Object(fitting(operation.query, make)),
    body: operation.body === undefined ? undefined : fitting(operation.body, make),
    unsigned: null,
    bytes: null,
    content_type: null,
    wait_ms: null,
    stream: false,
    facts: {},
    worker: null,
  };
  switch (operation.name) {
    case "register":
      return { ...plain, body: {}, unsigned: registrationOf(scene, passing, await scene.challenge(random), make) };
    case "rotate_key":
      return { ...plain, body: {}, ...rotationOf(scene, passing, await scene.challenge(random)) };
    case "revoke_key":
    case "forget_agent":
      return { ...plain, ...(named === troupe.passing_name ? { done: () => scene.changePassing(null) } : {}) };
    default:
      return plain;
  }
}

async function callerOf(
  { troupe, world }: Scene,
  { name }: Operation,
  passing: Persona,
  random: Random,
): Promise<Persona> {
  const token = world.tokens.at(-1);
  return weighted(random, [
    [60, passing],
    [15, troupe.operator],
    [name === "challenge" || name === "register" ? 30 : 8, stranger],
    [8, troupe.sender],
    [5, troupe.rival],
    [4, token === undefined ? passing : bearing(passing.name, token)],
  ]);
}

function header({ url }: Scene, typ: string, agent_id: string, challenge: string) {
  return { v: 1, typ, relay: url, namespace: "default", agent_id, challenge };
}

function registrationOf(scene: Scene, passing: Persona, challenge: string, make: Making): Unsigned | null {
  const { key, name } = passing;
  if (key === null) return null;
  const { capabilities } = documentSchemas.registration.properties;
  const said = {
    ...header(scene, "registration", name, challenge),
    key: key.jwk,
    capabilities: eachOnce(fitting(capabilities, make)),
  };
  return { typ: "registration", said, payload: null, key };
}

/** What no schema says: a capability is listed once. */
function eachOnce(capabilities: unknown): readonly unknown[] {
  if (!Array.isArray(capabilities)) return [];
  return [...new Map(capabilities.map((each) => [each.name, each])).values()];
}

function rotationOf(scene: Scene, passing: Persona, challenge: string): Pick<BaseCall, "unsigned" | "done"> {
  const { key, name } = passing;
  if (key === null) return { unsigned: null };
  const new_key = scene.newKey();
  const said = { ...header(scene, "rotation", name, challenge), old: key.signer.key, key: new_key.jwk };
  return {
    unsigned: { typ: "rotation", said, payload: null, key, new_key },
    done: () => scene.changePassing(new_key),
  };
}
