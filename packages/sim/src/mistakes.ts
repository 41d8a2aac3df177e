/** Mistakes that systems of this kind have really made, put back one at a time: the simulator must find each. */

import { liveLease } from "@handfast/core";
import type { Store, Unit, UnitResult } from "@handfast/engine";
import type { Front } from "./relay.ts";
import type { Mistake } from "./simulate.ts";

/** The same object with some methods replaced. */
function replaced<T extends object>(original: T, methods: Partial<T>): T {
  return new Proxy(original, {
    get: (target, name) => {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}

/** Every 50th commit says "ok" for a unit that it does not write. */
const droppedWrite: Mistake = {
  disk: (disk) => {
    let commits = 0;
    const commit = async (units: readonly Unit[]): Promise<readonly UnitResult[]> => {
      commits += 1;
      if (commits % 50 !== 0) return disk.commit(units);
      return [...(await disk.commit(units.slice(0, -1))), "ok"];
    };
    return replaced(disk, { commit });
  },
};

/** Answers leave before the bytes are safe. */
const answerBeforeCommit: Mistake = {
  store: (store, timeline) =>
    replaced<Store>(store, {
      commit: async (units) => {
        timeline.schedule(20, () => void store.commit(units).catch(() => {}));
        return units.map(() => "ok" as const);
      },
    }),
};

/** An outcome counts whatever fence it comes under. */
const staleFenceAccepted: Mistake = {
  front: (front) =>
    replaced<Front>(front, {
      perform: async (namespace, id, command, enclosure) => {
        const lease = command.type === "complete" ? liveLease((await front.get(namespace, id)) ?? neverHeld) : null;
        if (lease === null || command.type !== "complete") return front.perform(namespace, id, command, enclosure);
        const { fence, agent } = lease;
        return front.perform(namespace, id, { ...command, fence, agent }, enclosure);
      },
    }),
};
const neverHeld = { status: { state: "queued" } } as Parameters<typeof liveLease>[0];

/** Two workers that ask at the same time are given the same work. */
const deliveredTwice: Mistake = {
  front: (front) => {
    let last: Awaited<ReturnType<Front["claim"]>> = [];
    return replaced<Front>(front, {
      claim: async (claim) => {
        const leases = await front.claim(claim);
        if (leases.length > 0) last = leases;
        return leases.length === 0 ? last.slice(0, 1) : leases;
      },
    });
  },
};

/** Some handoffs' timers are never found again. */
const lostTimer: Mistake = {
  disk: (disk) =>
    replaced<Store>(disk, {
      due: async (now, limit) => (await disk.due(now, limit)).filter(({ id }) => !id.endsWith("7")),
    }),
};

/** The lane's last is taken for its first. */
const laneReversed: Mistake = {
  disk: (disk) =>
    replaced<Store>(disk, {
      laneMembers: async (namespace, lane, limit) => (await disk.laneMembers(namespace, lane, limit)).toReversed(),
    }),
};

/** Idempotency keys are forgotten with the memory. */
const keysForgotten: Mistake = {
  disk: (disk) => replaced<Store>(disk, { key: async () => null }),
};

/** A failure that a retry could mend is taken for final. */
const falseDeadLetter: Mistake = {
  front: (front) =>
    replaced<Front>(front, {
      perform: (namespace, id, command, enclosure) =>
        front.perform(namespace, id, command.type === "fail" ? { ...command, retryable: false } : command, enclosure),
    }),
};

/** A repeated claim is taken for a new one. */
const claimNotRemembered: Mistake = {
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

export const mistakes: Readonly<Record<string, Mistake>> = {
  "a committed write is dropped": droppedWrite,
  "answers leave before the commit": answerBeforeCommit,
  "an outcome under a stale fence is accepted": staleFenceAccepted,
  "work is given to two workers": deliveredTwice,
  "a timer is lost": lostTimer,
  "a lane is read backwards": laneReversed,
  "idempotency keys are forgotten": keysForgotten,
  "a dead letter still had an attempt left": falseDeadLetter,
  "a repeated claim gets other leases": claimNotRemembered,
};
