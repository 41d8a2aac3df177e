/** Giving work: one handoff, or a batch of which all are accepted or none. */

import { type Handoff, hasEnded } from "@handfast/core";
import type { Submission, Submitted } from "@handfast/engine";
import { makeId, protocolLimits } from "@handfast/protocol";
import {
  type PlainSubmit,
  plain_submit,
  type Receipt,
  receipt,
  receipts,
  type SignedBody,
  signed_body,
  submit_batch,
  submit_batch_documented,
} from "@handfast/protocol/wire";
import { filledIn } from "../contracts/under-contract.ts";
import type { IsRival } from "../directory/directory.ts";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { fitter } from "../schemas/fit.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { withMembers } from "./json-text.ts";
import { jsonText, operation, type RequestFacts } from "./operation.ts";
import { agentOf, rivalry } from "./parties.ts";
import { sealJson, sealText } from "./payloads.ts";
import { isEnded, outcomeBodies, untilReady, viewBytes } from "./read.ts";
import { refused } from "./refuse.ts";
import type { Relay } from "./relay.ts";
import { submissionOf } from "./submission.ts";
import { codeOf, handoffJson, nameOfCode } from "./view.ts";

export const submit = operation(
  {
    name: "submit",
    method: "POST",
    path: "/v1/handoffs",
    tag: "handoffs",
    access: "caller",
    summary: "Give work to an agent or to whoever offers a capability. Durable before the answer.",
    body: plain_submit,
    signed: signed_body,
    waits: true,
    minimal: true,
    replies: { 202: receipt, 200: receipt },
    problems: [402, 403, 404, 406, 409, 412, 413, 422, 428, 507, 508],
  },
  async ({ relay, caller, body, wait_ms, signal, request, room }) => {
    const submission = await prepare(relay, caller, body, request);
    const answer = await relay.engine.submit([submission]);
    if (!answer.ok) throw firstRefusal(answer.refusals, [submission]);
    const [submitted] = answer.submitted;
    if (submitted === undefined) throw new Error("the engine accepted nothing");
    const isRival = rivalry(relay, caller);
    if (wait_ms === 0) return jsonText(receiptJson(submitted, viewOf(submitted, request, isRival)), 202);
    const asked_at = relay.engine.now();
    const { namespace } = caller;
    const read = () =>
      relay.engine.peek(namespace, submitted.id, asked_at) ?? relay.engine.get(namespace, submitted.id);
    const isOver = (handoff: Handoff | null) => handoff === null || isEnded(handoff);
    const handoff = await untilReady(relay, caller, submitted.id, wait_ms, signal, read, isOver, isEnded);
    if (handoff === null || !hasEnded(handoff.status)) {
      return jsonText(receiptJson({ ...submitted, handoff }, viewOf({ handoff }, request, isRival)), 202);
    }
    await room(viewBytes(handoff));
    const outcomes = await outcomeBodies(relay, handoff);
    return jsonText(receiptJson({ ...submitted, handoff }, handoffJson(handoff, isRival, { outcomes })), 200);
  },
);

export const submitBatch = operation(
  {
    name: "submit_batch",
    method: "POST",
    path: "/v1/handoffs/batch",
    tag: "handoffs",
    access: "caller",
    summary: "Give many pieces of work at once: all are accepted, or none.",
    body: submit_batch,
    documented_body: submit_batch_documented,
    body_bytes: limits.batch_body_bytes,
    minimal: true,
    replies: { 202: receipts },
    problems: [402, 403, 404, 406, 409, 412, 413, 422, 428, 507, 508],
  },
  async ({ relay, caller, body, request }) => {
    if (request.idempotency_key !== null) {
      throw new Problem(400, "key_in_header", "In a batch each handoff carries its own idempotency_key.", {
        fields: ["Idempotency-Key"],
      });
    }
    const submissions: Submission[] = [];
    for (const [index, item] of body.handoffs.entries()) {
      submissions.push(await at(index, () => prepare(relay, caller, fitItem(item), request)));
    }
    const answer = await relay.engine.submit(submissions);
    if (!answer.ok) throw firstRefusal(answer.refusals, submissions);
    const isRival = rivalry(relay, caller);
    const receipts = answer.submitted.map((each) => receiptJson(each, viewOf(each, request, isRival)));
    return jsonText(`{"receipts":[${receipts.join(",")}]}`, 202);
  },
);

const fitPlain = fitter(plain_submit, "body");
const fitSigned = fitter(signed_body, "body");

function fitItem(item: Record<string, unknown>): PlainSubmit | SignedBody {
  if (Object.hasOwn(item, "signed")) {
    fitSigned(item);
    return item as SignedBody;
  }
  fitPlain(item);
  return item as PlainSubmit;
}

/** Says which handoff of the batch a problem is about. */
async function at<T>(index: number, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, reason, message, extra, retry_after_seconds } = error;
    const inside = Array.isArray(extra["fields"]) ? extra["fields"] : [""];
    const fields = inside.map((path) => `/handoffs/${index}${path}`);
    throw new Problem(code, reason, `Handoff ${index}: ${message}`, { ...extra, index, fields }, retry_after_seconds);
  }
}

/** What the headers of the request say about a handoff. */
type Headers = Pick<RequestFacts, "idempotency_key" | "traceparent">;

/** What was posted as fields of a plain submit: checked, and made ready, as if it had come by a call. */
export function preparePosted(relay: Relay, caller: Caller, body: Record<string, unknown>): Promise<Submission> {
  fitPlain(body);
  return prepare(relay, caller, body as PlainSubmit, { idempotency_key: null, traceparent: null });
}

async function prepare(
  relay: Relay,
  caller: Caller,
  body: PlainSubmit | SignedBody,
  headers: Headers,
): Promise<Submission> {
  const act =
    "signed" in body
      ? await signedSubmit(relay, caller, body, headers.idempotency_key)
      : attestedSubmit(relay, caller, body, headers);
  checkLabels(act.document.labels ?? {});
  return submissionOf(relay, caller, act);
}

/** A list is filtered by `label=key:value`, split at the first colon: such a key could never be found. */
function checkLabels(labels: Readonly<Record<string, string>>): void {
  const key = Object.keys(labels).find((name) => name.includes(":"));
  if (key === undefined) return;
  const detail = `The label ${JSON.stringify(key)} has a colon in its key; only values may have one.`;
  throw new Problem(400, "label_key", detail, { fields: ["/labels"] });
}

async function signedSubmit(
  relay: Relay,
  caller: Caller,
  { signed }: SignedBody,
  key: string | null,
): Promise<Act<"handoff">> {
  const act = await signedAct(relay, caller, "handoff", signed, ({ input }) => input);
  const { document } = act;
  if (document.redrive_of !== undefined || document.on_behalf_of !== undefined) {
    throw new Problem(400, "is_redrive", "A redrive goes to POST /v1/dead-letters/{id}/redrive.", {
      fields: ["/signed/document/redrive_of"],
    });
  }
  if (key !== null && key !== (document.idempotency_key ?? document.id)) throw keysDiffer();
  return act;
}

function attestedSubmit(
  relay: Relay,
  caller: Caller,
  body: PlainSubmit,
  { idempotency_key: key, traceparent }: Headers,
): Act<"handoff"> {
  const from = agentOf(caller);
  const { input, text, id = makeId(relay.engine.now(), relay.randomBytes(10)), ...plain } = body;
  const said = { ...filledIn(relay.contracts, from, plain), ...plain };
  if (said.to === undefined && said.capability === undefined && said.contract === undefined) {
    throw new Problem(400, "no_target", 'Name an agent ("to") or a capability ("capability").', {
      fields: ["/to", "/capability"],
    });
  }
  if ((input === undefined) === (text === undefined)) {
    throw new Problem(400, "one_input", 'Give either "input" (JSON) or "text", not both and not neither.', {
      fields: ["/input", "/text"],
    });
  }
  if (key !== null && said.idempotency_key !== undefined && key !== said.idempotency_key) throw keysDiffer();
  const idempotency_key = said.idempotency_key ?? key;
  const sealed = text === undefined ? sealJson(relay, input) : sealText(relay, text);
  const document = {
    id,
    // The body knows better than whoever carried the request.
    ...(traceparent === null ? {} : { traceparent }),
    ...said,
    ...(idempotency_key === null ? {} : { idempotency_key }),
    input: sealed.digest,
  };
  const act = attestedAct(relay, "handoff", from, document, sealed);
  if (Buffer.byteLength(act.text) <= protocolLimits.document_bytes) return act;
  const most = protocolLimits.document_bytes;
  throw new Problem(413, "document_too_large", `Everything but the input must fit into ${most} bytes.`);
}

function keysDiffer(): Problem {
  return new Problem(400, "keys_differ", "The header Idempotency-Key and the body name different keys.", {
    fields: ["Idempotency-Key", "/idempotency_key"],
  });
}

type Refusals = Extract<Awaited<ReturnType<Relay["engine"]["submit"]>>, { ok: false }>["refusals"];

function firstRefusal(refusals: Refusals, submissions: readonly Submission[]): Problem {
  const [first] = refusals;
  if (first === undefined) throw new Error("the engine refused a submit and gave no reason");
  const all = refusals.map(({ index, refusal: { code, reason, message } }) => ({
    index,
    code,
    reason,
    detail: message,
  }));
  const target = submissions[first.index]?.target;
  const versions = target?.kind === "other_versions" ? { versions: target.versions } : {};
  return refused(first.refusal, {
    ...versions,
    ...(refusals.length === 1 && first.index === 0 ? {} : { refusals: all }),
  });
}

function receiptJson({ id, handoff, repeated }: Submitted, view: string): string {
  // Where retention dropped everything but the key, all that is left to say is that it was accepted.
  const code = handoff === null ? 202 : codeOf(handoff);
  const receipt: Omit<Receipt, "handoff"> = {
    id,
    state: handoff?.status.state ?? "purged",
    code,
    name: nameOfCode(code),
    correlation_id: handoff?.accepted.correlation_id ?? null,
    digest: handoff?.accepted.digest ?? null,
    accepted_at: handoff?.accepted.accepted_at ?? null,
    deadline_at: handoff?.accepted.deadline_at ?? null,
    repeated,
  };
  return withMembers(JSON.stringify(receipt), `"handoff":${view}`);
}

/** Whoever wants little knows what it sent, and the receipt says the rest. */
function viewOf({ handoff }: Pick<Submitted, "handoff">, { minimal }: RequestFacts, isRival: IsRival): string {
  return handoff === null || minimal ? "null" : handoffJson(handoff, isRival);
}
