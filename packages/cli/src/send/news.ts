/** What happens to a handoff that somebody waits for, told as it happens: acks, questions, retries, and that nobody comes. */

import type { HandoffView } from "@handfast/protocol/wire";
import { orNull } from "../inspect/relay-reads.ts";
import type { StoryEvent } from "../inspect/story-event.ts";
import { cleanLine } from "../text.ts";
import { AnswerHere } from "./answer-here.ts";
import type { Following } from "./follow.ts";
import { questionWords, retryWords } from "./news-words.ts";

/** So long nobody need be there before it is told why. */
const nobody_after_ms = 2_000;
/** How often it is looked again whether the reason is still the same. */
const look_again_ms = 10_000;

export class News {
  readonly #following: Following;
  readonly #signal: AbortSignal;
  /** When the relay accepted it, by its clock and by ours. */
  #accepted: { readonly at: number; readonly here: number } | null = null;
  #acknowledged = false;
  #attempts = 0;
  #look: NodeJS.Timeout | null = null;
  #whyTold = "";
  #prompt: AnswerHere | null = null;

  constructor(following: Following, signal: AbortSignal) {
    this.#following = following;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#stop(), { once: true });
  }

  /** A courtesy: without it the outcome comes all the same, and tells what is wrong. */
  async follow(): Promise<void> {
    const accepted_here = performance.now();
    this.#queuedFor(nobody_after_ms);
    try {
      for await (const event of this.#following.handle.events({ signal: this.#signal })) {
        if ("fraction" in event) this.#following.timeline.progress(event.fraction, event.note);
        else await this.#tell(event, accepted_here);
      }
    } catch {
      // The signal, or a relay that is away: the wait for the outcome tells.
    }
    this.#stop();
  }

  /** Where the events did not come, the end tells who acknowledged it. */
  end(view: HandoffView): void {
    this.#stop();
    if (!this.#acknowledged && view.attempts > 0) this.#markAck(view.outcome?.agent ?? "an agent", null);
  }

  async #tell(event: StoryEvent, accepted_here: number): Promise<void> {
    const { timeline } = this.#following;
    switch (event.type) {
      case "accepted":
        this.#accepted = { at: event.at, here: accepted_here };
        return;
      case "delivered":
        return this.#taken();
      case "acknowledged":
        this.#attempts = event.attempt ?? this.#attempts + 1;
        this.#markAck(event.agent ?? "an agent", event.at);
        return;
      case "requeued":
        return this.#requeued(event);
      case "asked":
        return this.#asked(event);
      case "answered":
      case "unanswered":
        this.#prompt?.close();
        timeline.standstill("");
        timeline.tell(event.type === "answered" ? `answered by ${event.by}` : "the question was not answered in time");
        return;
      default:
        this.#taken();
    }
  }

  /** The first ack counts, at the time that the relay has of it. */
  #markAck(agent: string, at: number | null): void {
    if (this.#acknowledged) return;
    this.#acknowledged = true;
    const now = performance.now();
    const since = at === null || this.#accepted === null ? now : this.#accepted.here + at - this.#accepted.at;
    const here = Math.max(this.#accepted?.here ?? 0, Math.min(now, since));
    this.#following.timeline.mark(`acknowledged by ${cleanLine(agent)}`, here);
  }

  async #requeued(event: StoryEvent): Promise<void> {
    const { timeline, handle } = this.#following;
    const view = handle.view ?? (await handle.status({ signal: this.#signal }));
    timeline.forget();
    timeline.tell(retryWords(event, this.#attempts, view.limits.max_attempts));
    timeline.standstill("waiting for a worker");
    this.#whyTold = "";
    this.#queuedFor(nobody_after_ms + Math.max(0, (event.ready_at ?? event.at) - event.at));
  }

  async #asked(event: StoryEvent): Promise<void> {
    const { timeline, client, terminal } = this.#following;
    const { question: id = "", to = null } = event;
    const question = await orNull(client.call("question", { params: { id } }, { signal: this.#signal }));
    if (question !== null && !question.open) return;
    timeline.standstill(to === null ? "waiting for your answer" : `waiting for an answer from ${to}`);
    for (const line of questionWords(event, question)) timeline.tell(terminal.spelled(line));
    if (question === null || to !== null || !AnswerHere.isPossible(terminal)) return;
    this.#prompt = new AnswerHere(this.#following, question, this.#signal);
    void this.#prompt.ask();
  }

  #taken(): void {
    if (this.#look !== null) clearTimeout(this.#look);
    this.#look = null;
    this.#following.timeline.standstill("");
  }

  #queuedFor(ms: number): void {
    if (this.#look !== null) clearTimeout(this.#look);
    this.#look = setTimeout(() => void this.#why().catch(() => undefined), ms);
    this.#look.unref();
  }

  /** The same reasoning as `handfast why`, loaded only when it is needed. */
  async #why(): Promise<void> {
    const { client, handle, timeline } = this.#following;
    const view = await handle.status({ signal: this.#signal });
    if (view.state !== "queued" || this.#look === null) return;
    this.#queuedFor(look_again_ms);
    const [{ gatherFacts }, { whyQueued }] = await Promise.all([
      import("../inspect/why/gather-facts.ts"),
      import("../inspect/why/queued.ts"),
    ]);
    const { sentence } = whyQueued(view, await gatherFacts(client, view, client.agent));
    // Times in it change with each look; the reason is what counts.
    const reason = sentence.replaceAll(/\d+/g, "");
    if (reason === this.#whyTold || this.#signal.aborted) return;
    this.#whyTold = reason;
    timeline.tell(sentence);
    timeline.standstill("waiting for a worker");
  }

  #stop(): void {
    if (this.#look !== null) clearTimeout(this.#look);
    this.#look = null;
    this.#prompt?.close();
  }
}
