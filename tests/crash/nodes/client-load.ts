/** A sender and a worker at every node, on the real client: they live through whatever happens to it. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "@handfast/client";

const capability = "double";
/** Below the time of a partition, so that leases are lost in some; far above a beat. */
const lease = "10s";
const longest_work_ms = 300;
const sends_at_once = 3;

/** What senders were told. */
export interface Told {
  /** Ids that were accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Ids whose result came, and what was wrong with some of them. */
  readonly finished: ReadonlySet<string>;
  readonly wrong: readonly string[];
}

export class ClientsAtNodes implements Told {
  readonly accepted = new Set<string>();
  readonly finished = new Set<string>();
  readonly wrong: string[] = [];
  readonly #clients: Client[] = [];
  readonly #open: number[] = [];
  readonly #waiting = new Set<() => void>();
  #is_enough = false;
  #sent: Promise<unknown> = Promise.resolve();

  static async start(urls: readonly string[], directory: string): Promise<ClientsAtNodes> {
    const load = new ClientsAtNodes();
    const open = async (url: string, agent: string) => {
      const quiet = { onConnection: () => {}, onWarning: () => {} };
      const client = await connect({ url, agent, home: join(directory, "home"), patience: "10m", ...quiet });
      load.#clients.push(client);
      return client;
    };
    for (const [nth, url] of urls.entries()) {
      const worker = await open(url, `worker-${nth}`);
      await worker.serve({ [capability]: double }, { signals: false, concurrency: 4 });
    }
    const senders: Client[] = [];
    for (const [nth, url] of urls.entries()) senders.push(await open(url, `sender-${nth}`));
    load.#open.push(...urls.map(() => 0));
    const streams = senders.flatMap((sender, nth) =>
      Array.from({ length: sends_at_once }, () => load.#send(sender, nth)),
    );
    load.#sent = Promise.all(streams);
    return load;
  }

  /** Handoffs that were sent through this node and have not ended. */
  openAt(nth: number): number {
    return this.#open[nth] ?? 0;
  }

  get open(): number {
    return this.#open.reduce((sum, open) => sum + open, 0);
  }

  /** Once so many more have ended. A load that has failed is no reason to wait on. */
  async more(count: number): Promise<void> {
    const enough = this.finished.size + count;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (this.finished.size < enough) return;
      this.#waiting.delete(look);
      resolve();
    };
    this.#waiting.add(look);
    look();
    await Promise.race([promise, this.#sent.then(() => promise)]);
  }

  /** No more is sent; resolves when everything has ended. */
  async finish(): Promise<void> {
    this.#is_enough = true;
    await this.#sent;
  }

  async close(): Promise<void> {
    this.#is_enough = true;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #send(sender: Client, nth: number): Promise<void> {
    for (let n = 0; !this.#is_enough; n += 1) {
      this.#open[nth] = this.openAt(nth) + 1;
      const handle = await sender.send<number>(capability, n, { timeout: "30m", queue: "30m", lease, attempts: 20 });
      this.accepted.add(handle.id);
      const output = await handle.result().catch((error: unknown) => error);
      if (output !== 2 * n) this.wrong.push(`${handle.id}: ${n} doubled is told to be ${String(output)}`);
      this.finished.add(handle.id);
      this.#open[nth] = this.openAt(nth) - 1;
      for (const look of [...this.#waiting]) look();
    }
  }
}

async function double(n: number): Promise<number> {
  await sleep(Math.random() * longest_work_ms);
  return 2 * n;
}
