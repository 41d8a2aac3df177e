/** Mistakes of a store, or of what a relay does with one. */

import type { Handoff } from "@handfast/core";
import type { Store, Unit, UnitResult, Write } from "@handfast/engine";
import type { Mistake } from "./mistake.ts";
import { replaced } from "./replaced.ts";

export const droppedWrite: Mistake = {
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

export const answerBeforeCommit: Mistake = {
  store: (store, timeline) =>
    replaced<Store>(store, {
      commit: async (units) => {
        // What comes of it nobody asks any more.
        timeline.schedule(20, () => void store.commit(units).catch(() => {}));
        return units.map(() => "ok" as const);
      },
    }),
};

export const errorCarriedOn: Mistake = {
  store: (store) =>
    replaced<Store>(store, {
      commit: async (units) => {
        try {
          return await store.commit(units);
        } catch {
          await store.recover();
          return units.map(() => "ok" as const);
        }
      },
    }),
};

export const lostTimer: Mistake = {
  disk: (disk) =>
    replaced<Store>(disk, {
      due: async (now, limit) => (await disk.due(now, limit)).filter(({ id }) => !id.endsWith("7")),
    }),
};

export const laneBackwards: Mistake = {
  disk: (disk) =>
    replaced<Store>(disk, {
      laneMembers: async (namespace, lane, limit) => (await disk.laneMembers(namespace, lane, limit)).toReversed(),
    }),
};

/** What one process did not see itself, it does not know; and no index on disk refuses it. */
export const keysInMemory: Mistake = {
  store: (store) => {
    const known = new Map<string, { readonly id: string; readonly content: string }>();
    return replaced<Store>(store, {
      commit: async (units) => {
        const results = await store.commit(units);
        for (const { next, expected_version } of units.flatMap(({ writes }) => writes)) {
          if (expected_version === 0)
            known.set(`${next.accepted.from} ${next.accepted.idempotency_key}`, next.accepted);
        }
        return results;
      },
      key: async (_, from, key) => known.get(`${from} ${key}`) ?? null,
    });
  },
  disk: (disk) =>
    replaced<Store>(disk, {
      commit: (units) => disk.commit(units.map((unit) => ({ ...unit, writes: unit.writes.map(uniqueKey) }))),
      load: async (namespace, ids) => (await disk.load(namespace, ids)).map((one) => one && ownKey(one)),
      list: async (query) => {
        const page = await disk.list(query);
        return { ...page, handoffs: page.handoffs.map(ownKey) };
      },
    }),
};

const key_end = " of ";

function uniqueKey(write: Write): Write {
  const { id, idempotency_key } = write.next.accepted;
  return { ...write, next: keyed(write.next, `${idempotency_key}${key_end}${id}`) };
}

function ownKey(handoff: Handoff): Handoff {
  return keyed(handoff, handoff.accepted.idempotency_key.split(key_end)[0] ?? "");
}

function keyed(handoff: Handoff, idempotency_key: string): Handoff {
  return { ...handoff, accepted: { ...handoff.accepted, idempotency_key } };
}

export const childrenLeftRunning: Mistake = {
  disk: (disk) => replaced<Store>(disk, { openChildren: async () => [] }),
};

export const eventsRenumbered: Mistake = {
  store: (store) => {
    const seen = new Set<string>();
    const renumbered = (handoff: Handoff | null): Handoff | null => {
      if (handoff === null || seen.has(handoff.accepted.id)) return handoff;
      seen.add(handoff.accepted.id);
      return { ...handoff, seq: 0 };
    };
    return replaced<Store>(store, {
      load: async (namespace, ids) => (await store.load(namespace, ids)).map(renumbered),
    });
  },
};

export const wakeupLost: Mistake = {
  store: (store) => {
    let asked = 0;
    return replaced<Store>(store, {
      candidates: async (query) => {
        asked += 1;
        return asked % 5 === 0 ? [] : store.candidates(query);
      },
    });
  },
};

export const outputNotKept: Mistake = {
  disk: (disk) =>
    replaced<Store>(disk, {
      commit: (units) =>
        disk.commit(
          units.map(({ writes, records }) => ({
            records,
            writes: writes.map((write) => ({
              ...write,
              bodies: write.bodies.filter(({ kind, number }) => kind !== "outcome" || number === 1),
            })),
          })),
        ),
    }),
};
