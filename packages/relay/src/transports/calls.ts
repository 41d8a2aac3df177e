/**
 * The one way from a request to an operation, whatever carried it: who calls and how often, whether the parts fit, how
 * many calls are in flight, what is counted and logged. Transports only translate, on both sides of it.
 */

import type { Surroundings } from "@handfast/engine";
import type { Logger } from "pino";
import type { Caller } from "../identity/caller.ts";
import type { RelayLimits } from "../limits.ts";
import type { Call, Operation, Reply, RequestFacts } from "../operations/operation.ts";
import type { Relay } from "../operations/relay.ts";
import { operations } from "../operations/table.ts";
import { draining, Problem } from "../problem.ts";
import { type Fit, fitter } from "../schemas/fit.ts";
import { InFlight, of_leases, type Place, vital, type WhyEnded } from "./in-flight.ts";
import { asProblem, mistake } from "./problem-document.ts";
import { RateLimit } from "./rate-limit.ts";
import { ReplyRoom } from "./reply-room.ts";
import type { Outlet, Release } from "./room-account.ts";

export type AnyCall = Call<unknown, unknown, unknown>;

/** What a request says besides its body. */
export interface Said {
  readonly params: unknown;
  readonly query: unknown;
  readonly wait_ms: number;
  readonly facts: RequestFacts;
}

/**
 * One request, as its transport sees it. Whatever it throws becomes the problem that the caller is told. What it has at
 * hand it gives at once: a promise is awaited only where there is one, as most calls of a frame need none.
 */
export interface Carrier {
  /** Aborts when its caller has gone or `end` was called. */
  readonly signal: AbortSignal;
  /** Where its answer goes. Whoever made it says when it takes nothing any more (`ReplyRoom.leave`). */
  readonly outlet: Outlet;
  /** Wait no longer: answer with what there is. */
  end(why: WhyEnded): void;
  /** Who calls; null: nobody in particular, where anyone may. */
  identify(operation: Operation): Caller | null | Promise<Caller | null>;
  said(operation: Operation): Said;
  /** The JSON of the body; asked for only where the operation takes one. */
  body(operation: Operation): unknown;
  /** When that is done, the answer was handed over, or is lost. */
  deliver(answer: Reply, call: AnyCall): void | Promise<void>;
  refuse(problem: Problem): void;
}

/** An operation with its schemas ready to be checked against. */
interface Served {
  readonly operation: Operation;
  readonly fitParams: Fit;
  readonly fitQuery: Fit;
  readonly fitPlain: Fit | null;
  readonly fitSigned: Fit | null;
  /** See `vital` and `pages`. */
  readonly is_vital: boolean;
  readonly is_page: boolean;
  /** See `of_leases`. */
  readonly is_of_leases: boolean;
}

export interface CallsOptions {
  readonly relay: Relay;
  readonly limits: RelayLimits;
  readonly log: Logger;
  readonly surroundings: Surroundings;
}

/**
 * Their answers are as large as what there is, and they wait for nothing else: room for a whole page is asked for before
 * they read anything. What other answers carry is known when they are made, and those ask for as much themselves.
 */
const pages: ReadonlySet<string> = new Set([
  "list",
  "correlation",
  "dead_letters",
  "dead_letter",
  "agents",
  "agent",
  "manifest",
  "discovery",
  "agent_card",
  "ai_catalog",
  "contracts",
  "tokens",
  "openapi",
]);

const nothing = { type: "object", additionalProperties: false, properties: {} } as never;
const noParams = fitter(nothing, "path");
const noQuery = fitter(nothing, "query");

const served: ReadonlyMap<string, Served> = new Map(
  operations.map((operation) => [
    operation.name,
    {
      operation,
      fitParams: operation.params === undefined ? noParams : fitter(operation.params, "path"),
      fitQuery: operation.query === undefined ? noQuery : fitter(operation.query, "query"),
      fitPlain: operation.body === undefined ? null : fitter(operation.body, "body"),
      fitSigned: operation.signed === undefined ? null : fitter(operation.signed, "body"),
      is_vital: vital.has(operation.name),
      is_page: pages.has(operation.name),
      is_of_leases: of_leases.has(operation.name),
    },
  ]),
);

export class Calls {
  readonly in_flight: InFlight;
  readonly room: ReplyRoom;
  readonly #relay: Relay;
  readonly #log: Logger;
  readonly #nobody: Caller;
  readonly #known: RateLimit;
  readonly #strangers: RateLimit;
  readonly #stopRevocations: () => void;

  constructor({ relay, limits, log, surroundings }: CallsOptions) {
    this.#relay = relay;
    this.#log = log;
    this.#nobody = { namespace: relay.configuration.namespace, name: "", role: "agent", key: null };
    this.in_flight = new InFlight(limits, surroundings);
    this.room = new ReplyRoom(limits, surroundings);
    const { requests_per_second: per_second, request_burst: burst } = relay.configuration.limits;
    this.#known = new RateLimit({ per_second, burst }, limits.rate_callers);
    this.#strangers = new RateLimit(
      { per_second: limits.anonymous_requests_per_second, burst: limits.anonymous_request_burst },
      limits.rate_callers,
    );
    this.#stopRevocations = relay.identity.onRevoked((agent) => this.in_flight.revoke(agent));
  }

  /** Whoever waits gets an answer now. */
  stop(): void {
    this.#stopRevocations();
    this.in_flight.stop();
  }

  /** Whoever waits gets an answer now, and nothing new is taken until `resume`. */
  drain(): void {
    this.in_flight.drain();
  }

  resume(): void {
    this.in_flight.resume();
  }

  /** From the request to its answer. Never rejects: what goes wrong is the carrier's to tell. */
  async take(name: string, carrier: Carrier): Promise<void> {
    const began = performance.now();
    const asked = served.get(name);
    let place: Place | null = null;
    let release: Release | null = null;
    let code = 500;
    try {
      if (asked === undefined) throw unknownOperation(name);
      const { operation } = asked;
      place = this.in_flight.open(asked.is_vital, carrier);
      const identified = carrier.identify(operation);
      const visitor = identified instanceof Promise ? await identified : identified;
      this.#checkDraining(asked, visitor);
      this.#notice(visitor, place);
      const said = carrier.said(operation);
      const wait_ms = this.#checkSaid(asked, said, place);
      const given = asked.fitPlain === null ? undefined : carrier.body(operation);
      const body = given instanceof Promise ? await given : given;
      checkBody(asked, body);
      const caller = visitor ?? this.#nobody;
      const room = async (bytes: number) => {
        release ??= await this.room.enter(caller.name, carrier.outlet, bytes);
      };
      const call = new TakenCall(this.#relay, carrier, { caller, visitor, said, wait_ms, body, room });
      if (asked.is_page) await room(this.#relay.limits.reply_bytes);
      const answer = await operation.run(call);
      code = "status" in answer ? answer.status : 200;
      const delivered = carrier.deliver(answer, call);
      if (delivered !== undefined) await delivered;
    } catch (error) {
      const problem = this.problemOf(error, name);
      code = problem.code;
      carrier.refuse(problem);
    } finally {
      leaveRoom(release);
      if (place !== null) this.in_flight.leave(place);
      const took_ms = performance.now() - began;
      this.#relay.metrics.called(asked === undefined ? "unknown" : name, code, took_ms);
      this.#log.debug({ operation: name, code, took_ms: Math.round(took_ms) }, "call");
    }
  }

  /** A node that takes no new work: what is left to do there is about leases, about itself, and for operators. */
  #checkDraining({ operation, is_of_leases }: Served, visitor: Caller | null): void {
    if (!this.in_flight.draining || is_of_leases || operation.tag === "relay" || visitor?.role === "operator") return;
    throw draining();
  }

  #notice(visitor: Caller | null, place: Place): void {
    if (visitor === null) return;
    this.in_flight.belongs(place, visitor);
    this.#relay.directory.seen(visitor.name, null);
  }

  /** Returns how long it will wait. */
  #checkSaid(
    { operation, fitParams, fitQuery }: Served,
    { params, query, wait_ms, facts }: Said,
    place: Place,
  ): number {
    fitParams(params);
    fitQuery(query);
    if (operation.waits !== true || wait_ms === 0) return 0;
    if (!facts.wants_stream) this.in_flight.waits(place);
    return wait_ms;
  }

  /** Who is behind a credential that comes with the call itself. */
  async authenticate(operation: Operation, authorization: string | undefined, address: string): Promise<Caller | null> {
    if (operation.access === "anyone" && authorization === undefined) {
      if (operation.tag !== "relay") this.throttleStranger(address);
      return null;
    }
    const caller = await this.#relay.identity.authenticate({ authorization }).catch((error: unknown) => {
      this.throttleStranger(address);
      throw error;
    });
    this.admit(operation, caller);
    return caller;
  }

  /** Whether somebody whose identity is proven may make this call now. */
  admit({ access }: Pick<Operation, "access">, { name, role }: Caller): void {
    throttle(this.#known, name);
    if (access === "operator" && role !== "operator") {
      throw new Problem(403, "operator_only", "This is for operators: give the operator's token.");
    }
  }

  /** Whoever proved no identity is counted by the address it comes from. */
  throttleStranger(address: string): void {
    throttle(this.#strangers, address);
  }

  /** What the caller is told; a mistake of the relay is logged, and says no more than that. */
  problemOf(error: unknown, operation: string): Problem {
    const problem = asProblem(error);
    if (problem !== null) return problem;
    this.#relay.metrics.fault("mistake");
    this.#log.error({ err: error, operation }, "the relay made a mistake");
    return mistake;
  }
}

/** One call, as its operation sees it. */
class TakenCall implements AnyCall {
  readonly relay: Relay;
  readonly caller: Caller;
  readonly visitor: Caller | null;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly wait_ms: number;
  readonly request: RequestFacts;
  readonly room: (bytes: number) => Promise<void>;
  readonly #carrier: Carrier;

  constructor(relay: Relay, carrier: Carrier, parts: Pick<AnyCall, Given> & { readonly said: Said }) {
    this.relay = relay;
    this.#carrier = carrier;
    this.caller = parts.caller;
    this.visitor = parts.visitor;
    this.params = parts.said.params;
    this.query = parts.said.query;
    this.body = parts.body;
    this.wait_ms = parts.wait_ms;
    this.request = parts.said.facts;
    this.room = parts.room;
  }

  /** Most operations never ask for it, and it need not be made for them. */
  get signal(): AbortSignal {
    return this.#carrier.signal;
  }
}

type Given = "caller" | "visitor" | "body" | "wait_ms" | "room";

function checkBody({ fitPlain, fitSigned }: Served, body: unknown): void {
  if (fitPlain !== null) (fitSigned !== null && isSigned(body) ? fitSigned : fitPlain)(body);
}

function leaveRoom(release: Release | null): void {
  release?.();
}

function throttle(rate: RateLimit, caller: string): void {
  const seconds = rate.take(caller, performance.now());
  if (seconds > 0) throw new Problem(429, "too_fast", `Too many calls; try again in ${seconds} s.`, {}, seconds);
}

function isSigned(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.hasOwn(body, "signed");
}

function unknownOperation(name: string): Problem {
  const shown = JSON.stringify(name.length > 64 ? `${name.slice(0, 63)}…` : name);
  return new Problem(404, "unknown_operation", `There is no operation ${shown}; openapi lists them by operationId.`);
}
