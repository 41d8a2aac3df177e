/** Known bugs that can be put back into the relay while it is loaded, to see whether the fuzzer would have found them. */

import type { Bug } from "../../support/put-back.ts";

export interface KnownBug extends Bug {
  /** Its name in a sentence. */
  readonly what: string;
  /** What the report of a run must say of it. */
  readonly shows: RegExp;
}

export const bugs: readonly KnownBug[] = [
  {
    name: "frame-ends-process",
    what: "a frame that is no frame ends the process",
    changes: [
      {
        file: "relay/src/transports/websocket/ws-socket.ts",
        sound: 'this.#socket.on("error", () => {});',
        broken: "",
      },
    ],
    shows: /ended by itself/,
  },
  {
    name: "credential-no-json",
    what: "a credential that is no JSON is a mistake of the relay",
    changes: [
      {
        file: "relay/src/identity/credential.ts",
        sound:
          "if (header === undefined || header === null || claims === undefined || claims === null || !is_spelled) {",
        broken: "if (!is_spelled) {",
      },
    ],
    shows: /made a mistake|was answered with 500/,
  },
  {
    name: "call-never-answered",
    what: "a call is never answered",
    changes: [
      {
        file: "relay/src/transports/websocket/session-call.ts",
        sound: "this.succeeded = false;\n    if (this.#is_abandoned) return;",
        broken: "this.succeeded = false;\n    if (this.#is_abandoned || problem.code === 412) return;",
      },
    ],
    shows: /no answer, and no close/,
  },
  {
    name: "problem-lacks-member",
    what: "a problem lacks a member",
    changes: [
      {
        file: "relay/src/transports/problem-document.ts",
        sound: "    retryable: known.retryable,\n",
        broken: "",
      },
    ],
    shows: /a problem document that is none/,
  },
  {
    name: "request-read-two-ways",
    what: "a request that can be read in two ways is read in one",
    changes: [
      {
        file: "relay/src/transports/http/server.ts",
        sound: "maxHeaderSize: header_bytes,",
        broken: "maxHeaderSize: header_bytes, insecureHTTPParser: true,",
      },
    ],
    shows: /hidden in another was carried out/,
  },
  {
    name: "anybody-sees-all",
    what: "anybody sees every handoff",
    changes: [
      {
        file: "relay/src/operations/parties.ts",
        sound: "if (handoff === null || !maySee(handoff, caller)) throw unknownHandoff(id);",
        broken: "if (handoff === null) throw unknownHandoff(id);",
      },
    ],
    shows: /was let in|an honest handoff failed/,
  },
  {
    name: "kept-for-ever",
    what: "what was asked for is kept for ever",
    changes: [
      {
        file: "relay/src/transports/calls.ts",
        sound: "const asked = served.get(name);\n",
        broken:
          "const asked = served.get(name);\n    Object.assign(this, { [[name, began].join()]: new Array(40_000).fill(began) });\n",
      },
    ],
    shows: /ended by itself|takes \d+ MB, more than/,
  },
  {
    name: "history-gap",
    what: "a history has a gap",
    changes: [
      {
        file: "core/src/change.ts",
        sound: "this.set({ seq: seq + 1 });",
        broken: 'this.set({ seq: seq + (body.type === "discarded" ? 2 : 1) });',
      },
    ],
    shows: /its last event is \d+, it says \d+|follows/,
  },
];
