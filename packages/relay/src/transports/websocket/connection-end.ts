/** Why a connection ends: the close codes of spec/websocket.md, and what is said before the close. */

import { draining, Problem } from "../../problem.ts";

export const closes = {
  stopping: 1001,
  draining: 1001,
  frame_too_large: 1009,
  malformed: 4400,
  identity: 4401,
  hello_timeout: 4408,
  too_many_calls: 4413,
  too_many: 4429,
  slow_reader: 4430,
} as const;

export type CloseReason = keyof typeof closes;

/** The peer did nothing wrong: it comes back, to this relay or to another node of it. */
export type Farewell = "stopping" | "draining";

export const farewells: Readonly<Record<Farewell, () => Problem>> = {
  stopping: () => new Problem(429, "stopping", "The relay is stopping; come back in a moment.", {}, 1),
  draining,
};

/** Thrown where a peer's fault, or its own limit, leaves nothing but to close. */
export class ConnectionEnd extends Error {
  override readonly name = "ConnectionEnd";
  readonly reason: CloseReason;
  readonly problem: Problem;

  constructor(reason: CloseReason, problem: Problem) {
    super(problem.message);
    this.reason = reason;
    this.problem = problem;
  }
}

export function malformed(reason: string, message: string): ConnectionEnd {
  return new ConnectionEnd("malformed", new Problem(400, reason, message));
}
