/** What actors really said, as they sent it: the relay may only tell what someone said. */

import type { Draft, Duration, Usage } from "@handfast/core";
import type { PublicCommand, Submission } from "@handfast/engine";

/** One submit that a sender means: its retries are the same intent, whatever their ids. */
interface Intent {
  readonly contents: Set<string>;
  readonly drafts: Map<string, Draft>;
  /** By the draft's id: a key may be used by several who write something of their own. */
  readonly payloads: Map<string, Uint8Array | null>;
  /** The keys of everything that was to be accepted together with it. */
  readonly together: readonly string[];
}

/** One act on a handoff. */
interface Act {
  readonly content: string;
  readonly retryable: boolean;
  readonly retry_after_ms: Duration | null;
  readonly usage: Usage | null;
}

const noActs: readonly Act[] = [];
const plainAct: Act = { content: "", retryable: false, retry_after_ms: null, usage: null };

export class Said {
  readonly #intents = new Map<string, Intent>();
  readonly #acts = new Map<string, Act[]>();

  submitted(submissions: readonly Submission[]): void {
    const together = submissions.map(({ draft }) => draft.idempotency_key);
    for (const { draft, body } of submissions) {
      const name = intentName(draft.from, draft.idempotency_key);
      let intent = this.#intents.get(name);
      if (intent === undefined) {
        intent = { contents: new Set(), drafts: new Map(), payloads: new Map(), together };
        this.#intents.set(name, intent);
      }
      intent.contents.add(draft.content);
      intent.drafts.set(draft.id, draft);
      intent.payloads.set(draft.id, body.payload);
    }
  }

  intent(from: string, key: string): Intent | undefined {
    return this.#intents.get(intentName(from, key));
  }

  /** An act of a holder under its fence, or of someone else (no fence). */
  did(id: string, command: PublicCommand): void {
    if ("fence" in command) {
      this.#did(command.type, id, command.fence, command.agent, {
        content: "content" in command ? command.content : "",
        retryable: "retryable" in command && command.retryable,
        retry_after_ms: "retry_after_ms" in command ? command.retry_after_ms : null,
        usage: "usage" in command ? command.usage : null,
      });
    } else if (command.actor.kind !== "relay") {
      const by = command.actor.kind === "agent" ? command.actor.agent : `operator:${command.actor.name}`;
      const content = command.type === "answer" ? command.content : "";
      this.#did(command.type, id, null, by, { ...plainAct, content });
    }
  }

  /** The relay noticed that a lease never reached its worker, and gives it back. */
  gaveBack(id: string, fence: number, agent: string): void {
    this.#did("release", id, fence, agent, plainAct);
  }

  #did(type: string, id: string, fence: number | null, by: string, act: Act): void {
    const name = actName(type, id, fence, by);
    const acts = this.#acts.get(name);
    if (acts === undefined) this.#acts.set(name, [act]);
    else if (!acts.some((known) => known.content === act.content)) acts.push(act);
  }

  act(type: string, id: string, fence: number | null, by: string, content?: string): Act | undefined {
    const acts = this.#acts.get(actName(type, id, fence, by)) ?? noActs;
    return content === undefined ? acts[0] : acts.find((act) => act.content === content);
  }

  any(types: readonly string[], id: string, fence: number | null, by: string): boolean {
    return types.some((type) => this.#acts.has(actName(type, id, fence, by)));
  }
}

function intentName(from: string, key: string): string {
  return `${from} ${key}`;
}

function actName(type: string, id: string, fence: number | null, by: string): string {
  return `${type} ${id} ${fence} ${by}`;
}
