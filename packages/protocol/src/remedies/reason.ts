/** What is known about a reason: the short stable name of the exact cause of a refusal or an end. */

import type { Status } from "../status-codes.ts";

export interface Remedy {
  readonly cause: string;
  readonly remedy: string;
}

export interface Reason extends Remedy {
  readonly reason: string;
  /** The status codes that it comes with; none where no relay said it, but the client. */
  readonly codes: readonly number[];
  /** Where somebody else than the code says can mend it. */
  readonly mended_by?: Status["mended_by"];
}
