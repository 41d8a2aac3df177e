/**
 * Full collections of the heap that are rare: the one thread stands still for a tenth of a second and more by each. V8 has habits that
 * suit other programs, and make a relay collect often.
 *
 * It begins a full collection whenever 64 MB of buffers came since the last one, however far the heap is from its limit, and then marks for 5 to
 * 10 ms at each further buffer. Every frame and every payload is one: with the heap of 10,000 manifests, the one thread stood still for 0.2 to 0.5 s
 * every 18 s at 600 handoffs a second. Counted as a part of the heap, buffers bring its limit nearer and no more; another thread does the marking.
 *
 * It makes objects of one place in a program in the old generation from the start, for good, once most that were made there have outlived two young
 * collections; in one busy moment most do. From then on each holds all that it leads to until the next full collection: 28 KB for each handoff, of
 * which 4 are kept on purpose.
 *
 * And it collects again when the heap has grown by a third or less. Here it may double: the thread stands still as long, half as often.
 */

import { setFlagsFromString } from "node:v8";

/** Whose V8 has the flags and was measured. In a later one they may be gone, and V8 would say so on stderr. */
const measured_node = 24;

/** For the whole process: only where the relay is all that runs in it. */
export function collectRarely(): void {
  if (Number.parseInt(process.versions.node, 10) !== measured_node) return;
  setFlagsFromString("--external-memory-accounted-in-global-limit");
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString("--heap-growing-percent=100");
}
