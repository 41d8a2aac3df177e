/** Who makes a call, once that is proven. */

export interface Caller {
  readonly namespace: string;
  readonly name: string;
  readonly role: "agent" | "operator";
  /** Thumbprint of the key that proved it; null: a token. */
  readonly key: string | null;
}
