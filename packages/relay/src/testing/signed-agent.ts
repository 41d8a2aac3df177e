/** An agent with a key, registered with a relay as a client would do it: what it offers is signed. */

import { type TestAgent as Key, testAgent } from "../identity/testing/test-agent.ts";
import { TestAgent, type TestRelay } from "./test-relay.ts";

export interface SignedAgent {
  readonly key: Key;
  readonly agent: TestAgent;
}

/** `manifest`: its capabilities, and whatever else a registration may say. */
export async function signedAgent(relay: TestRelay, manifest: object, key: Key): Promise<SignedAgent> {
  const { challenge } = (await relay.post("/v1/agents/challenge", {})).body;
  const header = { v: 1, typ: "registration", relay: relay.url, namespace: "default" };
  const document = { ...header, agent_id: key.name, challenge, key: key.jwk, ...manifest };
  const got = await relay.post("/v1/agents", { signed: await key.sign("registration", document) });
  if (got.status > 201) throw new Error(`not registered: ${got.text}`);
  return { key, agent: new TestAgent(relay, key.name, await key.credential(relay.url, Date.now())) };
}

export { testAgent };
