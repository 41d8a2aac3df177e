/** One capability of one agent, as it is found: what its manifest says, read once. */

import type { Capability } from "@handfast/protocol";
import type { Few } from "../few.ts";
import type { Shape } from "./shape.ts";

/** An agent that is found by what it offers. */
export interface Provider {
  /** `name`, or `name@origin` where another relay told of it. */
  readonly name: string;
  /** With every schema in full, whichever way its manifest writes them. */
  readonly capabilities: readonly Capability[];
  /** Digest of the manifest in force. */
  readonly manifest: string;
  readonly signed: boolean;
  /** Null: the relay's own. */
  readonly discovery_endpoint: string | null;
  readonly foreign: ForeignMark | null;
}

/** Of an agent that is registered elsewhere: nothing can be handed to it here. */
export interface ForeignMark {
  readonly url: string;
  readonly fetched_at: number;
  /** Whether its own signature vouches for what it offers. */
  readonly verified: boolean;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Entry {
  readonly provider: Provider;
  readonly capability: Capability;
  /** Null: it says nothing. */
  readonly input: SharedSchema | null;
  readonly output: SharedSchema | null;
  readonly text: SharedText;
}

/** A schema of one or many, and who has it on which side. */
export interface SharedSchema {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly shape: Shape;
  readonly input: Set<Entry>;
  readonly output: Set<Entry>;
}

/** What is searched by words of entries that say the same, such as those of many agents with one program. */
export interface SharedText {
  readonly key: string;
  readonly entries: Few<Entry>;
}

export function hasTag({ capability }: Entry, tag: string): boolean {
  return capability.tags?.includes(tag) === true;
}
