/**
 * What the suite and the programs of its participants say to each other: one JSON object a line, over stdin and stdout.
 * interop/README.md describes it for whoever writes a program.
 */

/** The work that every worker of the suite does, whatever its framework. */
export interface TaskInput {
  readonly text: string;
  /**
   * `plain`: answer at once. `hold`: report progress, make the file `<hold>.begun`, and answer when `<hold>.go` is there; told to
   * stop before that, make the file `<hold>.stopped`.
   * `ask`: ask the sender which word to add, and answer with it. Default: plain.
   */
  readonly mode?: "plain" | "hold" | "ask";
  readonly hold?: string;
}

export interface TaskOutput {
  /** The text in capitals. */
  readonly text: string;
  /** The name of the participant that did it. */
  readonly by: string;
  /** What the sender answered, where it was asked. */
  readonly answer?: string;
}

export const input_schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    mode: { type: "string", enum: ["plain", "hold", "ask"] },
    hold: { type: "string" },
  },
  required: ["text"],
  additionalProperties: false,
} as const;

export const output_schema = {
  type: "object",
  properties: { text: { type: "string" }, by: { type: "string" }, answer: { type: "string" } },
  required: ["text", "by"],
  additionalProperties: false,
} as const;

/** What a worker reports while it holds. */
export const holding_note = "holding";

/** To a worker's program; it answers `{"serving": capability}`. The end of its input lets it stop. */
export interface WorkerCommand {
  readonly serve: { readonly agent: string; readonly capability: string };
}

/** To a sender's program. */
export type SenderCommand =
  /** Answered by `sent` or `refused`, and later by `outcome`. `answer`: what it answers when it is asked. */
  | { readonly send: SendCommand }
  /** Answered by `scattered`. All are sent under one correlation, which is the tag. */
  | { readonly scatter: { readonly tag: string; readonly capability: string; readonly inputs: readonly TaskInput[] } }
  /** Answered by `progress`, as soon as there is any. */
  | { readonly watch: { readonly tag: string } }
  /** Answered by `canceled`; `outcome` follows too. */
  | { readonly cancel: { readonly tag: string } }
  /** Answered by `proven`. */
  | { readonly verify: { readonly tag: string } }
  /** After it was killed and started again: what it had sent is found again, and each `outcome` told. */
  | { readonly resume: Record<string, never> };

export interface SendCommand {
  readonly tag: string;
  readonly capability: string;
  readonly input: TaskInput;
  readonly timeout_ms: number;
  readonly lease_ms?: number;
  readonly answer?: string;
}

/** From a sender's program: always with the tag that it was told. */
export interface SenderMessage {
  readonly tag: string;
  /** The id of the handoff, once the relay has it. */
  readonly sent?: string;
  /** The status code of a refusal. */
  readonly refused?: number;
  readonly outcome?: Ended;
  readonly scattered?: readonly TaskOutput[];
  readonly progress?: { readonly fraction: number | null; readonly note: string | null };
  readonly canceled?: string;
  readonly proven?: { readonly handoff: Evidence; readonly ack: Evidence; readonly outcome: Evidence };
  /** It could not do what it was told. */
  readonly broken?: string;
}

type Evidence = "signed" | "attested";

export interface Ended {
  readonly status: "completed" | "failed" | "rejected" | "canceled" | "expired";
  readonly code: number;
  readonly output?: TaskOutput;
}
