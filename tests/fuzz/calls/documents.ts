/** The signed form of a plain body: the document that says the same, before it is signed. */

import { payloadDigest, salt_bytes, toBase64url, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../../../packages/relay/src/proof/node-crypto.ts";
import type { AgentKey } from "../cast/agent-key.ts";
import type { Random } from "../chance.ts";
import { isObject } from "../json/schema-values.ts";
import type { Unsigned } from "./base-call.ts";
import { agreementOf } from "./contract-calls.ts";
import type { About } from "./fill.ts";
import type { Scene } from "./scene.ts";

type Said = Record<string, unknown>;

const unknown_digest = "0".repeat(64);
const outcomes: Readonly<Record<string, readonly [status: string, code: number]>> = {
  complete: ["completed", 200],
  fail: ["failed", 500],
  reject: ["rejected", 501],
};

/** Null where this operation, or this caller, signs nothing. */
export function unsignedOf(scene: Scene, about: About, body: unknown, random: Random): Unsigned | null {
  const { key } = about.persona;
  if (key === null || !isObject(body)) return null;
  return new Writer(scene, about, random, key).write(body);
}

class Writer {
  readonly #scene: Scene;
  readonly #about: About;
  readonly #random: Random;
  readonly #key: AgentKey;

  constructor(scene: Scene, about: About, random: Random, key: AgentKey) {
    this.#scene = scene;
    this.#about = about;
    this.#random = random;
    this.#key = key;
  }

  write(body: Readonly<Said>): Unsigned | null {
    switch (this.#about.name) {
      case "submit":
        return this.#handoff(body, {});
      case "redrive":
        return this.#redrive(body);
      case "ack":
        return this.#unsigned("ack", this.#bound(body), null);
      case "complete":
      case "fail":
      case "reject":
        return this.#outcome(body);
      case "answer":
        return this.#answer(body);
      case "agree":
      case "propose":
        return this.#agreement();
      case "cancel":
        return this.#unsigned("cancel", { ...this.#subject(), ...body }, null);
      default:
        return null;
    }
  }

  #handoff(body: Readonly<Said>, besides: Said): Unsigned {
    const { input, text, id, ...terms } = body;
    const [digest, payload] = this.#payload(input, text);
    const own_id = typeof id === "string" ? id : this.#scene.newId(this.#random);
    return this.#unsigned("handoff", { id: own_id, ...terms, ...besides, input: digest }, payload);
  }

  #redrive(body: Readonly<Said>): Unsigned {
    const { queue_if_absent: _absent, ...rest } = body;
    const { troupe } = this.#scene;
    const besides = {
      redrive_of: this.#subject().id,
      ...(this.#about.persona.name === troupe.sender.name ? {} : { on_behalf_of: troupe.sender.name }),
    };
    return this.#handoff({ capability: troupe.open_capability, input: 1, ...rest }, besides);
  }

  #outcome(body: Readonly<Said>): Unsigned {
    const { output, text, fence: _fence, worker: _worker, ...rest } = body;
    const [status, code] = outcomes[this.#about.name] ?? ["failed", 500];
    const said = { ...this.#bound(body), status, code, ...rest };
    if (status !== "completed") return this.#unsigned("outcome", said, null);
    const [digest, payload] = this.#payload(output, text);
    return this.#unsigned("outcome", { ...said, output: digest }, payload);
  }

  #answer({ answer, ...rest }: Readonly<Said>): Unsigned {
    const [digest, payload] = this.#payload(answer, undefined);
    const question = this.#about.known?.questions.at(-1) ?? "none";
    return this.#unsigned("answer", { ...this.#subject(), question, answer: digest, ...rest }, payload);
  }

  #agreement(): Unsigned | null {
    const made = agreementOf(this.#scene.world, this.#about.name, this.#about.persona.name);
    return made === null ? null : this.#unsigned(made.typ, { ...made.said }, null);
  }

  #subject() {
    const { known } = this.#about;
    return { id: known?.id ?? this.#scene.newId(this.#random), handoff: known?.digest ?? unknown_digest };
  }

  #bound({ fence, worker }: Readonly<Said>) {
    const { lease } = this.#about;
    return { ...this.#subject(), fence, worker: worker ?? lease?.worker ?? "w1", manifest: lease?.manifest ?? null };
  }

  #payload(value: unknown, text: unknown): [Said, string] {
    const payload = typeof text === "string" ? text : (JSON.stringify(value) ?? "null");
    const bytes = toUtf8(payload);
    const salt = this.#random.bytes(salt_bytes);
    const digest = {
      media_type: typeof text === "string" ? "text/plain" : "application/json",
      size: bytes.length,
      salt: toBase64url(salt),
      sha256: payloadDigest(nodeCrypto, salt, bytes),
    };
    return [digest, payload];
  }

  #unsigned(typ: string, said: Said, payload: string | null): Unsigned {
    const header = { v: 1, typ, relay: this.#scene.url, namespace: "default", from: this.#about.persona.name };
    return { typ, said: { ...header, ...said }, payload, key: this.#key };
  }
}
