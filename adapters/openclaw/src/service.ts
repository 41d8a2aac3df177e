/** The service of the plugin: serves the configured capabilities, and brings late outcomes to their sessions. */

import { setTimeout as sleep } from "node:timers/promises";
import type { CapabilityDefinition, Client, Server } from "@handfast/client";
import type { Connection } from "./connection.ts";
import type { Logger, Runtime, Sessions } from "./openclaw.ts";
import { Inbox } from "./sender/inbox.ts";
import type { Served, Settings } from "./settings.ts";
import type { Shared } from "./shared.ts";
import { isRefusal } from "./told.ts";
import { workOn } from "./worker/work.ts";

export interface ServiceParts {
  readonly settings: Settings;
  readonly connection: Connection;
  readonly shared: Shared;
  readonly logger: Logger;
  readonly sessions: Sessions;
  readonly events: Runtime["events"];
  readonly gateway: () => string;
}

/** A relay that is away when the gateway starts is waited for. */
const again_ms = 5_000;
/**
 * OpenClaw gives a stopping service five seconds, and calls off the whole reload when it takes longer. Within them what
 * is worked on gets a moment to end, and is then given back; whoever serves next goes on with it.
 */
const grace = "1s";
const stop_ms = 4_000;

export class HandfastService {
  readonly #parts: ServiceParts;
  readonly #stopped = new AbortController();
  #inbox: Inbox | null = null;
  #server: Server | null = null;
  #mute = () => {};
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** Does not wait for the relay: the gateway starts without it. */
  start(): void {
    this.#parts.shared.serve(this.#parts.connection);
    this.#open().catch((error: unknown) => {
      if (this.#stopped.signal.aborted) return;
      this.#parts.logger.error(`handfast: ${explain(error)}`);
      this.#timer = setTimeout(() => this.start(), again_ms);
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#mute();
    this.#inbox?.stop();
    this.#parts.shared.unserve(this.#parts.connection);
    // Leases that could not be given back by then (the relay is away) end by the relay's clock.
    await Promise.race([this.#end(), sleep(stop_ms, undefined, { ref: false })]);
  }

  async #end(): Promise<void> {
    await this.#server?.stop({ grace });
    await this.#parts.connection.close();
  }

  async #open(): Promise<void> {
    const { settings, connection, logger } = this.#parts;
    const client = await connection.client().catch((error: unknown) => {
      throw new Error(`not connected to ${settings.connect.url ?? "the relay"}: ${explain(error)}`);
    });
    if (this.#stopped.signal.aborted) return;
    // Outcomes come to their sessions whatever is wrong with what is served.
    this.#inbox ??= this.#listen(client);
    const served = await this.#serve(client).catch((error: unknown) => {
      throw new Error(`connected to ${client.url}, but not serving yet: ${explain(error)}`);
    });
    if (this.#stopped.signal.aborted) return;
    logger.info(
      `handfast: ${client.agent} at ${client.url}${served.length === 0 ? "" : `, serving ${served.join(", ")}`}`,
    );
  }

  #listen(client: Client): Inbox {
    const { settings, shared, logger, sessions, events, gateway } = this.#parts;
    const inbox = new Inbox({ client, sessions, shared, settings, logger, gateway: gateway() });
    this.#mute = events?.onAgentEvent(inbox.heard) ?? (() => {});
    inbox.start();
    return inbox;
  }

  /** Answers the names of what is served. A capability that is refused is named, and the others are served. */
  async #serve(client: Client): Promise<readonly string[]> {
    const all = [...this.#parts.settings.capabilities.values()];
    try {
      return await this.#serveAll(client, all);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const good = await this.#goodOnes(client, all);
      // Each by itself is taken: it is not one of them that is wrong.
      if (good.length === all.length) throw error;
      return this.#serveAll(client, good);
    }
  }

  async #serveAll(client: Client, wanted: readonly Served[]): Promise<readonly string[]> {
    if (wanted.length === 0) return [];
    const server = await this.#offer(client, wanted);
    if (this.#stopped.signal.aborted) await server.stop({ grace: 0 });
    this.#server = server;
    return wanted.map(({ name }) => name);
  }

  async #goodOnes(client: Client, all: readonly Served[]): Promise<readonly Served[]> {
    const good: Served[] = [];
    for (const served of all) {
      try {
        const server = await this.#offer(client, [served]);
        await server.stop({ grace: 0 });
        good.push(served);
      } catch (error) {
        if (!isRefused(error)) throw error;
        const place = `plugins.entries.handfast.config.capabilities.${served.name}`;
        this.#parts.logger.error(
          `handfast: the capability ${served.name} is not served: ${explain(error)} It stands in openclaw.json at ${place}.`,
        );
      }
    }
    return good;
  }

  #offer(client: Client, wanted: readonly Served[]): Promise<Server> {
    const definitions = Object.fromEntries(wanted.map((served) => [served.name, this.#definition(served)]));
    // Signals are the gateway's.
    return client.serve(definitions, { concurrency: this.#parts.settings.concurrency, signals: false });
  }

  #definition(served: Served): CapabilityDefinition {
    const { sessions, events, shared, logger } = this.#parts;
    const { name: _, agent: __, instructions: ___, ...manifest } = served;
    return {
      ...manifest,
      handler: (input, context) => workOn({ sessions, events, shared, logger }, served, input, context),
    };
  }
}

/** Codes by which a relay says that it does not take this very manifest. */
const refused_content: ReadonlySet<number> = new Set([400, 413, 422]);

/** For what the capability is: not for who offers it, nor because the relay or this client is away. */
function isRefused(error: unknown): boolean {
  if (!isRefusal(error) || error.retryable || error.reason === "closed") return false;
  return error.code === undefined || refused_content.has(error.code);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "remedy" in error && typeof error.remedy === "string" ? `${error.message} ${error.remedy}` : error.message;
}
