/** What became of a handoff, as a value that a framework can keep in its own state: failures and missed deadlines too. */

import { HandfastError, type Handle, HandoffError, type HandoffView, type WaitOptions } from "@handfast/client";

export interface CompletedOutcome<Out = unknown> {
  readonly handoff: string;
  readonly status: "completed";
  readonly code: number;
  readonly name: string;
  readonly output: Out;
  readonly retryable: false;
}

export interface FailedOutcome {
  /** Null where the relay refused it: then there is no handoff. */
  readonly handoff: string | null;
  readonly status: "failed" | "rejected" | "canceled" | "expired" | "refused";
  /** Such as 408: the deadline passed. */
  readonly code: number;
  readonly name: string;
  readonly error: { readonly reason: string; readonly message: string; readonly detail?: unknown };
  /** Whether the same again may succeed. */
  readonly retryable: boolean;
}

export type Outcome<Out = unknown> = CompletedOutcome<Out> | FailedOutcome;

export interface OutcomeOptions extends WaitOptions {
  /** Confirm to the relay that it is here. Default: false. */
  readonly take?: boolean;
}

/** Waits until it has ended. Rejects only where the wait itself broke. */
export async function outcomeOf<Out = unknown>(
  handle: Handle<Out>,
  { take = false, ...wait }: OutcomeOptions = {},
): Promise<Outcome<Out>> {
  const view = await handle.outcome({ ...wait, take: false });
  const outcome = view.state === "completed" ? await completed(handle, view, wait) : failed(view);
  if (take) await handle.take(wait.signal === undefined ? {} : { signal: wait.signal });
  return outcome;
}

async function completed<Out>(handle: Handle<Out>, view: HandoffView, wait: WaitOptions): Promise<Outcome<Out>> {
  const { id, code, name } = view;
  const output = await handle.result({ ...wait, take: false });
  return { handoff: id, status: "completed", code, name, output, retryable: false };
}

function failed(view: HandoffView): FailedOutcome {
  const { id, state, code, name, retryable, outcome } = view;
  const { reason, message, detail } = outcome?.error ?? { reason: name, message: HandoffError.ended(view).message };
  return {
    handoff: id,
    status: state as FailedOutcome["status"],
    code,
    name,
    error: { reason, message, ...(detail === undefined ? {} : { detail }) },
    retryable,
  };
}

/** Refusals that say something of the setup and not of the work: nothing that a graph or a model could deal with. */
const of_setup: ReadonlySet<number> = new Set([400, 401, 403, 409]);

/** What a relay refused, such as a capability that nobody offers (406), as an outcome. Everything else is thrown on. */
export function refusalAsOutcome(error: unknown): FailedOutcome {
  if (!(error instanceof HandoffError) || error.problem === null || of_setup.has(error.code)) throw error;
  const { code, name, reason, message, retryable } = error;
  return { handoff: null, status: "refused", code, name, error: { reason, message }, retryable };
}

/** For a model: the output, or what went wrong, with its code and whether another try may help. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.status === "completed") {
    return typeof outcome.output === "string" ? outcome.output : (JSON.stringify(outcome.output) ?? "null");
  }
  const { status, code, name, error, retryable } = outcome;
  return `The handoff ended as ${status}: ${troubleText(code, name, error.reason, error.message, retryable)}`;
}

/** For a model, where there is no outcome: the setup is wrong, or the relay is away. */
export function errorText(error: unknown): string {
  const could_not = "The handoff could not be made: ";
  if (!(error instanceof HandfastError)) return could_not + (error instanceof Error ? error.message : String(error));
  const { name, reason, message, remedy, retryable } = error;
  const code = error instanceof HandoffError ? error.code : null;
  const told = `${sentence(message)} ${remedy}`;
  return could_not + troubleText(code, code === null ? reason : name, reason, told, retryable);
}

function troubleText(code: number | null, name: string, reason: string, message: string, retryable: boolean): string {
  const again = retryable ? "Trying again may help." : "Trying the same again does not help.";
  // Where the reason is the code's own name it was said.
  const exactly = reason === name ? "" : ` (${reason})`;
  return `${code === null ? "" : `${code} `}${name}${exactly}: ${sentence(message)} ${again}`;
}

/** With an end, so that another can follow: people leave out the full stop. */
function sentence(message: string): string {
  const text = message.trimEnd();
  return /(^|[.!?…])$/.test(text) ? text : `${text}.`;
}
