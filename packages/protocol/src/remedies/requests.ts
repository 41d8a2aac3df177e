/** Reasons of the request: its fields, what they name, and how large it may be. */

import type { Reason } from "./reason.ts";

export const requestReasons: readonly Reason[] = [
  // The fields of a request
  {
    codes: [400],
    reason: "malformed",
    cause: "A value of the request is not of the form that is asked for.",
    remedy: "Correct the value that the detail names.",
  },
  {
    codes: [400],
    reason: "unknown_field",
    cause: "The request has a field that the operation does not know, most often a misspelt one.",
    remedy: "Correct or remove the field; what is your own goes under ext or labels.",
  },
  {
    codes: [400],
    reason: "missing_field",
    cause: "The request lacks a field that the operation needs.",
    remedy: "Add the field that the detail names.",
  },
  {
    codes: [400],
    reason: "unfit",
    cause: "A field has a value of the wrong kind or outside its bounds.",
    remedy: "Correct the value at the path that the detail names.",
  },
  {
    codes: [400],
    reason: "no_target",
    cause: "The handoff names neither an agent nor a capability.",
    remedy: "Name one of them: to or capability.",
  },
  {
    codes: [400],
    reason: "one_input",
    cause: "A handoff has one input: JSON as input, or plain text as text.",
    remedy: "Give one of the two.",
  },
  {
    codes: [400],
    reason: "one_output",
    cause: "An outcome has one output: JSON as output, or plain text as text.",
    remedy: "Give one of the two.",
  },
  {
    codes: [400],
    reason: "label_key",
    cause: "The name of a label has a colon, so a list could not be filtered by it.",
    remedy: "Leave the colon out of the name; values may have one.",
  },
  {
    codes: [400],
    reason: "idempotency_key",
    cause: "The header Idempotency-Key is not a key of the right form.",
    remedy: "Send 1 to 256 printable characters, once.",
  },
  {
    codes: [400],
    reason: "keys_differ",
    cause: "The header Idempotency-Key and the body name different keys.",
    remedy: "Name the key in one place, or the same in both.",
  },
  {
    codes: [400],
    reason: "key_in_header",
    cause: "In a batch each handoff has a key of its own, and the header would be for all.",
    remedy: "Leave the header out, and give each handoff its idempotency_key.",
  },
  {
    codes: [400],
    reason: "bad_cursor",
    cause: "The cursor is not one that this list gave out.",
    remedy: "Begin without a cursor, and go on with those that the answers name.",
  },
  {
    codes: [410],
    reason: "cursor_too_old",
    cause: "What came after this cursor was removed by age.",
    remedy: "Take the snapshot in the answer, and go on from the cursor given there.",
    mended_by: "asker",
  },
  {
    codes: [400],
    reason: "plan_first",
    cause: "Many dead letters are redriven by a plan that a dry run made.",
    remedy: "Make a dry run with a filter, look at it, then run the plan that it names.",
  },
  {
    codes: [404],
    reason: "unknown_plan",
    cause: "There is no such plan of this caller, or it is too old.",
    remedy: "Make a dry run, then run the plan that it names.",
  },
  {
    codes: [404],
    reason: "unknown_dead_letter",
    cause: "There is no dead letter of this id, or it belongs to another sender.",
    remedy: "List the dead letters to see the ids; an operator sees those of all senders.",
  },
  {
    codes: [404],
    reason: "unknown_correlation",
    cause: "There is no such correlation, or the caller has no part in it.",
    remedy: "Check the id and the namespace, or call as an operator.",
  },
  {
    codes: [404],
    reason: "unknown_artifact",
    cause: "There are no bytes of this SHA-256, or the caller has no part in a handoff that refers to them.",
    remedy: "Check the digest; put the bytes up before referring to them.",
  },
  {
    codes: [400],
    reason: "artifact_differs",
    cause: "The size that the reference states is not that of the bytes.",
    remedy: "State the size that the upload was answered with.",
  },
  {
    codes: [422],
    reason: "digest_differs",
    cause: "The bytes have another SHA-256 than the address says.",
    remedy: "Hash exactly the bytes that are sent, and put them up under that digest.",
  },
  {
    codes: [400],
    reason: "no_body",
    cause: "The request came without the bytes of the artifact.",
    remedy: "Send the bytes as the body.",
  },

  // Sizes
  {
    codes: [413],
    reason: "too_large",
    cause: "The body is larger than the relay takes.",
    remedy: "Send less at once; payloads above the inline limit go as artifacts.",
  },
  {
    codes: [413],
    reason: "too_many",
    cause: "A list of the request has more items than are taken at once.",
    remedy: "Send it in several parts; the limit stands in the answer.",
  },
  {
    codes: [413],
    reason: "headers_too_large",
    cause: "The headers are larger than the relay takes.",
    remedy: "Send shorter headers; what is large belongs in the body.",
  },
  {
    codes: [413],
    reason: "document_too_large",
    cause: "The document without its payload is larger than allowed.",
    remedy: "Shorten labels, schemas and ext; what is large belongs in the input or an artifact.",
  },
  {
    codes: [413],
    reason: "payload_too_large",
    cause: "The payload is larger than goes inline.",
    remedy: "Put it up as an artifact and refer to it.",
  },
  {
    codes: [413],
    reason: "artifact_too_large",
    cause: "The artifact is larger than the relay keeps.",
    remedy: "Split it, or keep it elsewhere and send its address.",
  },
  {
    codes: [413],
    reason: "checkpoint_too_large",
    cause: "The checkpoint is larger than the relay keeps.",
    remedy: "Keep only what the next attempt needs; put large state up as an artifact and keep its digest.",
  },
  {
    codes: [413],
    reason: "note_too_long",
    cause: "The note of the progress is longer than the relay keeps.",
    remedy: "Shorten the note; longer text belongs in chunks.",
  },
  {
    codes: [413],
    reason: "set_too_large",
    cause: "More dead letters fit the filter than one plan takes.",
    remedy: "Narrow the filter, and redrive in several parts.",
  },
];
