/**
 * Brings outcomes and questions that nobody waits for into the session that sent the handoff, each once.
 *
 * An outcome is kept by the relay until it is taken, and it is taken only when it stands in the session's transcript: put
 * there by a tool that had waited for it, or by a turn that this inbox starts. A gateway that dies in between finds the
 * outcome again at its next start, looks into the transcript, and either takes it or brings it.
 */

import { randomUUID } from "node:crypto";
import type { Client, Handle, HandoffView, Question } from "@handfast/client";
import type { AgentEvent, Logger, Sessions } from "../openclaw.ts";
import type { Settings } from "../settings.ts";
import type { Shared } from "../shared.ts";
import { outcomeMark, told, toldQuestion } from "../told.ts";
import { has, readTranscript } from "../transcript.ts";
import { hasChannel, originOf } from "./origin.ts";

export interface InboxParts {
  readonly client: Client;
  readonly sessions: Sessions;
  readonly shared: Shared;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly gateway: string;
}

interface Letter {
  readonly id: string;
  readonly sessionKey: string;
  /** The handoff that it is about. */
  readonly handoff: string;
  /** Whether the session has a channel that a reply can go to. */
  readonly hasChannel: boolean;
  /** Text that the session has once it was told. */
  readonly mark: string;
  /** Null: it is no longer to be told. */
  write(): Promise<string | null>;
  told(): Promise<unknown>;
}

/** OpenClaw names a run by the key that it was started with. */
const own_run = "handfast:";
const wait_ms = 20_000;
/** A run that another inbox had begun may be one that a restart of the gateway lost: it is not waited for without end. */
const waits_for_others = 15;
/** What could not be brought yet is looked at again after this long. */
const again_ms = 5_000;

export class Inbox {
  readonly #parts: InboxParts;
  readonly #stop = new AbortController();
  /** What waits to be told, by session; those with something to do. */
  readonly #letters = new Map<string, Map<string, Letter>>();
  readonly #delivering = new Set<string>();
  /** Runs under way, by session: a turn of ours would only queue behind them, and they may ask for the outcome themselves. */
  readonly #busy = new Map<string, Set<string>>();

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#follow("outcomes", () => this.#outcomes());
    this.#follow("questions", () => this.#questions());
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Hears when runs begin and end. */
  readonly heard = ({ runId, stream, data, sessionKey }: AgentEvent): void => {
    if (stream !== "lifecycle" || sessionKey === undefined) return;
    if (data["phase"] === "start") this.#parts.shared.runs.set(sessionKey, runId);
    // A turn that is started here is waited for here.
    if (runId.startsWith(own_run)) return;
    const runs = this.#busy.get(sessionKey) ?? new Set();
    if (data["phase"] === "start") this.#busy.set(sessionKey, runs.add(runId));
    if (data["phase"] !== "end" && data["phase"] !== "error") return;
    runs.delete(runId);
    if (runs.size > 0) return;
    this.#busy.delete(sessionKey);
    this.#deliver(sessionKey);
  };

  async #outcomes(): Promise<void> {
    const { client, gateway } = this.#parts;
    for await (const handle of client.outcomes({ signal: this.#stop.signal })) {
      const sessionKey = originOf(handle.view, gateway);
      if (sessionKey === null) continue;
      // The session of a handoff that was worked on has its end when that handoff has: nothing is told there any more.
      // Whoever works there reads it by its id, taken or not.
      if (isWorkSession(sessionKey)) await handle.take();
      else this.#put(this.#outcomeLetter(handle, sessionKey));
    }
  }

  async #questions(): Promise<void> {
    const { client, gateway } = this.#parts;
    for await (const question of client.questions({ signal: this.#stop.signal })) {
      if (question.to !== null) continue;
      const view = await client.handle(question.handoff).status();
      const sessionKey = originOf(view, gateway);
      if (sessionKey !== null && !isWorkSession(sessionKey))
        this.#put(this.#questionLetter(question, view, sessionKey));
    }
  }

  #outcomeLetter(handle: Handle & { readonly view: HandoffView }, sessionKey: string): Letter {
    return {
      id: handle.id,
      handoff: handle.id,
      sessionKey,
      hasChannel: hasChannel(handle.view),
      mark: outcomeMark(handle.id),
      write: async () => {
        const view = await handle.status();
        if (view.taken_at !== null) return null;
        return `[Handfast] The outcome of a handoff that you sent earlier is here${about(view)}.\n${JSON.stringify(told(view))}`;
      },
      told: () => handle.take(),
    };
  }

  #questionLetter(question: Question, view: HandoffView, sessionKey: string): Letter {
    const { client } = this.#parts;
    const asked = JSON.stringify(toldQuestion(question));
    return {
      id: question.id,
      handoff: question.handoff,
      sessionKey,
      hasChannel: hasChannel(view),
      mark: JSON.stringify(question.id),
      write: async () => {
        const { open } = await client.call("question", { params: { id: question.id } });
        if (!open) return null;
        return `[Handfast] ${question.agent} asks about a handoff that you sent${about(view)}. Answer with handfast_answer.\n${asked}`;
      },
      told: async () => {},
    };
  }

  #put(letter: Letter): void {
    const letters = this.#letters.get(letter.sessionKey) ?? new Map<string, Letter>();
    this.#letters.set(letter.sessionKey, letters.set(letter.id, letter));
    this.#deliver(letter.sessionKey);
  }

  /** One after the other in each session, and not while it is busy with something else. */
  #deliver(sessionKey: string): void {
    const letters = this.#letters.get(sessionKey);
    if (letters === undefined || this.#delivering.has(sessionKey) || this.#busy.has(sessionKey)) return;
    this.#delivering.add(sessionKey);
    void this.#deliverAll(sessionKey, letters).finally(() => {
      this.#delivering.delete(sessionKey);
      if (letters.size === 0) this.#letters.delete(sessionKey);
      else setTimeout(() => this.#deliver(sessionKey), again_ms).unref();
    });
  }

  async #deliverAll(sessionKey: string, letters: Map<string, Letter>): Promise<void> {
    for (const letter of letters.values()) {
      if (this.#stop.signal.aborted || this.#busy.has(sessionKey)) return;
      // A tool has it in hand: when its run ends, this is looked at again.
      if (this.#parts.shared.isAwaited(letter.handoff)) continue;
      try {
        await this.#tell(letter);
        letters.delete(letter.id);
      } catch (error) {
        // Whoever comes after this inbox brings it.
        if (this.#stop.signal.aborted) return;
        this.#parts.logger.warn(`handfast: ${letter.id} did not come into session ${sessionKey}: ${messageOf(error)}`);
      }
    }
  }

  async #tell(letter: Letter): Promise<void> {
    const { sessions, settings, shared } = this.#parts;
    if (!(await this.#stands(letter))) {
      const message = await letter.write();
      if (message === null || this.#stop.signal.aborted) return;
      // The inbox of an older loading may have begun to tell it.
      const begun = shared.telling.get(letter.id);
      const runId = begun ?? (await this.#begin(letter, message, settings.replies_late && letter.hasChannel));
      for (let waits = 1; !this.#stop.signal.aborted && !(await this.#stands(letter)); waits += 1) {
        const { status, error } = await sessions.waitForRun({ runId, timeoutMs: wait_ms });
        const is_lost = begun !== undefined && waits === waits_for_others;
        if (status !== "ok" && status !== "error" && !is_lost) continue;
        shared.telling.delete(letter.id);
        if (await this.#stands(letter)) break;
        throw new Error(error ?? "the turn ended without it");
      }
      if (this.#stop.signal.aborted) return;
    }
    await letter.told();
    shared.telling.delete(letter.id);
  }

  /** A channel that cannot be used any more must not keep the news from the session. */
  async #begin(letter: Letter, message: string, deliver: boolean): Promise<string> {
    const { sessions, shared, logger } = this.#parts;
    const { id, sessionKey } = letter;
    // Never the same: what counts is the transcript, and a run that failed must not stand for the next one.
    const idempotencyKey = `${own_run}${id}:${randomUUID()}`;
    shared.telling.set(id, idempotencyKey);
    try {
      return (await sessions.run({ sessionKey, message, deliver, idempotencyKey })).runId;
    } catch (error) {
      shared.telling.delete(id);
      if (!deliver) throw error;
      logger.warn(`handfast: what is said to ${id} does not go to a channel: ${messageOf(error)}`);
      return this.#begin(letter, message, false);
    }
  }

  async #stands({ sessionKey, mark }: Letter): Promise<boolean> {
    return has(await readTranscript(this.#parts.sessions, sessionKey), mark);
  }

  /** A stream that breaks is begun anew: what was not dealt with comes again. */
  #follow(what: string, stream: () => Promise<void>): void {
    const { signal } = this.#stop;
    const run = () => {
      if (signal.aborted) return;
      stream().catch((error: unknown) => {
        if (signal.aborted) return;
        this.#parts.logger.warn(`handfast: ${what} are not heard of for a moment: ${messageOf(error)}`);
        setTimeout(run, again_ms).unref();
      });
    };
    run();
  }
}

/** Sessions in which handoffs of others are worked on. */
function isWorkSession(sessionKey: string): boolean {
  return /^agent:[^:]+:subagent:handfast:/.test(sessionKey);
}

function about({ capability, to }: HandoffView): string {
  return ` (${capability ?? to ?? "unknown"})`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
