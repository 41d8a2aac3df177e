/** Whether somebody is there to do the work. */

import type { Need } from "@handfast/protocol/wire";
import type { Criterion } from "../criterion.ts";
import { presenceWords } from "../sentences.ts";

export function presenceCriteria({ live }: Need): readonly Criterion[] {
  if (live !== true) return [];
  return [
    {
      meets: ({ liveness }) => liveness.state === "live",
      why: ({ liveness }) => presenceWords(liveness),
      lacks: ({ liveness }) => presenceWords(liveness),
    },
  ];
}
