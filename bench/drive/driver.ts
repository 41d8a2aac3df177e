/** The side of a system that sends and works: sender and worker in one process, as users would run them apart. */

export interface Driver {
  /** One full handoff: resolves when the sender has the worker's answer. */
  handoff(): Promise<void>;
  close(): Promise<void>;
}

/** How many handoffs a worker takes at the same time. */
export const slots = 256;
