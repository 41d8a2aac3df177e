/** What is tried with each pair of a sender and a worker. */

export const scenarios = {
  plain: "a handoff with its schemas: answered, and an input that does not fit refused (422)",
  scatter: "ten at once under one correlation, each answer matched to its task",
  progress: "the sender sees how far the work is",
  question: "the worker asks, the sender answers, the work goes on",
  cancel: "called off while it is worked on (410), and the worker stops",
  deadline: "missed (408): a dead letter, redriven, completed",
  worker_killed: "SIGKILL of the worker mid-task; another framework finishes",
  sender_killed: "SIGKILL of the sender; started again, it gets its outcome, once",
  signatures: "handoff, ack and outcome proven to the sender by their authors' own keys",
} as const;

export type Scenario = keyof typeof scenarios;

export const scenario_names = Object.keys(scenarios) as readonly Scenario[];

/** What became of one scenario of one pair. */
export type Result =
  | { readonly is: "passed"; readonly ms: number }
  /** One of the two cannot, and says why. */
  | { readonly is: "gap"; readonly why: string }
  | { readonly is: "failed"; readonly why: string };
