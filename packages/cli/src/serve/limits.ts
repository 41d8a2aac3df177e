/** Bounds on what a program under `handfast serve` may make us keep. */

export const serveLimits = {
  /** Of stderr, kept for the failure. */
  stderr_bytes: 4_096,
  /** Of stdout where the relay does not say how large a payload may be. */
  output_bytes: 1_000_000,
  /** A line on stderr that shows as progress. */
  note_chars: 500,
  /** A line on file descriptor 3: a checkpoint is at most 256 KB, and its JSON a little more. */
  control_bytes: 400_000,
  /** What a failure says; the whole tail of stderr goes beside it. */
  message_chars: 1_500,
  /** From SIGTERM to SIGKILL. */
  kill_ms: 5_000,
  /** How long what a program left behind may hold its output open after it has ended. */
  drain_ms: 1_000,
  /** A longer checkpoint does not fit into one variable and goes into a file. */
  variable_bytes: 100_000,
} as const;
