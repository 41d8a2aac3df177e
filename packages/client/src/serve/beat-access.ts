/** What a thread needs to send heartbeats over a connection of its own. */

export interface BeatAccess {
  /** Where the relay is reached. */
  readonly url: string;
  readonly transport: "websocket" | "http";
  /** The 32 secret bytes of the agent's key, for credentials of the thread's own; null: they are made ahead, here. */
  readonly seed: Uint8Array | null;
  /** The token, or a session credential that lives for minutes yet. */
  authorization(): Promise<string>;
}
