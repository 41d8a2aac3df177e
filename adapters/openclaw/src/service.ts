/** The service of the plugin: serves the configured capabilities, and brings late outcomes to their sessions. */

import type { CapabilityDefinition, Client, Server } from "@handfast/client";
import type { Logger, Runtime, Sessions } from "./openclaw.ts";
import { Inbox } from "./sender/inbox.ts";
import type { Served, Settings } from "./settings.ts";
import type { Shared } from "./shared.ts";
import { workOn } from "./worker/work.ts";

export interface ServiceParts {
  readonly settings: Settings;
  readonly shared: Shared;
  readonly logger: Logger;
  readonly sessions: Sessions;
  readonly events: Runtime["events"];
  readonly gateway: () => string;
}

/** A relay that is away when the gateway starts is waited for. */
const again_ms = 5_000;
/** OpenClaw gives a stopping service a few seconds. */
const grace = "2s";

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
    const { logger, settings } = this.#parts;
    this.#open().catch((error: unknown) => {
      if (this.#stopped.signal.aborted) return;
      logger.error(`handfast: not connected to ${settings.connect.url ?? "the relay"}: ${explain(error)}`);
      this.#timer = setTimeout(() => this.start(), again_ms);
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#mute();
    this.#inbox?.stop();
    await this.#server?.stop({ grace });
    await this.#parts.shared.close();
  }

  async #open(): Promise<void> {
    const { settings, shared, logger, sessions, events, gateway } = this.#parts;
    const client = await shared.client(settings, logger);
    if (this.#stopped.signal.aborted) return;
    this.#server ??= await this.#serve(client);
    if (this.#inbox === null) {
      const inbox = new Inbox({ client, sessions, shared, settings, logger, gateway: gateway() });
      this.#mute = events?.onAgentEvent(inbox.heard) ?? (() => {});
      inbox.start();
      this.#inbox = inbox;
    }
    const names = [...settings.capabilities.keys()];
    logger.info(
      `handfast: ${client.agent} at ${client.url}${names.length === 0 ? "" : `, serving ${names.join(", ")}`}`,
    );
  }

  async #serve(client: Client): Promise<Server | null> {
    const { settings } = this.#parts;
    if (settings.capabilities.size === 0) return null;
    const definitions = Object.fromEntries(
      [...settings.capabilities.values()].map((served) => [served.name, this.#definition(served)]),
    );
    // Signals are the gateway's.
    return client.serve(definitions, { concurrency: settings.concurrency, signals: false });
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

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "remedy" in error && typeof error.remedy === "string" ? `${error.message} ${error.remedy}` : error.message;
}
