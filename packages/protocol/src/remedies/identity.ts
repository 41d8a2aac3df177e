/** Reasons of identity: credentials, tokens, keys, names, signed documents. */

import type { Reason } from "./reason.ts";

export const identityReasons: readonly Reason[] = [
  // Credentials and tokens
  {
    codes: [401],
    reason: "credential_missing",
    cause: "The call has no Authorization header.",
    remedy: "Send Authorization: Bearer with a token or a signed credential.",
  },
  {
    codes: [401],
    reason: "credential_malformed",
    cause: "What stands in the Authorization header is neither a token nor a credential of the right form.",
    remedy:
      "Send Bearer and one space, then a token of this relay (an agent's begins with hft_, an operator's with hfo_ unless it was configured) or an EdDSA JWT with kid, iss, aud, iat, exp.",
  },
  {
    codes: [401],
    reason: "wrong_algorithm",
    cause: "The credential is signed with another algorithm than EdDSA.",
    remedy: "Sign it with the agent's Ed25519 key.",
  },
  {
    codes: [401, 404],
    reason: "unknown_key",
    cause: "The key is not registered here under this agent's name: new, forgotten, or of another relay.",
    remedy: "Register the key; if the agent has several, list them and use one that is there.",
  },
  {
    codes: [401],
    reason: "wrong_issuer",
    cause: "The credential names another agent than the one whose key signed it.",
    remedy: "Set iss to the name under which the key is registered.",
  },
  {
    codes: [401],
    reason: "wrong_namespace",
    cause: "The credential or document is for another namespace than the relay's.",
    remedy: "Use the namespace that the relay states at /.well-known/handfast.",
  },
  {
    codes: [401],
    reason: "wrong_audience",
    cause: "The credential was made for another URL than the relay's public one.",
    remedy: "Call the relay by the URL it states; or let the operator add this URL to public_urls.",
  },
  {
    codes: [401],
    reason: "credential_life_too_long",
    cause: "A credential may live for a few minutes only, and this one lives longer.",
    remedy: "Set exp at most 300 seconds after iat, and sign a new one when it runs out.",
  },
  {
    codes: [401],
    reason: "credential_from_the_future",
    cause: "By the relay's clock the credential is not valid yet.",
    remedy: "Set this machine's clock and the relay's; they may differ by a few seconds only.",
  },
  {
    codes: [401],
    reason: "credential_expired",
    cause: "The credential's time is over by the relay's clock.",
    remedy: "Sign a new one. If it is new, set this machine's clock.",
  },
  {
    codes: [401],
    reason: "bad_signature",
    cause: "The signature is not by the key that it names, or the bytes were changed after signing.",
    remedy: "Sign the exact bytes that are sent, with the key that is registered.",
  },
  {
    codes: [401, 404],
    reason: "unknown_token",
    cause: "The token is unknown here: revoked, expired, or of another relay or data directory.",
    remedy: "Ask for a new token, or use the one that this relay gave out.",
  },
  {
    codes: [401],
    reason: "revoked_key",
    cause: "The key was revoked.",
    remedy: "Use the agent's newer key. If there is none, an operator must make the relay forget the agent.",
  },
  {
    codes: [401],
    reason: "retired_key",
    cause: "The key was replaced, and the time in which both worked is over.",
    remedy: "Use the agent's newest key.",
  },
  {
    codes: [401, 403],
    reason: "operator_only",
    cause: "Only an operator may do this.",
    remedy: "Call with the operator's token: the file operator-token in the relay's data directory.",
    mended_by: "operator",
  },

  // Registration
  {
    codes: [401],
    reason: "challenge_unknown",
    cause: "The challenge was not given out by this relay since it started.",
    remedy: "Ask for a new challenge, and sign that.",
  },
  {
    codes: [401],
    reason: "challenge_expired",
    cause: "The challenge is older than the relay lets it become.",
    remedy: "Ask for a new challenge, and send the registration at once.",
  },
  {
    codes: [401],
    reason: "challenge_used",
    cause: "Each challenge is good for one registration, and this one was used.",
    remedy: "Ask for a new challenge, and sign that.",
  },
  {
    codes: [403],
    reason: "not_admitted",
    cause: "Outside development mode an operator says which keys may become agents, and this one is not among them.",
    remedy: "An operator adds the key to admit in handfast.toml, or sends the registration with the operator's token.",
  },
  {
    codes: [403],
    reason: "name_taken",
    cause: "The name belongs to another key, or to somebody who has a token for it.",
    remedy:
      "Use that key or token, or choose another name. If the key is lost, an operator makes the relay forget the agent.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "name_reserved",
    cause: "No agent may have this name.",
    remedy: "Choose another name.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "key_taken",
    cause: "The key is, or was, the key of another agent.",
    remedy: "Register under that agent's name, or make another key.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "key_replaced",
    cause: "The key was replaced by a newer one, and may not decide this any more.",
    remedy: "Do it with the agent's newest key.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "token_not_allowed",
    cause: "The caller gets no token for this name: the agent has a key, or only operators give tokens here.",
    remedy: "Call with the agent's key, or let an operator make the token.",
  },
  {
    codes: [403],
    reason: "not_an_agent",
    cause: "An operator's token sends and works in nobody's name.",
    remedy: "Make a token for an agent, and call with that.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "not_yours",
    cause: "Only the sender, the agent itself or an operator may do this.",
    remedy: "Call as the one it belongs to, or with the operator's token.",
  },
  {
    codes: [400],
    reason: "key_refused",
    cause: "The public key is not a sound Ed25519 key in the form of a JWK.",
    remedy: "Make a fresh Ed25519 key pair and register its public half, without the private member d.",
  },
  {
    codes: [400],
    reason: "other_agent",
    cause: "The signed document is about another agent than the address of the call.",
    remedy: "Send it to the address of the agent that it names.",
  },
  {
    codes: [429],
    reason: "too_many_keys",
    cause: "The agent has as many keys in use as it may.",
    remedy: "Revoke one that is not needed, or wait until a replaced one runs out.",
  },
  {
    codes: [429, 507],
    reason: "too_many_tokens",
    cause: "The agent, or the relay as a whole, has as many tokens as it may.",
    remedy: "Revoke tokens that are not needed.",
    mended_by: "operator",
  },
  {
    codes: [429],
    reason: "too_many_registrations",
    cause: "Very many agents register at the same moment.",
    remedy: "Wait as long as Retry-After says, then ask for a new challenge.",
  },
  {
    codes: [507],
    reason: "directory_full",
    cause: "The relay knows as many agents, or as much of their manifests, as it takes.",
    remedy: "An operator makes the relay forget agents that are gone.",
  },
  {
    codes: [400],
    reason: "manifest_malformed",
    cause: "What the agent says it offers is not of the right form.",
    remedy: "Correct the capability at the path that the detail names.",
  },
  {
    codes: [413],
    reason: "manifest_too_large",
    cause: "What the agent says it offers is larger than the relay keeps for one agent.",
    remedy: "Offer fewer capabilities under one name, or state smaller schemas.",
  },
  {
    codes: [409],
    reason: "manifest_older",
    cause: "A manifest with a newer version is in force, and an older one never takes its place.",
    remedy: "State a version above the one in force; to go back to what was, state it under a new version.",
  },
  {
    codes: [409],
    reason: "manifest_differs",
    cause: "The manifest in force has the same version and says something else.",
    remedy: "State a version above the one in force.",
  },
  {
    codes: [404],
    reason: "unknown_manifest",
    cause: "No manifest of this digest was in force here, or its agent was forgotten.",
    remedy: "List the agent's manifests, and take a digest from there.",
  },
  {
    codes: [400],
    reason: "example_unfit",
    cause: "An example in the manifest does not fit the schema of its capability.",
    remedy: "Mend the example or the schema; the problem names the example.",
  },
  {
    codes: [400],
    reason: "cost_unsealed",
    cause: "Beside the manifest stands a cost for a capability that seals none.",
    remedy: "Put the digest of the cost into the capability, or leave the cost out.",
  },
  {
    codes: [400],
    reason: "cost_differs",
    cause: "The cost beside the manifest is not the one whose digest the manifest holds.",
    remedy: "Seal it anew: SHA-256 over the 16 bytes of the salt and the canonical JSON of the cost.",
  },
  {
    codes: [400],
    reason: "cost_missing",
    cause: "The manifest seals a cost, and nothing was sent that opens it.",
    remedy: "Send salt and cost beside the manifest, in costs, under the name of the capability.",
  },
  {
    codes: [400],
    reason: "schema_refused",
    cause: "A JSON Schema uses what the relay does not take, or is too large.",
    remedy: "Change the keyword at the path that the detail names; references stay inside the schema, as #/$defs/name.",
  },

  // Signed documents
  {
    codes: [401],
    reason: "wrong_relay",
    cause: "The document is for another relay: it names another URL than this relay's public ones.",
    remedy: "Sign for the URL that the relay states at /.well-known/handfast.",
  },
  {
    codes: [401],
    reason: "bad_proof",
    cause: "The proof does not lead from the document's bytes to the signature.",
    remedy: "Sign the exact bytes that are sent, and send the index, size and path of that batch.",
  },
  {
    codes: [403],
    reason: "foreign_document",
    cause: "The document is from another agent than the caller.",
    remedy: "Send only documents that this agent signed itself.",
    mended_by: "asker",
  },
  {
    codes: [400, 401],
    reason: "document_malformed",
    cause: "The signed document is not of the form that its type asks for.",
    remedy: "Correct the member at the path that the detail names, and sign again.",
  },
  {
    codes: [400, 401],
    reason: "binds_another",
    cause: "The signed document speaks of another handoff, digest, fence or relay than the one it was sent for.",
    remedy:
      "Bind the document to the lease that was claimed: its id, digest and fence. " +
      "Where it is the relay: all nodes on one database need the same --public-url.",
  },
  {
    codes: [400],
    reason: "other_status",
    cause: "The signed outcome has another status than the operation it was sent to.",
    remedy: "Send completed outcomes to complete, failed ones to fail, rejected ones to reject.",
  },
  {
    codes: [400],
    reason: "is_redrive",
    cause: "The signed document is a redrive, and was sent as a new handoff.",
    remedy: "Send it to the dead letter's own address, /v1/dead-letters/{id}/redrive.",
  },
  {
    codes: [400, 401],
    reason: "payload_differs",
    cause: "The payload is not the one that the document was signed over.",
    remedy: "Send the bytes whose size and SHA-256 stand in the document.",
  },
  {
    codes: [400],
    reason: "payload_missing",
    cause: "The document speaks of a payload, and none came.",
    remedy: "Send the payload beside the document.",
  },
  {
    codes: [400],
    reason: "payload_unasked",
    cause: "A payload came that the document does not speak of.",
    remedy: "Leave the payload out, or sign a document that names it.",
  },
  {
    codes: [400],
    reason: "payload_encoding",
    cause: "The payload is not in base64 with padding.",
    remedy: "Encode the payload's bytes as base64 with padding.",
  },
];
