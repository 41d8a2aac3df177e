/** Whoever the fuzzer speaks as: an agent with a key, one with a token, the operator, or a stranger. */

import type { AgentKey } from "./agent-key.ts";

export interface Persona {
  readonly name: string;
  readonly role: "agent" | "operator" | "stranger";
  /** Null: it cannot sign. */
  readonly key: AgentKey | null;
  /** Null: it proves nothing. */
  readonly credential: () => Promise<string | null>;
}

export function keyed(name: string, key: AgentKey, relay: string): Persona {
  return { name, role: "agent", key, credential: () => key.credential(name, relay) };
}

export function bearing(name: string, token: string, role: Persona["role"] = "agent"): Persona {
  return { name, role, key: null, credential: async () => token };
}

export const stranger: Persona = { name: "nobody", role: "stranger", key: null, credential: async () => null };
