/** A frame of calls as it goes over the wire, and the one signature for all documents in it. */

import { type Crypto, type Proof, signTogether, toUtf8 } from "@handfast/protocol/client";
import type { Identity } from "../identity/identity.ts";
import type { Hello } from "./relay-frame.ts";
import type { WsCall } from "./ws-call.ts";

type FrameSignature = Pick<Proof, "key" | "sig">;

interface FrameParts {
  readonly calls: readonly WsCall[];
  /** Numbers of calls whose answers nobody wants any more. */
  readonly abandoned: readonly number[];
  readonly ping: number | null;
  readonly signature: FrameSignature | null;
}

export function frameText(hello: Hello, { calls, abandoned, ping, signature }: FrameParts): string {
  const members: string[] = [];
  if (abandoned.length > 0) members.push(`"abandon":[${abandoned.join(",")}]`);
  if (ping !== null) members.push(`"ping":${ping}`);
  if (calls.length > 0)
    members.push(`"calls":[${calls.map((call) => `{"n":${call.n},${call.text(hello)}`).join(",")}]`);
  if (signature !== null) members.push(`"signature":${JSON.stringify(signature)}`);
  return `{${members.join(",")}}`;
}

/** Null where nothing here can sign. */
export async function frameSignature(
  crypto: Crypto,
  { signer }: Identity,
  documents: WsCall["documents"],
): Promise<FrameSignature | null> {
  if (signer === null) return null;
  const messages = documents.map(({ typ, document }) => ({ typ, bytes: toUtf8(document) }));
  return signTogether(crypto, signer, messages);
}
