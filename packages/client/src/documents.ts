/** Reading documents of others. Their schemas take longer to load than a handoff takes, so they are loaded when the first comes. */

import type { readDocument } from "@handfast/protocol";

let reader: typeof readDocument | null = null;

/** To be asked for each time: an import that was done before still costs as much as reading a document. */
export async function documentReader(): Promise<typeof readDocument> {
  reader ??= (await import("@handfast/protocol")).readDocument;
  return reader;
}
