/** `handfast watch`: events as they come. */

import type { Client } from "@handfast/client";
import type { Command, Context } from "../../command.ts";
import { CliError, exitOfHandoff } from "../../errors.ts";
import type { ExitName } from "../../exit-codes.ts";
import { fullCorrelation, fullId } from "../find-handoff.ts";
import { lookOf } from "../look.ts";
import { shortId } from "../names.ts";
import { valueText } from "../payload-text.ts";
import { orNull, type Reader } from "../relay-reads.ts";
import type { StoryEvent } from "../story-event.ts";
import { correlationPages, logPages } from "../watch/follow-events.ts";
import { StatusLine } from "../watch/status-line.ts";
import { watchLine } from "../watch/watch-line.ts";

export const watchCommand: Command = {
  name: "watch",
  summary: "Follows a handoff, a correlation, or everything, as it happens.",
  description:
    "A handoff is followed until it ends, a correlation until all of it has, everything until Ctrl-C.\n" +
    "The exit code of a handoff says how it ended.",
  arguments: [{ name: "id", help: 'Of a handoff; "all" (default): everything from now on.', optional: true }],
  options: [
    { flags: "--correlation <id>", help: "Follow a correlation instead; any handoff of it names it too." },
    { flags: "--full", help: "Exact times." },
  ],
  examples: [
    { line: "watch", help: "everything, from now on" },
    { line: "watch 0000abcd", help: "one handoff, until it ends" },
    { line: "watch --correlation nightly-7 --json", help: "a correlation, one event per line" },
  ],
  connects: true,
  async run(context) {
    const { arguments: words, options, connect } = context;
    const correlation = options.text("correlation");
    const [given = "all"] = words;
    if (correlation !== undefined && words.length > 0) {
      throw new CliError("usage", "Both an id and --correlation were given.", "Give one of them.");
    }
    const client = await connect("operator");
    if (correlation !== undefined) {
      const id = await fullCorrelation(client, correlation);
      return watchPages(context, client, correlationPages(client, id, context.signal), `handfast tree ${id}`);
    }
    if (given === "all") return watchPages(context, client, logPages(client, Date.now(), context.signal), null);
    return watchHandoff(context, client, await fullId(client, given));
  },
};

async function watchPages(
  context: Context,
  client: Client,
  pages: AsyncIterable<readonly StoryEvent[]>,
  next: string | null,
): Promise<ExitName> {
  const show = new Watching(context, client, true);
  try {
    for await (const page of pages) for (const event of page) await show.event(event);
  } finally {
    show.stop();
  }
  if (next !== null) context.terminal.next(next);
  return "ok";
}

async function watchHandoff(context: Context, client: Client, id: string): Promise<ExitName> {
  const show = new Watching(context, client, false);
  try {
    for await (const event of client.handle(id).events({ signal: context.signal })) {
      if ("seq" in event) await show.event(event);
      else show.progress(event);
    }
  } finally {
    show.stop();
  }
  const view = await client.call("get", { params: { id } });
  context.terminal.next(view.code === 200 ? `handfast show ${shortId(id)}` : `handfast why ${shortId(id)}`);
  return exitOfHandoff(view);
}

const tick_ms = 250;
const question_chars = 120;

/** Prints events, and keeps the line below them up to date where a person looks. */
class Watching {
  readonly #context: Context;
  readonly #relay: Reader;
  readonly #many: boolean;
  readonly #status = new StatusLine();
  readonly #timer: NodeJS.Timeout;

  constructor(context: Context, relay: Reader, many: boolean) {
    this.#context = context;
    this.#relay = relay;
    this.#many = many;
    this.#timer = setInterval(() => context.terminal.live(this.#status.text(Date.now())), tick_ms);
  }

  async event(event: StoryEvent): Promise<void> {
    const { terminal, options } = this.#context;
    this.#status.event(event);
    if (terminal.json) return terminal.jsonLine(event);
    const asked = await this.#questionText(event);
    terminal.print(watchLine(event, this.#many, lookOf(terminal, options.flag("full")), asked));
  }

  /** An event does not carry it, and not everybody may see it. */
  async #questionText({ type, question }: StoryEvent): Promise<string | undefined> {
    if (type !== "asked" || question === undefined) return undefined;
    const view = await orNull(this.#relay.call("question", { params: { id: question } }));
    const text = view?.question;
    return text === undefined ? undefined : valueText(text, { full: false, width: question_chars });
  }

  progress(progress: { readonly fraction: number | null; readonly note: string | null }): void {
    this.#status.progress(progress);
    if (this.#context.terminal.json) this.#context.terminal.jsonLine(progress);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#context.terminal.settle();
  }
}
