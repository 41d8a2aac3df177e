/** What actors really said, as they sent it: the relay may only tell what someone said. */

import type { Draft } from "@handfast/core";

/** One submit that a sender means: its retries are the same intent, whatever their ids. */
export interface Intent {
  readonly from: string;
  readonly key: string;
  readonly contents: Set<string>;
  readonly drafts: Map<string, Draft>;
}

export class Said {
  readonly #intents = new Map<string, Intent>();
  readonly #acts = new Map<string, { readonly content: string; readonly retryable: boolean }[]>();

  submitted(draft: Draft): void {
    const name = JSON.stringify([draft.from, draft.idempotency_key]);
    const intent = this.#intents.get(name) ?? {
      from: draft.from,
      key: draft.idempotency_key,
      contents: new Set<string>(),
      drafts: new Map<string, Draft>(),
    };
    intent.contents.add(draft.content);
    intent.drafts.set(draft.id, draft);
    this.#intents.set(name, intent);
  }

  intent(from: string, key: string): Intent | undefined {
    return this.#intents.get(JSON.stringify([from, key]));
  }

  /** An act of a worker under a fence, or of a sender (`fence` null). */
  did(type: string, id: string, fence: number | null, agent: string, content = "", retryable = false): void {
    const name = actName(type, id, fence, agent);
    const acts = this.#acts.get(name) ?? [];
    this.#acts.set(name, acts);
    acts.push({ content, retryable });
  }

  act(type: string, id: string, fence: number | null, agent: string, content?: string) {
    return this.#acts
      .get(actName(type, id, fence, agent))
      ?.find((act) => content === undefined || act.content === content);
  }

  any(types: readonly string[], id: string, fence: number | null, agent: string): boolean {
    return types.some((type) => this.act(type, id, fence, agent) !== undefined);
  }
}

function actName(type: string, id: string, fence: number | null, agent: string): string {
  return `${type} ${id} ${fence} ${agent}`;
}
