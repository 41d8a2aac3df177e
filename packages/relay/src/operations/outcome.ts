/** What a worker says came of its work: complete, fail, reject. */

import type { Usage } from "@handfast/core";
import type { PublicCommand } from "@handfast/engine";
import type { HandoffDocument, OutcomeDocument } from "@handfast/protocol";
import {
  outcome_reply,
  plain_complete,
  plain_fail,
  plain_reject,
  type SignedBody,
  signed_body,
} from "@handfast/protocol/wire";
import { outputFault } from "../contracts/asker-schemas.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { type Act, attestedAct, signedAct } from "./acts.ts";
import { outcomeContent } from "./content.ts";
import { boundTo, showHeld } from "./hold.ts";
import { accomplished, checkBinding, type Holding, holdingOf } from "./holding.ts";
import { json, operation, type Reply } from "./operation.ts";
import { type Sealed, sealJson, sealText } from "./payloads.ts";
import { idParams } from "./read.ts";
import type { Relay } from "./relay.ts";
import { codeOf } from "./view.ts";

type Said = Omit<
  OutcomeDocument,
  "v" | "typ" | "relay" | "namespace" | "from" | "id" | "handoff" | "fence" | "worker" | "manifest"
>;
type Plain = { readonly fence: number; readonly worker?: string };

interface Given {
  readonly holding: Holding;
  readonly act: Act<"outcome">;
}

const shape = {
  method: "POST",
  tag: "workers",
  access: "caller",
  params: idParams,
  signed: signed_body,
  replies: { 200: outcome_reply },
  problems: [401, 403, 404, 408, 409, 410, 412, 413, 507],
} as const;

export const complete = operation(
  {
    ...shape,
    name: "complete",
    path: "/v1/handoffs/{id}/complete",
    summary:
      "The work is done. Output that does not fit its schema is answered with the reason, and the lease is kept.",
    body: plain_complete,
    problems: [...shape.problems, 422],
  },
  async ({ relay, caller, params, body }) => {
    const given = await outcomeOf(relay, caller, params.id, body, "completed", (plain) => {
      const { output, text, fence: _fence, worker: _worker, ...rest } = plain;
      if ((output === undefined) === (text === undefined)) {
        throw new Problem(400, "one_output", 'Give either "output" (JSON) or "text", not both and not neither.', {
          fields: ["/output", "/text"],
        });
      }
      const sealed = text === undefined ? sealJson(relay, output) : sealText(relay, text);
      return { said: { status: "completed", code: 200, ...rest, output: sealed.digest }, sealed };
    });
    const { document, payload } = given.act;
    if (document.output === undefined || payload === null) throw new Error("a completed outcome without output");
    const misfit = await misfitOf(relay, given, document.output.media_type, payload);
    return give(relay, caller, given, { type: "complete", output: document.output, ...misfit });
  },
);

/** Against the agent's manifest and against what the sender expects. */
async function misfitOf(relay: Relay, { holding }: Given, media_type: string, bytes: Uint8Array) {
  const { accepted } = holding.handoff;
  const body = await relay.engine.body(accepted.namespace, accepted.id, "handoff", 0);
  const document: HandoffDocument | null = body?.document == null ? null : JSON.parse(body.document);
  const expected = document?.expects?.output_schema;
  const content = { media_type, bytes };
  const found = relay.directory.checkOutput(holding.handoff, holding.agent, expected, content);
  if (found !== null) return { fault: found.error, beyond_offer: found.beyond_offer };
  const agreed = accepted.contract === undefined ? undefined : relay.contracts.get(accepted.contract.id);
  return { fault: agreed === undefined ? null : outputFault(relay.schemas, agreed, content) };
}

export const fail = operation(
  {
    ...shape,
    name: "fail",
    path: "/v1/handoffs/{id}/fail",
    summary: "The work failed. Retryable: another attempt, if one is left.",
    body: plain_fail,
  },
  async ({ relay, caller, params, body }) => {
    const given = await outcomeOf(relay, caller, params.id, body, "failed", (plain) => {
      const { fence: _fence, worker: _worker, ...rest } = plain;
      return { said: { status: "failed", code: 500, ...rest }, sealed: null };
    });
    const { document } = given.act;
    return give(relay, caller, given, {
      type: "fail",
      error: errorOf(document),
      output: null,
      retryable: document.retryable ?? false,
      retry_after_ms: document.retry_after_ms ?? null,
    });
  },
);

export const reject = operation(
  {
    ...shape,
    name: "reject",
    path: "/v1/handoffs/{id}/reject",
    summary: "Not for this agent: another one may take it, and no attempt is counted.",
    body: plain_reject,
  },
  async ({ relay, caller, params, body }) => {
    const given = await outcomeOf(relay, caller, params.id, body, "rejected", (plain) => {
      const { fence: _fence, worker: _worker, ...rest } = plain;
      return { said: { status: "rejected", code: 501, ...rest }, sealed: null };
    });
    return give(relay, caller, given, { type: "reject", error: errorOf(given.act.document) });
  },
);

async function outcomeOf<P extends Plain>(
  relay: Relay,
  caller: Caller,
  id: string,
  body: P | SignedBody,
  status: OutcomeDocument["status"],
  say: (plain: P) => { readonly said: Said; readonly sealed: Sealed | null },
): Promise<Given> {
  if ("signed" in body) {
    const act = await signedAct(relay, caller, "outcome", body.signed, ({ output }) => output);
    if (act.document.status !== status) {
      const detail = `The document says ${act.document.status}; this is the place for ${status}.`;
      throw new Problem(400, "other_status", detail, { fields: ["/signed/document/status"] });
    }
    const holding = await holdingOf(relay, caller, id, act.document, "ends");
    checkBinding(holding, act.document);
    await relay.artifacts.checkReferences(caller, act.document.artifacts ?? []);
    return { holding, act };
  }
  const holding = await holdingOf(relay, caller, id, body, "ends");
  const { said, sealed } = say(body);
  await relay.artifacts.checkReferences(caller, said.artifacts ?? []);
  return { holding, act: attestedAct(relay, "outcome", holding.agent, { ...boundTo(holding), ...said }, sealed) };
}

type OutcomeCommand = Extract<PublicCommand, { type: "complete" | "fail" | "reject" }>;
type Particular<C> = C extends OutcomeCommand
  ? Omit<C, "agent" | "fence" | "worker" | "content" | "evidence" | "usage" | "artifacts">
  : never;

async function give(
  relay: Relay,
  caller: Caller,
  given: Given,
  particular: Particular<OutcomeCommand>,
): Promise<Reply> {
  const { holding, act } = given;
  const { agent, fence, worker, handoff } = holding;
  const artifacts = (act.document.artifacts ?? []).map(({ sha256 }) => sha256);
  const common = {
    agent,
    fence,
    worker,
    content: outcomeContent(act.document, act.payload),
    evidence: act.evidence,
    usage: usageOf(act.document),
    artifacts,
  };
  const enclosure = {
    body: { kind: "outcome", document: act.text, proof: act.proof, payload: act.payload },
    artifacts,
  } as const;
  const command: OutcomeCommand = { ...particular, ...common };
  const answer = await relay.engine.perform(caller.namespace, handoff.accepted.id, command, enclosure);
  const after = accomplished(answer);
  return json({ ...showHeld(relay, after), code: codeOf(after) });
}

function usageOf({ usage }: OutcomeDocument): Usage | null {
  return usage === undefined ? null : { cost: usage.cost ?? 0, tokens: usage.tokens ?? 0 };
}

function errorOf({ error }: OutcomeDocument) {
  if (error === undefined) throw new Error("a failed or rejected outcome without an error");
  return { reason: error.reason, message: error.message };
}
