/** Mutants that believe what was not proven, or read what could be read in two ways. */

import type { Mutant } from "./mutant.ts";

const credential_file = "packages/relay/src/identity/credential.ts";
const signatures_file = "packages/relay/src/identity/signatures.ts";

export const proving: readonly Mutant[] = [
  {
    name: "signature-not-verified",
    breaks: "The key that a proof names is enough; the signature is not looked at.",
    killed_by: ["SIGN-2"],
    edits: [
      {
        file: signatures_file,
        find: "const result = nodeCrypto.verify(key.bytes, root.signed, root.sig);",
        replace: "const result = true;",
      },
    ],
  },
  {
    name: "signature-of-another-relay",
    breaks: "A document for another relay is taken.",
    killed_by: ["DOC-1"],
    edits: [
      {
        file: "packages/relay/src/identity/document-checks.ts",
        find: "if (!audience.includes(document.relay)) {",
        replace: 'if (document.relay === "") {',
      },
    ],
  },
  {
    name: "proof-path-not-checked",
    breaks: "A path may be longer than its place in the tree implies.",
    killed_by: ["SIGN-3"],
    edits: [
      {
        file: "packages/protocol/src/merkle.ts",
        find: "  if (path.length !== merklePathLength(index, size)) return null;\n",
        replace: "",
      },
    ],
  },
  {
    name: "signature-remembered-by-itself",
    breaks: "A signature that verified once is good for any document.",
    killed_by: ["SIGN-4"],
    edits: [
      {
        file: signatures_file,
        find: "const known = this.checks.get(root.id);",
        replace: "const known = this.checks.get(String(root.sig));",
      },
      {
        file: signatures_file,
        find: "this.checks.set(root.id, {",
        replace: "this.checks.set(String(root.sig), {",
      },
    ],
  },
  {
    name: "frame-partly-run-after-bad-signature",
    breaks: "Of a frame under a bad signature only the first document is refused; the others are taken as verified.",
    killed_by: ["SEAL-2"],
    edits: [
      {
        file: signatures_file,
        find: "if (known !== undefined && known.until > this.now()) return known.result;",
        replace: "if (known !== undefined && known.until > this.now()) return Promise.resolve(true);",
      },
    ],
  },
  {
    name: "payload-not-checked",
    breaks: "Any payload may stand beside a signed document.",
    killed_by: ["CALL-8", "PAYLOAD-1"],
    edits: [
      {
        file: "packages/relay/src/operations/acts.ts",
        find: "if (salt !== null && payload.length === digest.size && payloadDigest(nodeCrypto, salt, payload) === digest.sha256)",
        replace: "if (salt !== null)",
      },
    ],
  },
  {
    name: "binding-not-checked",
    breaks: "An ack or outcome of another handoff is taken.",
    killed_by: ["CALL-7"],
    edits: [
      {
        file: "packages/relay/src/operations/holding.ts",
        find: "  if (wrong.length > 0) throw bindsAnother(wrong);",
        replace: "  if (wrong.length > 99) throw bindsAnother(wrong);",
      },
    ],
  },
  {
    name: "foreign-document-accepted",
    breaks: "A document from somebody else is sent in the caller's name.",
    killed_by: ["DOC-2"],
    edits: [
      {
        file: "packages/relay/src/identity/identity.ts",
        find: "if (from !== caller.name || this.options.directory.record(from) === undefined) {",
        replace: "if (this.options.directory.record(from) === undefined) {",
      },
    ],
  },
  {
    name: "credential-expired-accepted",
    breaks: "A credential is good for ever.",
    killed_by: ["CREDENTIAL-1"],
    edits: [{ file: credential_file, find: "if (exp + skew <= now) {", replace: "if (exp + skew <= 0) {" }],
  },
  {
    name: "audience-not-checked",
    breaks: "A credential for another relay is taken.",
    killed_by: ["CREDENTIAL-2"],
    edits: [
      {
        file: credential_file,
        find: 'if (typeof aud !== "string" || !audience.includes(aud)) {',
        replace: "if (aud === undefined) {",
      },
    ],
  },
  {
    name: "credential-signature-not-checked",
    breaks: "Whoever names a key is its holder.",
    killed_by: ["CREDENTIAL-5"],
    edits: [{ file: credential_file, find: "await checkSignature(token, key.key);", replace: "" }],
  },
  {
    name: "weak-key-accepted",
    breaks: "Keys of small order register.",
    killed_by: ["KEY-1"],
    edits: [
      {
        file: "packages/protocol/src/keys.ts",
        find: 'if (!isStrongPoint(bytes)) return refused("weak_or_invalid_point");',
        replace: "",
      },
    ],
  },
  {
    name: "challenge-good-twice",
    breaks: "A challenge can be used again.",
    killed_by: ["NAME-1"],
    edits: [
      {
        file: "packages/relay/src/identity/challenges.ts",
        find: "if (this.used.has(challenge)) throw usedBefore();",
        replace: "",
      },
    ],
  },
  {
    name: "rotation-by-new-key-alone",
    breaks: "A rotation needs no signature of the old key.",
    killed_by: ["ROTATE-2"],
    edits: [
      {
        file: "packages/relay/src/identity/registration.ts",
        find: 'await this.checkSignature("rotation", envelope.document, envelope.proof, oldKey, "the old key");',
        replace: "",
      },
    ],
  },
  {
    name: "revoked-key-good",
    breaks: "A revoked key goes on proving calls.",
    killed_by: ["ROTATE-5"],
    edits: [
      {
        file: credential_file,
        find: "if (key.revoked_at !== null) {",
        replace: "if (key.revoked_at === 0) {",
      },
      {
        file: "packages/relay/src/directory/agent.ts",
        find: "return key.revoked_at === null && (key.valid_until === null || now < key.valid_until);",
        replace: "return key.valid_until === null || now < key.valid_until;",
      },
    ],
  },
  {
    name: "duplicate-keys-accepted",
    breaks: "JSON with a name twice in one object is taken.",
    killed_by: ["CALL-3"],
    edits: [
      {
        file: "packages/protocol/src/json-scanner.ts",
        find: 'if (!isNewKey(inside, key)) return this.fail("duplicate_key", start);',
        replace: "",
      },
    ],
  },
  {
    name: "unknown-fields-accepted",
    breaks: "Fields that the relay does not know are overlooked.",
    killed_by: ["CALL-5"],
    edits: [
      {
        file: "packages/protocol/src/fields.ts",
        find: "export const closed = { additionalProperties: false } as const;",
        replace: "export const closed = { additionalProperties: true } as const;",
      },
    ],
  },
  {
    name: "bad-frame-run",
    breaks: "A frame with a call that has no number is run but for that call.",
    killed_by: ["FRAME-3"],
    edits: [
      {
        file: "packages/relay/src/transports/websocket/frame.ts",
        find: 'if (!Number.isSafeInteger(n) || Number(n) < 1) throw malformed("bad_n", \'A call has no "n", a positive integer.\');',
        replace: "if (!Number.isSafeInteger(n) || Number(n) < 1) continue;",
      },
    ],
  },
  {
    name: "foreign-origin-allowed",
    breaks: "A web page reaches a relay in development mode.",
    killed_by: ["CALL-20"],
    edits: [
      {
        file: "packages/relay/src/transports/guard.ts",
        find: "if (origin !== undefined && !urls.some((url) => url.origin === origin.toLowerCase())) {",
        replace: 'if (origin === "") {',
      },
    ],
  },
];
