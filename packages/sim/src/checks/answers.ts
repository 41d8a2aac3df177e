/** What the relay answers is checked where the answer leaves it: it must be true on disk by then. */

import { type Actor, type Handoff, hasEnded, type Refusal, type Time } from "@handfast/core";
import type {
  Answer,
  Chunks,
  EngineFault,
  EventPage,
  PublicCommand,
  RedriveAnswer,
  Submission,
  SubmitAnswer,
} from "@handfast/engine";
import { idTime } from "@handfast/protocol";
import type { Streams } from "../actors/streams.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Ledger } from "./ledger.ts";
import { ensure, ensureThere } from "./violation.ts";

type Note = ((about: string, text: string) => void) | null;

interface AnswersContext {
  readonly ledger: Ledger;
  readonly scenario: Scenario;
  readonly streams: Streams;
  /** The relay's clock. */
  readonly now: () => Time;
  readonly note: Note;
  readonly check: (act: () => void) => void;
}

export class Answers {
  readonly #context: AnswersContext;
  readonly #ledger: Ledger;
  readonly #note: Note;
  /** Outcomes that were answered as accepted, by handoff and fence. */
  readonly #outcomes = new Map<string, string>();
  /** What each sender was told it may rely on. */
  readonly confirmed = new Set<string>();

  constructor(context: AnswersContext) {
    this.#context = context;
    this.#ledger = context.ledger;
    this.#note = context.note;
  }

  submitted(submissions: readonly Submission[], answer: SubmitAnswer, honest: boolean): void {
    const about = submissions[0]?.draft.id ?? "submit";
    this.#note?.(
      about,
      `answer submit ${JSON.stringify(answer.ok ? answer.submitted.map(({ id }) => id) : answer.refusals)}`,
    );
    this.#context.check(() => {
      if (!answer.ok) {
        if (honest) for (const { index, refusal } of answer.refusals) this.#refused(submissions[index], index, refusal);
        return;
      }
      ensure(
        answer.submitted.length === submissions.length,
        "a batch is atomic",
        about,
        () => `${answer.submitted.length} of ${submissions.length}`,
      );
      for (const [index, { id, repeated }] of answer.submitted.entries()) {
        this.#accepted(id, submissions[index], repeated, honest);
      }
    });
  }

  #accepted(id: string, submission: Submission | undefined, repeated: boolean, honest: boolean): void {
    const history = ensureThere(this.#ledger.histories.get(id), "accepted is durable", id, "answered, but not on disk");
    const { accepted } = history;
    const draft = submission?.draft;
    ensure(honest, "what breaks a rule is refused", id, () => `accepted as ${draft?.idempotency_key}`);
    ensure(
      accepted.idempotency_key === draft?.idempotency_key && accepted.content === draft.content,
      "a repeat answers as the first time",
      id,
      () => `asked for ${draft?.id}, repeated ${repeated}`,
    );
    this.confirmed.add(id);
  }

  /** Refusals that an honest sender may get for a submit, each with its reason in the world. */
  #refused(submission: Submission | undefined, index: number, { code, reason, message }: Refusal): void {
    if (submission === undefined) return;
    const { draft, target } = submission;
    const { causation } = draft;
    const { max_open_per_sender, max_hops, id_behind_ms } = this.#context.scenario.coreLimits;
    const parent = causation === null ? undefined : this.#ledger.histories.get(causation.id);
    const isExpected = () => {
      switch (reason) {
        case "lease_lost":
          return causation !== null && parent?.lease?.fence !== causation.fence;
        case "unknown_parent":
          return parent?.purged === true;
        case "too_many_hops":
          return (parent?.accepted.hops ?? 0) + 1 > max_hops;
        case "budget_spent":
          return causation !== null && this.#ledger.isBudgetSpent(causation.id, index);
        case "over_quota":
          return this.#ledger.openBeforeLast(draft.from) + index + quota_slack >= max_open_per_sender;
        case "nobody_offers":
          return target.kind === "absent";
        case "no_such_version":
          return target.kind === "other_versions";
        case "input_unfit":
          return target.kind === "unfit";
        case "id_time":
          return idTime(draft.id) + id_behind_ms < this.#context.now() + clock_slack_ms;
        default:
          return false;
      }
    };
    ensure(isExpected(), "an honest retry is never refused", draft.id, () => `${code} ${reason}: ${message}`);
  }

  redriven(id: string, by: Actor, answer: RedriveAnswer): void {
    const { redriven_as, refusal } = answer;
    this.#note?.(id, `answer redrive ${redriven_as} ${refusal?.reason}`);
    this.#context.check(() => {
      const history = this.#ledger.histories.get(id);
      if (history === undefined || history.purged) return;
      if (by.kind === "agent" && by.agent !== history.accepted.from) {
        ensure(refusal?.code === 403, "a stranger changes nothing", id, () => `redrive by ${by.agent}`);
        return;
      }
      if (redriven_as === null) return;
      const successor = this.#ledger.histories.get(redriven_as);
      ensure(successor?.accepted.redrive_of === id, "a redrive names its successor", id, redriven_as);
      const status = this.#ledger.row(id)?.status;
      const marked = status !== undefined && hasEnded(status) ? status.dead_letter : null;
      ensure(
        marked?.status === "redriven" && marked.id === redriven_as,
        "a dead letter is redriven once",
        id,
        () => `answered ${redriven_as}, stored ${JSON.stringify(marked)}`,
      );
      this.confirmed.add(redriven_as);
    });
  }

  performed(id: string, command: PublicCommand, { refusal, handoff }: Answer): void {
    this.#note?.(id, `answer ${command.type} ${"fence" in command ? command.fence : ""} ${refusal?.reason ?? "ok"}`);
    this.#context.check(() => {
      if (this.#ledger.histories.get(id)?.purged === true) return;
      ensureThere(handoff, "accepted is durable", id, `${command.type} finds no handoff`);
      ensure(
        refusal?.code !== 403,
        "no holder or sender is turned away",
        id,
        () => `${command.type}: ${refusal?.message}`,
      );
      if (refusal === null) this.#carriedOut(id, command);
    });
  }

  /** One who holds nothing and sent nothing asked for it. */
  meddled(id: string, command: PublicCommand, { refusal }: Answer): void {
    this.#note?.(id, `answer stranger ${command.type} ${refusal?.reason ?? "ok"}`);
    this.#context.check(() => ensure(refusal !== null, "a stranger changes nothing", id, command.type));
  }

  /** When space runs low, what is open can still end. */
  faulted(id: string, command: PublicCommand, { code, reason }: EngineFault): void {
    this.#context.check(() => ensure(code !== 507, "ends fit on a full disk", id, () => `${command.type}: ${reason}`));
  }

  #carriedOut(id: string, command: PublicCommand): void {
    const row = ensureThere(this.#ledger.row(id), "accepted is durable", id, command.type);
    const history = ensureThere(this.#ledger.histories.get(id), "accepted is durable", id, command.type);
    switch (command.type) {
      case "complete":
      case "fail":
      case "reject": {
        const { content, fence } = command;
        const name = `${id} ${fence}`;
        const first = this.#outcomes.get(name);
        ensure(
          first === undefined || first === content,
          "no second outcome under a fence",
          id,
          () => `${first}, then ${content}`,
        );
        this.#outcomes.set(name, content);
        const won = hasEnded(row.status) && row.status.outcome.content === content;
        const recorded = row.failures.some((failure) => failure.fence === fence && failure.content === content);
        return ensure(won || recorded, "an outcome answered OK is kept", id, () => `${command.type} under ${fence}`);
      }
      case "ack": {
        const holder = history.holders.get(command.fence);
        // What was rejected needs no ack: one that comes after it is answered all the same.
        const known = history.acknowledged.has(command.fence) || history.outcomes.has(command.fence);
        const held = holder?.agent === command.agent && known;
        return ensure(held, "an ack answered OK is the holder's", id, () => `${command.fence}`);
      }
      case "answer":
        return ensure(
          history.questions.get(command.question) === command.content,
          "an answer answered OK is kept",
          id,
          () => `${command.question}: ${command.content}, stored ${history.questions.get(command.question)}`,
        );
      case "checkpoint":
        return ensure(history.checkpoint !== null, "a checkpoint answered OK is kept", id, "not stored");
      case "take":
        return ensure(history.taken, "taken is durable", id, "answered, but not stored");
      case "discard":
        return ensure(history.settled_at !== null, "discarded is durable", id, "answered, but not stored");
      case "cancel":
        return ensure(history.hasEnded, "canceled is durable", id, () => `answered, but ${history.state}`);
      default:
        return;
    }
  }

  seen(id: string, handoff: Handoff | null): void {
    this.#note?.(id, `answer get ${handoff?.status.state}`);
    this.#context.check(() => {
      const history = this.#ledger.histories.get(id);
      if (handoff === null) return ensure(history?.purged === true, "accepted is durable", id, "get finds nothing");
      ensure(
        history !== undefined && handoff.seq <= history.seq,
        "nothing is told before it is safe",
        id,
        () => `event ${handoff.seq} is told, ${history?.seq} are on disk`,
      );
    });
  }

  readLog(after_pos: number, page: EventPage): void {
    this.#context.check(() => this.#ledger.log.shown(after_pos, page));
  }

  /** Streamed output is what its holder wrote under that fence, in order and without a gap. */
  streamed(id: string, chunks: Chunks): void {
    const { fence, offset, text } = chunks;
    this.#context.check(() =>
      ensure(
        this.#context.streams.has(id, fence, offset, text),
        "streamed output is in order",
        id,
        () => `${JSON.stringify(text)} at ${offset} under ${fence}`,
      ),
    );
  }
}

/** Between the decision and its answer. */
const clock_slack_ms = 60_000;
/** Others of the same batch count, too, and some may have ended since. */
const quota_slack = 16;
