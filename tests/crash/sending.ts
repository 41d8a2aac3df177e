/**
 * A sender that can be killed at any moment: what it intends is on its own disk before it is sent, so that the next life
 * sends the same again, finds what was accepted, and applies each outcome once.
 */

import type { Journal, Opened } from "./journal.ts";
import { sayReady, toldToFinish } from "./life.ts";
import type { SenderLine } from "./lines.ts";
import { type Done, drawTask } from "./task.ts";

type Intent = Extract<SenderLine, { readonly said: "intends" }>;

/** An end as the relay tells it. */
export interface Ended {
  readonly key: string;
  readonly id: string;
  readonly state: string;
  readonly fence: number | null;
  readonly output: Done | null;
}

/** How a sender speaks to the relay. */
export interface Desk {
  /** Makes an id where the sender does; null: the client makes it. */
  newId(): string | null;
  submit(intent: Intent): Promise<{ readonly id: string; readonly repeated: boolean }>;
  ended(id: string): Promise<Ended>;
  take(id: string): Promise<void>;
  /** Every outcome that was not taken yet. */
  untaken(): AsyncIterable<Ended>;
}

interface Errand {
  readonly intent: Intent;
  /** Null: not known to be accepted. */
  id: string | null;
}

const at_once = 16;
const per_correlation = 5;
/** Most leases are as short as they may be, so that killed workers are noticed between two kills of the relay. */
const short_lease_ms = 2_000;
const long_lease_ms = 6_000;
const per_long_lease = 8;

/** `is_rich`: whether it can answer questions. */
export async function sendUntilFinished(
  desk: Desk,
  agent: string,
  opened: Opened<SenderLine>,
  is_rich: boolean,
): Promise<void> {
  const sender = new Sender(desk, agent, opened, is_rich);
  void toldToFinish().then(() => sender.finish());
  await sender.run();
}

class Sender {
  readonly #desk: Desk;
  readonly #agent: string;
  readonly #is_rich: boolean;
  readonly #journal: Journal<SenderLine>;
  readonly #open: Map<string, Errand>;
  #serial: number;
  #finishing = false;

  constructor(desk: Desk, agent: string, { journal, lines }: Opened<SenderLine>, is_rich: boolean) {
    this.#desk = desk;
    this.#agent = agent;
    this.#is_rich = is_rich;
    this.#journal = journal;
    this.#open = openErrands(lines);
    this.#serial = lines.filter(({ said }) => said === "intends").length;
    if (lines.length > 0) this.#tellOfReturn();
  }

  finish(): void {
    this.#finishing = true;
  }

  async run(): Promise<void> {
    sayReady();
    for await (const ended of this.#desk.untaken()) await this.#settle(ended);
    const left = [...this.#open.values()];
    await Promise.all(Array.from({ length: at_once }, () => this.#sendOn(left)));
  }

  async #sendOn(left: Errand[]): Promise<void> {
    for (;;) {
      const errand = left.shift() ?? (this.#finishing ? null : this.#intend());
      if (errand === null) return;
      const id = errand.id ?? (await this.#submit(errand));
      await this.#settle(await this.#desk.ended(id));
    }
  }

  #intend(): Errand {
    const serial = this.#serial;
    this.#serial += 1;
    const intent: Intent = {
      said: "intends",
      key: `${this.#agent}-${serial}`,
      id: this.#desk.newId(),
      correlation: `${this.#agent}-group-${Math.floor(serial / per_correlation)}`,
      lease_ms: serial % per_long_lease === 0 ? long_lease_ms : short_lease_ms,
      task: drawTask(this.#is_rich),
    };
    this.#journal.writeSafely(intent);
    const errand = { intent, id: null };
    this.#open.set(intent.key, errand);
    return errand;
  }

  async #submit(errand: Errand): Promise<string> {
    const { id, repeated } = await this.#desk.submit(errand.intent);
    errand.id = id;
    this.#journal.write({ said: "accepted", key: errand.intent.key, id, repeated });
    return id;
  }

  /** The outcome is applied here, on this disk, before the relay hears that it was taken. */
  async #settle({ key, id, state, fence, output }: Ended): Promise<void> {
    this.#journal.writeSafely({ said: "outcome", key, id, state, fence, output });
    await this.#desk.take(id);
    this.#journal.write({ said: "taken", key });
    this.#open.delete(key);
  }

  #tellOfReturn(): void {
    const errands = [...this.#open.values()];
    const finds_again = errands.filter(({ id }) => id !== null).length;
    this.#journal.write({ said: "came back", sends_again: errands.length - finds_again, finds_again });
  }
}

function openErrands(lines: readonly SenderLine[]): Map<string, Errand> {
  const open = new Map<string, Errand>();
  for (const line of lines) {
    if (line.said === "intends") open.set(line.key, { intent: line, id: null });
    if (line.said === "accepted") {
      const errand = open.get(line.key);
      if (errand !== undefined) errand.id = line.id;
    }
    if (line.said === "taken") open.delete(line.key);
  }
  return open;
}
