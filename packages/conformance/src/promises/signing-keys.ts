/** signing.md, "Keys", "Rotation" and "Session credential". */

import type { Proof } from "@handfast/protocol";
import { Key } from "../caller/key.ts";
import type { Check } from "../check.ts";
import type { Agent } from "../stage/agent.ts";
import type { Stage } from "../stage/stage.ts";

const keys = "signing.md#keys";
const rotation = "signing.md#rotation";
const credential = "signing.md#session-credential";
const over = ["http"] as const;

/** Points that must not be taken, from the vectors of the specification: of small and of mixed order, not canonical, not on the curve. */
const weakPoints = {
  "the identity": "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "order 2": "7P_______________________________________38",
  "order 4": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "order 8": "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU",
  "mixed order": "O1tHXEuC3RVyeZ_FRvTGwD5HjGZUqkx_lFs0fqMq9g0",
  "not canonical": "7v_______________________________________38",
  "not on the curve": "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
} as const;

interface Rotation {
  readonly document: string;
  readonly proof: Proof;
  readonly new_proof: Proof;
}

/** Hands the name over from one key to another; `by` may sign in place of either. */
async function rotate(
  t: Stage,
  agent: Agent,
  next: Key,
  by: { readonly old?: Key; readonly next?: Key } = {},
): Promise<{ readonly params: { name: string }; readonly body: { signed: Rotation } }> {
  const { challenge } = await t.registrar().ok("challenge", {});
  const old = by.old ?? agent.key;
  const header = { v: 1, typ: "rotation", relay: t.audience, namespace: t.about.namespace };
  const said = { ...header, agent_id: agent.name, challenge, old: agent.key.thumbprint, key: next.jwk };
  const document = { typ: "rotation", text: JSON.stringify(said) };
  const [proof, new_proof] = await Promise.all([old.proof(document), (by.next ?? next).proof(document)]);
  return { params: { name: agent.name }, body: { signed: { document: document.text, proof, new_proof } } };
}

export const signingKeys: readonly Check[] = [
  {
    id: "KEY-1",
    promise:
      "A key of small or mixed order, one that is not canonical and one that is not on the curve are refused before first use.",
    section: keys,
    over,
    run: async (t) => {
      const registrar = t.registrar();
      for (const [what, x] of Object.entries(weakPoints)) {
        const { challenge } = await registrar.ok("challenge", {});
        const key = { kty: "OKP", crv: "Ed25519", x };
        const body = await t.registration(t.name("weak"), new Key(), challenge, { key });
        const { code, reason } = await registrar.refused("register", { body }, 400);
        t.equal({ code, reason }, { code: 400, reason: "key_refused" }, `the answer to a key: ${what}`);
      }
    },
  },
  {
    id: "KEY-2",
    promise:
      "A JWK with any other member, a private one above all, or with an x that is not 32 bytes of base64url is refused.",
    section: keys,
    over,
    run: async (t) => {
      const registrar = t.registrar();
      const key = new Key();
      const { jwk } = key;
      const wrong = [
        { ...jwk, d: "AAAA" },
        { ...jwk, alg: "EdDSA" },
        { ...jwk, crv: "X25519" },
        { ...jwk, x: `${jwk.x}=` },
        { ...jwk, x: jwk.x.slice(1) },
      ];
      for (const each of wrong) {
        const { challenge } = await registrar.ok("challenge", {});
        const body = await t.registration(t.name("odd"), key, challenge, { key: each });
        await registrar.refused("register", { body }, 400);
      }
    },
  },
  {
    id: "KEY-3",
    promise: "The identity of an agent is the thumbprint of its first key.",
    section: keys,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const { identity } = await agent.ok("agent", { params: { name: agent.name } });
      t.equal(identity, agent.key.thumbprint, "the identity");
    },
  },
  {
    id: "ROTATE-1",
    promise:
      "A rotation signed by both keys hands the name over: the identity stays, the new key counts, the old one goes on for an overlap.",
    section: rotation,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const next = new Key();
      const { identity } = await t.stranger().ok("rotate_key", await rotate(t, agent, next), 200);
      t.equal(identity, agent.key.thumbprint, "the identity");
      const renewed = t.agentOf(agent.name, next);
      const view = await renewed.ok("agent", { params: { name: agent.name } });
      const shown = view.keys.map(({ thumbprint, valid_until }) => ({ thumbprint, ends: valid_until !== null }));
      t.equal(
        shown,
        [
          { thumbprint: agent.key.thumbprint, ends: true },
          { thumbprint: next.thumbprint, ends: false },
        ],
        "the keys",
      );
      await agent.ok("list", {});
    },
  },
  {
    id: "ROTATE-2",
    promise: "A rotation without the old key's signature, or without the new one's, is 401 and changes nothing.",
    section: rotation,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const next = new Key();
      const stranger = t.stranger();
      await stranger.refused("rotate_key", await rotate(t, agent, next, { old: new Key() }), 401, "bad_signature");
      await stranger.refused("rotate_key", await rotate(t, agent, next, { next: new Key() }), 401, "bad_signature");
      const { keys: kept } = await agent.ok("agent", { params: { name: agent.name } });
      t.equal(
        kept.map(({ thumbprint }) => thumbprint),
        [agent.key.thumbprint],
        "the keys",
      );
      await t.agentOf(agent.name, next).refused("list", {}, 401, "unknown_key");
    },
  },
  {
    id: "ROTATE-3",
    promise: "The new key must never have been an agent's key before: 403, key_taken.",
    section: rotation,
    over,
    run: async (t) => {
      const [agent, other] = await Promise.all([t.agent(), t.agent()]);
      await t.stranger().refused("rotate_key", await rotate(t, agent, other.key), 403, "key_taken");
    },
  },
  {
    id: "ROTATE-4",
    promise:
      "During the overlap the old key decides nothing that would outlast it: no second rotation, no tokens, no revoking of others.",
    section: rotation,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const next = new Key();
      await t.stranger().ok("rotate_key", await rotate(t, agent, next));
      await t.stranger().refused("rotate_key", await rotate(t, agent, new Key()), 403, "key_replaced");
      await agent.refused("create_token", { body: { agent: agent.name } }, 403, "key_replaced");
      const params = { name: agent.name, thumbprint: next.thumbprint };
      await agent.refused("revoke_key", { params }, 403, "key_replaced");
      await agent.refused("forget_agent", { params: { name: agent.name } }, 403, "key_replaced");
      await agent.ok("revoke_key", { params: { name: agent.name, thumbprint: agent.key.thumbprint } });
    },
  },
  {
    id: "ROTATE-5",
    promise: "Revoking a key is at once and for good, for calls and documents, and ends the tokens that it made.",
    section: rotation,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const { token } = await agent.ok("create_token", { body: { agent: agent.name } }, 201);
      const credentialOfOld = agent.key.credential(agent.name, t.audience);
      const bearer = t.bearer(agent.name, credentialOfOld);
      await bearer.ok("list", {});
      await agent.ok("revoke_key", { params: { name: agent.name, thumbprint: agent.key.thumbprint } });
      await bearer.refused("list", {}, 401, "revoked_key");
      await t.bearer(agent.name, token).refused("list", {}, 401, "unknown_token");
      const { challenge } = await t.registrar().ok("challenge", {});
      const body = await t.registration(agent.name, agent.key, challenge);
      await t.registrar().refused("register", { body }, 401, "revoked_key");
    },
  },
  {
    id: "CREDENTIAL-1",
    promise:
      "A credential that has expired, comes from the future or lives too long proves nothing: 401, with its reason.",
    section: credential,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const now = Math.floor(Date.now() / 1_000);
      const wrong = [
        [{ iat: now - 330, exp: now - 30 }, "credential_expired"],
        [{ iat: now + 60, exp: now + 360 }, "credential_from_the_future"],
        [{ iat: now, exp: now + 300, nbf: now + 60 }, "credential_from_the_future"],
        [{ iat: now, exp: now + 301 }, "credential_life_too_long"],
        [{ iat: now, exp: now }, "credential_life_too_long"],
        [{ iat: now + 0.5, exp: now + 100 }, "credential_malformed"],
      ] as const;
      for (const [claims, reason] of wrong) {
        const caller = t.bearer(agent.name, agent.key.credential(agent.name, t.audience, claims));
        await caller.refused("list", {}, 401, reason);
      }
    },
  },
  {
    id: "CREDENTIAL-2",
    promise: "A credential is for one relay: another audience, or a list, is 401, and the answer names both sides.",
    section: credential,
    over,
    run: async (t) => {
      const agent = await t.agent();
      for (const aud of ["https://other.example", [t.audience], [t.audience, "https://other.example"]]) {
        const caller = t.bearer(agent.name, agent.key.credential(agent.name, t.audience, { aud }));
        const problem: object = await caller.refused("list", {}, 401, "wrong_audience");
        const { credential_audience, relay_audiences }: Record<string, unknown> = { ...problem };
        t.equal(credential_audience, aud, "the credential's audience in the answer");
        t.that(
          Array.isArray(relay_audiences) && relay_audiences.includes(t.audience),
          "the relay's in the answer",
          relay_audiences,
        );
      }
    },
  },
  {
    id: "CREDENTIAL-3",
    promise: "Audiences are compared as URLs: a slash at the end and the case of the host make no difference.",
    section: credential,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const url = new URL(t.audience);
      const spelled = `${url.protocol.toUpperCase()}//${url.host.toUpperCase()}${url.pathname.replace(/\/+$/, "")}/`;
      await t.bearer(agent.name, agent.key.credential(agent.name, spelled)).ok("list", {});
    },
  },
  {
    id: "CREDENTIAL-4",
    promise: "The algorithm is the key's: none, HS256 and the like are 401, whatever is signed.",
    section: credential,
    over,
    run: async (t) => {
      const agent = await t.agent();
      for (const alg of ["none", "HS256", "RS256", "ES256"]) {
        const caller = t.bearer(agent.name, agent.key.credential(agent.name, t.audience, {}, { alg }));
        await caller.refused("list", {}, 401, "wrong_algorithm");
      }
      const [head = "", claims = ""] = agent.key.credential(agent.name, t.audience).split(".");
      await t.bearer(agent.name, `${head}.${claims}.`).refused("list", {}, 401);
      await t.bearer(agent.name, agent.key.credential(agent.name, t.audience, {}, { alg: "Ed25519" })).ok("list", {});
    },
  },
  {
    id: "CREDENTIAL-5",
    promise: "A credential that another key signed, or whose claims were changed, is 401, bad_signature.",
    section: credential,
    over,
    run: async (t) => {
      const [agent, other] = await Promise.all([t.agent(), t.agent()]);
      const forged = other.key.credential(agent.name, t.audience, {}, { kid: agent.key.thumbprint });
      await t.bearer(agent.name, forged).refused("list", {}, 401, "bad_signature");
      const [head = "", , sig = ""] = agent.key.credential(agent.name, t.audience).split(".");
      const [, claims = ""] = agent.key.credential(agent.name, t.audience, { ns: t.about.namespace }).split(".");
      await t.bearer(agent.name, `${head}.${claims}.${sig}`).refused("list", {}, 401, "bad_signature");
      const foreign = agent.key.credential(other.name, t.audience);
      await t.bearer(other.name, foreign).refused("list", {}, 401, "wrong_issuer");
      const namespace = agent.key.credential(agent.name, t.audience, { ns: "another" });
      await t.bearer(agent.name, namespace).refused("list", {}, 401, "wrong_namespace");
    },
  },
  {
    id: "CREDENTIAL-6",
    promise:
      "The clocks of agent and relay may differ by 10 seconds, and a credential may be used again until it expires.",
    section: credential,
    over,
    run: async (t) => {
      const agent = await t.agent();
      const now = Math.floor(Date.now() / 1_000);
      for (const claims of [
        { iat: now + 7, exp: now + 300 },
        { iat: now - 290, exp: now - 2 },
      ]) {
        const caller = t.bearer(agent.name, agent.key.credential(agent.name, t.audience, claims));
        await caller.ok("list", {});
        await caller.ok("list", {});
      }
    },
  },
];
