/** An agent with a key: it also writes and signs documents. */

import { randomBytes } from "node:crypto";
import { documentDigest, makeId, payloadDigest, toBase64url, toUtf8 } from "@handfast/protocol";
import type { Key, Written } from "../caller/key.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";
import { Caller, type CallerOptions } from "./caller.ts";

export interface Sealed {
  readonly payload: string;
  readonly digest: {
    readonly media_type: string;
    readonly size: number;
    readonly salt: string;
    readonly sha256: string;
  };
}

/** A payload and what stands for it in a document. */
export function seal(payload: string, media_type = "application/json"): Sealed {
  const salt = randomBytes(16);
  const bytes = toUtf8(payload);
  const sha256 = payloadDigest(nodeCrypto, salt, bytes);
  return { payload, digest: { media_type, size: bytes.length, salt: toBase64url(salt), sha256 } };
}

/** A UUIDv7, now or at another time. */
export function newId(at_ms = Date.now()): string {
  return makeId(at_ms, randomBytes(10));
}

export function digestOf({ typ, text }: Written): string {
  return documentDigest(nodeCrypto, typ, toUtf8(text));
}

/** What ack and outcome bind, of the lease. */
interface Bindable {
  readonly id: string;
  readonly fence: number;
  readonly digest: string;
  readonly manifest: string | null;
}

export interface AgentOptions extends CallerOptions {
  readonly key: Key;
  readonly audience: string;
  readonly namespace: string;
}

export class Agent extends Caller {
  readonly key: Key;
  readonly audience: string;
  readonly namespace: string;

  constructor({ key, audience, namespace, ...options }: AgentOptions) {
    super(options);
    this.key = key;
    this.audience = audience;
    this.namespace = namespace;
  }

  /** A document of this author; `said` may also overrule what an honest one says. */
  write(typ: string, said: object): Written {
    const header = { v: 1, typ, relay: this.audience, namespace: this.namespace, from: this.name };
    return { typ, text: JSON.stringify({ ...header, ...said }) };
  }

  /** The signed form of an act. */
  async signed(document: Written, payload?: string): Promise<{ readonly signed: object }> {
    const proof = await this.key.proof(document);
    return { signed: { document: document.text, ...(payload === undefined ? {} : { payload }), proof } };
  }

  /** A handoff in the signed form. */
  writeHandoff(said: object, sealed = seal('{"n":1}')): Written {
    return this.write("handoff", { id: newId(), input: sealed.digest, ...said });
  }

  async signedHandoff(said: object, sealed = seal('{"n":1}')): Promise<{ readonly signed: object }> {
    return this.signed(this.writeHandoff(said, sealed), sealed.payload);
  }

  writeAck(lease: Bindable, said: object = {}): Written {
    return this.write("ack", { ...this.bound(lease), ...said });
  }

  writeOutcome(lease: Bindable, sealed: Sealed, said: object = {}): Written {
    return this.write("outcome", {
      ...this.bound(lease),
      status: "completed",
      code: 200,
      output: sealed.digest,
      ...said,
    });
  }

  /** `proven` is what the lease states of it. */
  bound({ id, digest, fence, manifest }: Bindable): object {
    return { id, handoff: digest, fence, worker: this.worker, manifest };
  }
}
