/** Who asks the directory, and what must not be told to everybody. */

/** Who asks: an operator sees what a rival does not. */
export interface Asker {
  readonly name: string;
  readonly role: "agent" | "operator";
}

/** Whether whoever asks must not see what others ask for a capability. */
export type IsRival = (capability: string) => boolean;
