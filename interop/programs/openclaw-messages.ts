/** What a sender has said, for a seat that is not told by lines: each message can be waited for, also one that came before. */

import { EventEmitter, once } from "node:events";
import type { SenderMessage } from "../protocol.ts";

export class Messages {
  readonly #messages: SenderMessage[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #patience_ms: number;

  constructor(patience_ms: number) {
    this.#patience_ms = patience_ms;
  }

  put(message: SenderMessage): void {
    this.#messages.push(message);
    this.#news.emit("message");
  }

  async heard<Name extends keyof SenderMessage>(tag: string, member: Name): Promise<NonNullable<SenderMessage[Name]>> {
    const signal = AbortSignal.timeout(this.#patience_ms);
    for (;;) {
      const said = this.#of(tag).find((message) => message[member] !== undefined)?.[member];
      if (said != null) return said;
      const broken = this.#of(tag).find((message) => message.broken !== undefined);
      if (broken !== undefined) throw new Error(`${tag}: ${broken.broken}`);
      await once(this.#news, "message", { signal }).catch(() => {
        throw new Error(`${member} of ${tag} did not come in ${this.#patience_ms} ms`);
      });
    }
  }

  count(tag: string, member: keyof SenderMessage): number {
    return this.#of(tag).filter((message) => message[member] !== undefined).length;
  }

  #of(tag: string): readonly SenderMessage[] {
    return this.#messages.filter((message) => message.tag === tag);
  }
}
