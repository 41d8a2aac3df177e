/** What every link says alike. */

import { UsageError } from "../errors.ts";

/** Which handoff a call is about, for its errors. */
export function idOf(params: object | undefined): string | null {
  const { id }: { id?: unknown } = params ?? {};
  return typeof id === "string" ? id : null;
}

export function closedError(): UsageError {
  return new UsageError("The client is closed.", "Connect again, and close it when everything is done.", "closed");
}

export function cannotSign(): UsageError {
  return new UsageError(
    "This client has a token and no key: it cannot sign.",
    "Connect with a key, or send it plainly.",
  );
}
