/** Serving: handlers by capability, run for whatever the relay delivers. */

// The whole protocol, not its door for clients: the first handoff must not wait for the schemas.
import { isName, toBase64url } from "@handfast/protocol";
import type { Base } from "../base.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import type { LeaseOver } from "../link/link.ts";
import { isNode } from "../platform.ts";
import type { Sending } from "../send/api.ts";
import { BeatLoop, type Beats } from "./beats.ts";
import { type Capabilities, type CapabilityDefinition, readCapabilities, readElsewhere } from "./capabilities.ts";
import { Handlers } from "./handlers.ts";
import { serveLimits as limits } from "./limits.ts";
import { Proposing } from "./proposing.ts";
import { type Server, WorkerServer } from "./server.ts";

export type { Capabilities, CapabilityDefinition, Handler } from "./capabilities.ts";
export type { Context, Previous } from "./context.ts";
export type { Proposal, Propose } from "./propose.ts";
export type { AskOptions } from "./questions.ts";
export type { Received, Returned, StandardSchema } from "./schema.ts";
export type { Server, StopOptions } from "./server.ts";
export type { CapabilityTerms } from "./terms.ts";

/** How a worker serves. */
export interface ServeOptions {
  /** Handoffs worked on at once. Default: 10. */
  readonly concurrency?: number;
  /** The name of this process among the workers of its agent. Default: the agent's name and a short random part. */
  readonly worker?: string;
  /** How long running handlers may take to end when the worker stops. Default: 20 seconds. */
  readonly grace?: Duration;
  /** Stop in order on SIGTERM and SIGINT, then end the process; a second signal ends it at once. Default: true. */
  readonly signals?: boolean;
  /**
   * Capabilities that other processes of this agent serve: they stand in its manifest, and this process takes no work for
   * them. With it, work that names the agent and no capability is taken by none of these processes.
   */
  readonly elsewhere?: Readonly<Record<string, Omit<CapabilityDefinition, "handler">>>;
}

/** Announces the capabilities and works until it is stopped. Resolves once the relay knows them. */
export async function serve<Inputs, Outputs>(
  base: Base,
  sending: Sending,
  capabilities: Capabilities<Inputs, Outputs>,
  options: ServeOptions = {},
): Promise<Server> {
  checkOptionNames(options);
  const offered = readCapabilities(capabilities);
  const elsewhere = readElsewhere(options.elsewhere ?? {});
  const only = elsewhere.size === 0 ? null : [...offered.keys()];
  const settings = { concurrency: concurrencyOf(options), grace_ms: graceOf(options), only };
  const worker = workerOf(base, options);
  const handlers = Handlers.of(base);
  const gone = new AbortController();
  const beats = await beatsOf(base, (over) => server.over(over));
  const server = new WorkerServer({ base, sending, worker, handlers, beats, gone: gone.signal }, gone, settings);
  try {
    server.onStopped(await handlers.add(offered, elsewhere, () => server.isStopping));
    await watch(base, sending, server, options.signals ?? true);
  } catch (error) {
    server.crash();
    throw error;
  }
  const proposing = new Proposing(base, offered, () => server.isStopping);
  server.onStopped(() => proposing.stop());
  proposing.start();
  server.start();
  return server;
}

/** For tests: the worker dies without a word, as a process that was killed. */
export function crashServer(server: Server): void {
  if (server instanceof WorkerServer) server.crash();
}

const known: ReadonlySet<string> = new Set<keyof ServeOptions>([
  ...(["concurrency", "worker", "grace", "signals", "elsewhere"] as const),
]);

function checkOptionNames(options: object): void {
  const strange = Object.keys(options).find((name) => !known.has(name));
  if (strange === undefined) return;
  throw new UsageError(`There is no option ${JSON.stringify(strange)} of serve().`, `Use ${[...known].join(", ")}.`);
}

function concurrencyOf({ concurrency = limits.concurrency }: ServeOptions): number {
  if (Number.isInteger(concurrency) && concurrency >= 1) return concurrency;
  throw new UsageError(`The option concurrency is ${String(concurrency)}.`, "Give a whole number from 1 on.");
}

function graceOf({ grace = limits.grace_ms }: ServeOptions): number {
  return toMilliseconds(grace, "The option grace");
}

function workerOf({ agent, surroundings }: Base, { worker }: ServeOptions): string {
  const name =
    worker ?? `${agent.slice(0, 100)}.${toBase64url(surroundings.randomBytes(6)).replaceAll(/[^A-Za-z0-9]/g, "x")}`;
  if (isName(name)) return name;
  throw new UsageError(
    `${JSON.stringify(worker)} is no name for a worker.`,
    "Use up to 128 letters, digits, dots, underscores and hyphens, beginning with a letter or digit.",
  );
}

async function beatsOf(base: Base, onOver: (over: LeaseOver) => void): Promise<Beats> {
  if (base.beats === null) return new BeatLoop(base.link, base.surroundings, onOver);
  const { ThreadBeats } = await import("./node-beats.ts");
  return ThreadBeats.start(base, base.beats, onOver);
}

async function watch(base: Base, sending: Sending, server: WorkerServer, signals: boolean): Promise<void> {
  const close = () => void server.stop({ grace: 0 });
  base.closed.addEventListener("abort", close, { once: true });
  server.onStopped(() => base.closed.removeEventListener("abort", close));
  if (!signals || !isNode()) return;
  const { watchSignals } = await import("./node-signals.ts");
  const stop = async () => {
    await server.stop();
    await settled(base, sending);
  };
  server.onStopped(watchSignals({ stop }));
}

/** What handlers took and canceled in the background is said before the process ends, if the relay is there. */
async function settled({ surroundings }: Base, sending: Sending): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const callOff = surroundings.after(limits.errand_patience_ms, resolve, true);
  await Promise.race([sending.settled(), over]);
  callOff();
}
