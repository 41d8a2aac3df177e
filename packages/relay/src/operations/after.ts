/** What a sender does with a handoff it gave: cancel it, take its outcome. */

import { closed, fields } from "@handfast/protocol";
import { handoff_view, signed_body } from "@handfast/protocol/wire";
import Type from "typebox";
import { attestedAct, signedAct } from "./acts.ts";
import { accomplished, bindsAnother } from "./holding.ts";
import { jsonText, nothing, operation } from "./operation.ts";
import { actorOf, mustSee, rivalry, seen } from "./parties.ts";
import { idParams, outcomeBodies, viewBytes } from "./read.ts";
import { handoffJson } from "./view.ts";

export const cancel = operation(
  {
    name: "cancel",
    method: "POST",
    path: "/v1/handoffs/{id}/cancel",
    tag: "handoffs",
    access: "caller",
    summary: "Call it off. The first commit wins: after an end, the answer is that end.",
    params: idParams,
    body: Type.Object({ reason: Type.Optional(fields.message), ext: Type.Optional(fields.ext) }, closed),
    signed: signed_body,
    replies: { 200: handoff_view },
    problems: [403, 404],
  },
  async ({ relay, caller, params, body, room }) => {
    const before = await seen(relay, caller, params.id);
    const { digest } = before.accepted;
    const act =
      "signed" in body
        ? await signedAct(relay, caller, "cancel", body.signed, () => undefined)
        : attestedAct(relay, "cancel", caller.name, { id: params.id, handoff: digest, ...body }, null);
    const { document } = act;
    const wrong = [...(document.id === params.id ? [] : ["id"]), ...(document.handoff === digest ? [] : ["handoff"])];
    if (wrong.length > 0) throw bindsAnother(wrong);
    const command = {
      type: "cancel",
      actor: actorOf(caller),
      reason: document.reason ?? null,
      evidence: act.evidence,
    } as const;
    const enclosure = {
      body: { kind: "cancel", document: act.text, proof: act.proof, payload: null },
      artifacts: [],
    } as const;
    const handoff = accomplished(await relay.engine.perform(caller.namespace, params.id, command, enclosure));
    await room(viewBytes(handoff));
    return jsonText(handoffJson(handoff, rivalry(relay, caller), { outcomes: await outcomeBodies(relay, handoff) }));
  },
);

export const take = operation(
  {
    name: "take",
    method: "POST",
    path: "/v1/handoffs/{id}/take",
    tag: "handoffs",
    access: "caller",
    summary: "Confirm that the outcome was received. Reading is not taking.",
    params: idParams,
    body: Type.Object({}, closed),
    minimal: true,
    replies: { 200: handoff_view, 204: null },
    problems: [403, 404, 409],
  },
  async ({ relay, caller, params, request, room }) => {
    await mustSee(relay, caller, params.id);
    const command = { type: "take", actor: actorOf(caller) } as const;
    const handoff = accomplished(await relay.engine.perform(caller.namespace, params.id, command));
    if (request.minimal) return nothing;
    await room(viewBytes(handoff));
    return jsonText(handoffJson(handoff, rivalry(relay, caller), { outcomes: await outcomeBodies(relay, handoff) }));
  },
);
