/**
 * V8 begins a full collection whenever 64 MB of buffers came since the last one, however far the heap is from its limit, and
 * then marks for 5 to 10 ms at each further buffer. Every frame and every payload is one: with the heap of 10,000 manifests,
 * the one thread stood still for 0.2 to 0.5 s every 18 s at 600 handoffs a second. Counted as a part of the heap, buffers bring
 * its limit nearer and no more; another thread does the marking.
 */

import { setFlagsFromString } from "node:v8";

/** Whose V8 has the flag and was measured. In a later one it may be gone, and V8 would say so on stderr. */
const measured_node = 24;

/** For the whole process: only where the relay is all that runs in it. */
export function countBuffersAsHeap(): void {
  if (Number.parseInt(process.versions.node, 10) !== measured_node) return;
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}
