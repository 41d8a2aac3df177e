/** What senders and workers write into their journals, and what the verdict is made from. */

import type { Done, Task } from "./task.ts";

/** The client told the people here of something. */
interface Warned {
  readonly said: "warned";
  readonly reason: string;
  readonly message: string;
}

export type SenderLine =
  | Warned
  /** Safe on the sender's own disk before anything is sent. */
  | {
      readonly said: "intends";
      readonly key: string;
      /** Null: the client makes one. */
      readonly id: string | null;
      readonly correlation: string;
      readonly lease_ms: number;
      readonly task: Task;
    }
  | { readonly said: "accepted"; readonly key: string; readonly id: string; readonly repeated: boolean }
  | {
      readonly said: "outcome";
      readonly key: string;
      readonly id: string;
      readonly state: string;
      readonly fence: number | null;
      readonly output: Done | null;
    }
  | { readonly said: "taken"; readonly key: string }
  | { readonly said: "answered"; readonly key: string }
  /** A new life of the same sender, and how many it had to send again or find again. */
  | { readonly said: "came back"; readonly sends_again: number; readonly finds_again: number };

export type WorkerLine =
  | Warned
  /** Before a plain claim, so that it can be repeated by the next life. */
  | { readonly said: "claims"; readonly request_id: string }
  | {
      readonly said: "began";
      readonly key: string;
      readonly id: string;
      readonly fence: number;
      /** Steps that the checkpoint of an earlier attempt stands for. */
      readonly steps: number;
      /** The same lease again, in another life of the worker. */
      readonly resumed: boolean;
    }
  /** The relay confirmed a checkpoint. */
  | { readonly said: "kept"; readonly key: string; readonly fence: number; readonly steps: number }
  | { readonly said: "heard"; readonly key: string; readonly fence: number; readonly answer: unknown }
  | { readonly said: "did"; readonly key: string; readonly fence: number; readonly output: Done }
  /** A handoff below one that is being worked on. */
  | { readonly said: "sent"; readonly key: string; readonly parent: string; readonly id: string; readonly task: Task };
