/**
 * SIGTERM and SIGINT: the first stops every worker of the process in order, and then the process ends with 0; a second
 * one ends it as if nobody had listened. One listener for all servers, which goes with the last of them.
 */

import process from "node:process";

interface Stoppable {
  stop(): Promise<void>;
}

const signals = ["SIGTERM", "SIGINT"] as const;
const servers = new Set<Stoppable>();
let stopping = false;

/** The answer ends the watching. */
export function watchSignals(server: Stoppable): () => void {
  if (servers.size === 0) for (const signal of signals) process.on(signal, onSignal);
  servers.add(server);
  return () => {
    servers.delete(server);
    if (servers.size === 0 && !stopping) unwatch();
  };
}

function unwatch(): void {
  for (const signal of signals) process.off(signal, onSignal);
}

function onSignal(signal: (typeof signals)[number]): void {
  if (stopping) {
    unwatch();
    process.kill(process.pid, signal);
    return;
  }
  stopping = true;
  // Whoever listens besides has an end of its own in mind.
  const is_ours_alone = process.listenerCount(signal) === 1;
  void Promise.allSettled([...servers].map((server) => server.stop())).then(() => {
    stopping = false;
    unwatch();
    // Code that waits for `stopped` has its turn first.
    if (is_ours_alone) setImmediate(() => process.exit(0));
  });
}
