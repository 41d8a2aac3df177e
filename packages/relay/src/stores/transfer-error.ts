/** What can be wrong with a file that holds an exported store. */

export type TransferFault =
  /** It is no export, or one that was changed. */
  | "damaged"
  /** It ends before its closing line. */
  | "cut_off"
  /** A newer version of this code wrote it. */
  | "too_new"
  /** What was written is not what was read. */
  | "differs";

export class TransferError extends Error {
  override readonly name = "TransferError";
  readonly fault: TransferFault;

  constructor(fault: TransferFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
