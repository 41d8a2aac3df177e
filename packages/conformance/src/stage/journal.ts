/** What a check said and what it was answered, kept to explain a promise that was not kept. */

import { shown } from "../broken.ts";

export interface Exchange {
  readonly who: string;
  readonly sent: string;
  readonly came: string;
}

/** The last exchanges say what went wrong; those long before only fill the page. */
const kept_exchanges = 6;

export class Journal {
  readonly #exchanges: Exchange[] = [];

  note(who: string, sent: readonly unknown[], came: readonly unknown[]): void {
    const words = (parts: readonly unknown[]) =>
      parts
        .filter((part) => part !== undefined)
        .map(shown)
        .join(" ");
    this.#exchanges.push({ who, sent: words(sent), came: words(came) });
    if (this.#exchanges.length > kept_exchanges) this.#exchanges.shift();
  }

  get exchanges(): readonly Exchange[] {
    return [...this.#exchanges];
  }
}
