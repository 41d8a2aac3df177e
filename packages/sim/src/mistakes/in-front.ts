/** Mistakes at the relay's front: in what callers are answered, or in what reaches the engine. */

import { type Handoff, hasEnded } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import type { Front } from "../world/relay-process.ts";
import type { Mistake } from "./mistake.ts";
import { replaced } from "./replaced.ts";

export const deliveredTwice: Mistake = {
  front: (front) => {
    let last: readonly Handoff[] = [];
    return replaced<Front>(front, {
      claim: async (claim) => {
        const leases = await front.claim(claim);
        if (leases.length > 0) last = leases;
        return leases.length === 0 ? last.slice(0, 1) : leases;
      },
    });
  },
};

export const claimNotRemembered: Mistake = {
  front: (front) => {
    let claims = 0;
    return replaced<Front>(front, {
      claim: (claim) => {
        claims += 1;
        return front.claim({ ...claim, request_id: `${claim.request_id}-${claims}` });
      },
    });
  },
};

export const batchNotAtomic: Mistake = {
  front: (front) =>
    replaced<Front>(front, {
      submit: async (submissions) => {
        const answers = [];
        for (const submission of submissions) answers.push(await front.submit([submission]));
        return (
          answers.find(({ ok }) => !ok) ?? {
            ok: true,
            submitted: answers.flatMap((answer) => (answer.ok ? answer.submitted : [])),
          }
        );
      },
    }),
};

export const takenByReading: Mistake = {
  front: (front) =>
    replaced<Front>(front, {
      get: async (namespace, id) => {
        const handoff = await front.get(namespace, id);
        if (handoff !== null && hasEnded(handoff.status)) {
          const actor = { kind: "agent", agent: handoff.accepted.from } as const;
          await front.perform(namespace, id, { type: "take", actor });
        }
        return handoff;
      },
    }),
};

export const retryRefused: Mistake = {
  front: (front) => {
    const first = new Map<string, string>();
    const known = ({ draft }: Submission) => first.get(`${draft.from} ${draft.idempotency_key}`);
    return replaced<Front>(front, {
      submit: async (submissions) => {
        const index = submissions.findIndex((one) => known(one) !== undefined && known(one) !== one.draft.id);
        const message = "the document differs";
        if (index >= 0)
          return { ok: false, refusals: [{ index, refusal: { code: 409, reason: "key_conflict", message } }] };
        const answer = await front.submit(submissions);
        if (answer.ok) {
          for (const { draft } of submissions) first.set(`${draft.from} ${draft.idempotency_key}`, draft.id);
        }
        return answer;
      },
    });
  },
};
