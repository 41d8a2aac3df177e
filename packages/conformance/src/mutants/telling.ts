/** Mutants that tell too little, too much, or something else than what happened. */

import type { Mutant } from "./mutant.ts";

export const telling: readonly Mutant[] = [
  {
    name: "events-skipped-on-resume",
    breaks: "Whoever goes on from a cursor misses the next event.",
    killed_by: ["STREAM-2"],
    edits: [
      {
        file: "packages/relay/src/operations/events.ts",
        find: "const after_pos = asked === undefined ? 0 : readPosition(asked);",
        replace: "const after_pos = asked === undefined ? 0 : (readPosition(asked) ?? 0) + 1;",
      },
    ],
  },
  {
    name: "correlation-lost-in-events",
    breaks: "Events name the handoff in place of its correlation.",
    killed_by: ["ID-7", "CHILD-1"],
    edits: [
      {
        file: "packages/core/src/change.ts",
        find: "correlation_id: accepted.correlation_id,",
        replace: "correlation_id: accepted.id,",
      },
    ],
  },
  {
    name: "seq-not-dense",
    breaks: "The numbers of events have gaps.",
    killed_by: ["ID-8"],
    edits: [
      {
        file: "packages/core/src/change.ts",
        find: "this.set({ seq: seq + 1 });",
        replace: "this.set({ seq: seq + 2 });",
      },
    ],
  },
  {
    name: "cursor-too-old-not-told",
    breaks: "A cursor from before the log was cut is answered with what is left, as if nothing were missing.",
    killed_by: ["KEEP-7"],
    short_lived: true,
    edits: [
      {
        file: "packages/relay/src/operations/events.ts",
        find: "if (asked !== undefined && after_pos < first.floor) throw await tooOld(source, first, rivalry(relay, caller));",
        replace: "",
      },
    ],
  },
  {
    name: "end-not-told",
    breaks: "A stream ends before the end was told.",
    killed_by: ["STREAM-1"],
    edits: [
      {
        file: "packages/relay/src/operations/events.ts",
        find: 'if (page.ended) return yield { event: "end", data: await source.end() };',
        replace: "if (page.ended) return;",
      },
    ],
  },
  {
    name: "progress-moves-the-cursor",
    breaks: "Progress has an id, so that a reader who comes back misses events.",
    killed_by: ["STREAM-3"],
    edits: [
      {
        file: "packages/relay/src/operations/event-source.ts",
        find: 'return [{ event: "progress", data:',
        replace: 'return [{ event: "progress", id: "ZTk5OTk5", data:',
      },
    ],
  },
  {
    name: "stranger-sees",
    breaks: "Every agent sees every handoff.",
    killed_by: ["SEE-2", "CANCEL-2"],
    edits: [
      {
        file: "packages/relay/src/operations/sight.ts",
        find: 'return role === "operator" || accepted.from === name || accepted.to === name;',
        replace: "return true;",
      },
    ],
  },
  {
    name: "former-holder-sees-on",
    breaks: "Whoever gave a handoff back goes on seeing it.",
    killed_by: ["SEE-4"],
    edits: [
      {
        file: "packages/relay/src/operations/sight.ts",
        find: "const next = holders[last + 1];",
        replace: "const next = holders[holders.length];",
      },
    ],
  },
  {
    name: "log-of-all",
    breaks: "An agent reads the log of all.",
    killed_by: ["LOG-1"],
    edits: [
      {
        file: "packages/relay/src/operations/log.ts",
        find: 'const agent = caller.role === "operator" ? query.agent : caller.name;',
        replace: "const { agent } = query;",
      },
    ],
  },
  {
    name: "artifact-visible-to-strangers",
    breaks: "Whoever knows a digest has the bytes.",
    killed_by: ["ARTIFACT-2"],
    edits: [
      {
        file: "packages/relay/src/artifacts/artifacts.ts",
        find: "if (stored === null || !(await this.#maySee(caller, sha256, stored))) throw unknown(sha256);",
        replace: "if (stored === null) throw unknown(sha256);",
      },
    ],
  },
  {
    name: "attested-shown-as-signed",
    breaks: "What the relay wrote itself is shown as the agent's own.",
    killed_by: ["CALL-6", "TYPE-1"],
    edits: [
      {
        file: "packages/relay/src/operations/acts.ts",
        find: '    evidence: "attested",\n',
        replace: '    evidence: "signed",\n',
      },
    ],
  },
  {
    name: "unfit-output-blames-gateway",
    breaks: "Output that does not fit is answered with HTTP 502.",
    killed_by: ["HOLD-6"],
    edits: [
      {
        file: "packages/relay/src/transports/problem-document.ts",
        find: "return code === 502 ? 422 : code;",
        replace: "return code;",
      },
    ],
  },
  {
    name: "redrive-loses-original",
    breaks: "An unedited redrive does not carry the sender's own document.",
    killed_by: ["AFTER-5"],
    edits: [
      {
        file: "packages/relay/src/operations/dead-letters.ts",
        find: "  if (!unedited) return act;",
        replace: "  if (unedited || !unedited) return act;",
      },
    ],
  },
  {
    name: "mark-ignored",
    breaks: "Whoever follows a list is answered at once while anything stays in it.",
    killed_by: ["CALL-21"],
    edits: [
      {
        file: "packages/relay/src/operations/read.ts",
        find: "since === undefined ? isEmpty : () => wakeups.mark(key) === since;",
        replace: "isEmpty;",
      },
    ],
  },
];
