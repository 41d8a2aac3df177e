/** The relay judges credentials and digests manifests as the vectors of the specification say. */

import { readFileSync } from "node:fs";
import { fromHex, signBatch, toUtf8 } from "@handfast/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto, nodeSigner } from "../proof/node-crypto.ts";
import { canonicalDigest, canonicalJson } from "../schemas/canonical-json.ts";
import { type House, openHouse, relay_url } from "./testing/test-house.ts";

function load(name: string) {
  return JSON.parse(readFileSync(new URL(`../../../../spec/vectors/${name}`, import.meta.url), "utf8"));
}

interface Credential {
  readonly name: string;
  readonly jwt: string;
  readonly reason: string;
}

describe("credential.json", () => {
  const { relay, now_seconds, agent, accepted, refused } = load("credential.json");
  const { agent_id, seed, jwk } = agent;
  let house: House;

  beforeAll(async () => {
    house = await openHouse();
    expect(relay).toBe(relay_url);
    house.clock.now = now_seconds * 1_000;
    const { challenge } = house.registration.challenge();
    const said = { v: 1, typ: "registration", relay, namespace: "default", agent_id, challenge, key: jwk };
    const document = JSON.stringify({ ...said, capabilities: [] });
    const message = { typ: "registration", bytes: toUtf8(document) };
    const [proof] = await signBatch(nodeCrypto, nodeSigner(fromHex(seed) ?? new Uint8Array()), [message]);
    await house.registration.register({ document, proof });
  });

  it.each(accepted as Credential[])("accepts the one $name", async ({ jwt }) => {
    const caller = await house.identity.authenticate({ authorization: `Bearer ${jwt}` });
    expect(caller).toMatchObject({ name: agent_id, key: agent.thumbprint, role: "agent" });
  });

  it.each(refused as Credential[])("refuses the one with $name: $reason", async ({ jwt, reason }) => {
    const authenticated = house.identity.authenticate({ authorization: `Bearer ${jwt}` });
    await expect(authenticated).rejects.toMatchObject({ code: 401, reason });
  });
});

describe("manifest.json", () => {
  const { cases } = load("manifest.json");

  it.each(cases as { name: string; text: string; canonical: string; sha256: string }[])(
    "$name",
    ({ text, canonical, sha256 }) => {
      expect(canonicalJson(JSON.parse(text))).toBe(canonical);
      expect(canonicalDigest(JSON.parse(text))).toBe(sha256);
    },
  );
});
