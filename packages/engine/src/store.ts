/**
 * What the engine asks of a store: commit what core decided, find it again, keep the log.
 *
 * A store stores; it decides nothing. Every store passes `store.conformance.ts`.
 */

import type { Duration, Findable, Handoff, HandoffEvent, Progress, Ready, Tie, Time } from "@handfast/core";

/** Bytes that belong to a handoff and never change: a signed document, its proof, and the payload beside it. */
export interface Body {
  readonly kind: BodyKind;
  /** The fence for acks and outcomes, the number of the question or checkpoint, else 0. */
  readonly number: number;
  /** Exact text as received; null for acts without a document of their own. */
  readonly document: string | null;
  /** JSON of the document's proof; null where the relay only attests. */
  readonly proof: string | null;
  readonly payload: Uint8Array | null;
}
export type BodyKind = "handoff" | "ack" | "outcome" | "checkpoint" | "question" | "answer" | "cancel";

export interface Write {
  /** 0: the handoff must not exist yet, and its idempotency key is taken with it. */
  readonly expected_version: number;
  readonly next: Handoff;
  readonly find: Findable;
  readonly events: readonly HandoffEvent[];
  readonly bodies: readonly Body[];
  /** Digests of artifacts that this write makes the handoff refer to. */
  readonly artifacts: readonly string[];
  /** Retention: row, bodies, labels and references go; the key stays for the dedupe window; the events stay. */
  readonly purge: { readonly key_until: Time } | null;
  /** Where the store is shared: the newest sign of its holder that this was decided on. A later one under that fence is a conflict. */
  readonly heard?: { readonly fence: number; readonly at: Time };
  /** Where the store is shared: left ready, it is left to workers of this node for a moment, since one of them asks for such work. */
  readonly stays?: boolean;
}

/**
 * An entry of the log that is of no handoff: what somebody did with the relay itself. It stands among the events, in the
 * order of the commits, and goes by age as they do; whoever did it and whomever it concerns find it by their names.
 */
export interface LogEntry {
  readonly namespace: string;
  readonly type: EntryType;
  /** Not before any event that stands earlier in the log. */
  readonly at: Time;
  readonly by: string;
  /** The agents it concerns. */
  readonly agents: readonly string[];
  readonly capability: string | null;
  /** What else belongs to an entry of this type. */
  readonly detail?: Readonly<Record<string, unknown>>;
}
/**
 * `looked`: somebody was shown what these agents ask for their work. `agreed`, `contract_ended`: these two have a contract, or
 * have it no more.
 */
export type EntryType = "looked" | "agreed" | "contract_ended";

/** What must be committed together: all of it or none. */
export interface Unit {
  readonly writes: readonly Write[];
  readonly records: readonly RecordWrite[];
  /** In the log they follow the events of the writes. */
  readonly entries?: readonly LogEntry[];
  /** Only where the store is shared: what else the unit was decided on. Not so any more, it conflicts. */
  readonly expects?: Expectation;
  /** Only where the store is shared: since when the node that decided had been there. Kept with the unit's events. */
  readonly resumed_at?: Time;
}

/** What a unit was decided on besides what it writes, as the store said it before the batch began. */
export interface Expectation {
  readonly handoffs: readonly { readonly namespace: string; readonly id: string; readonly version: number }[];
  /** What `laneMembers` answered. Whoever expects something of a lane is alone with it until its commit. */
  readonly lanes: readonly LaneSeen[];
}
export interface LaneSeen {
  readonly namespace: string;
  readonly lane: string;
  readonly limit: number;
  readonly members: readonly string[];
}

/**
 * `conflict`: a version, a key or what a unit expects was not so; nothing of the unit was written. A later unit of the same commit
 * that writes to a handoff of such a unit conflicts too: it was decided on what was not written.
 */
export type UnitResult = "ok" | "conflict";

/** Small named things besides handoffs: agents, tokens, redrive plans, artifacts. */
export interface StoredRecord {
  readonly namespace: string;
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly value: unknown;
}
export interface RecordWrite {
  readonly namespace: string;
  readonly kind: string;
  readonly key: string;
  /** 0: must not exist yet. */
  readonly expected_version: number;
  /** Undefined deletes it. */
  readonly value: unknown;
}

export interface ListQuery {
  readonly namespace: string;
  /** Sender. */
  readonly from?: string;
  /** Sender, addressee or the agent it was last delivered to. */
  readonly party?: string;
  readonly state?: string;
  readonly capability?: string;
  readonly to?: string;
  readonly correlation_id?: string;
  readonly causation_id?: string;
  readonly conversation_id?: string;
  readonly label?: { readonly key: string; readonly value: string };
  readonly untaken?: true;
  readonly dead_letter?: "open" | "redriven" | "discarded" | "any";
  /** Open questions to the sender (""), or to one of these capabilities. */
  readonly question_to?: readonly string[];
  readonly accepted_from?: Time;
  readonly accepted_until?: Time;
  readonly code?: number;
  /** Exclusive; a page's `after`. */
  readonly after?: string;
  readonly order: "newest" | "oldest";
  readonly limit: number;
}
export interface Page {
  readonly handoffs: readonly Handoff[];
  /** Where the next page begins; null: this was the last. */
  readonly after: string | null;
}

export interface EventQuery {
  readonly namespace: string;
  readonly handoff?: string;
  readonly correlation_id?: string;
  /** Sender, addressee or actor; of an entry, whoever did it or is concerned by it. */
  readonly agent?: string;
  readonly at_from?: Time;
  readonly at_until?: Time;
  /** Exclusive. */
  readonly after_pos: number;
  readonly limit: number;
}
export interface StoredEvent {
  readonly pos: number;
  /** The event's JSON, exactly as it was first written. */
  readonly json: string;
  /** Since when the node that decided it had been there; absent where that node was alone with the store. */
  readonly resumed_at?: Time;
}
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Events at or below this position are gone. */
  readonly floor: number;
  /** The newest position in the log, whatever the filter: where a reader that got nothing may go on. */
  readonly head: number;
}

export interface Space {
  /** Bytes that can still be written; null where the store cannot tell. */
  readonly free_bytes: number | null;
  readonly used_bytes: number;
}

/** A sign of life of whoever holds a lease: worth remembering, not worth a sync. */
export interface Beat {
  readonly namespace: string;
  readonly id: string;
  readonly agent: string;
  readonly worker: string;
  readonly fence: number;
  readonly at: Time;
  readonly progress: Progress | null;
}

/** That an agent or one of its workers was heard of by some node: worth telling the others, not worth keeping. */
export interface SignOfLife {
  readonly namespace: string;
  readonly agent: string;
  /** Null: of the agent, no worker was named. */
  readonly worker: string | null;
  readonly at: Time;
  /** It waits for work at that node. */
  readonly asking: boolean;
}

/** A part of what the holder of a fence streams, in UTF-16 units. */
export interface TextPiece {
  readonly namespace: string;
  readonly id: string;
  readonly fence: number;
  readonly offset: number;
  readonly text: string;
  /** What lies wholly before this offset, and what other attempts streamed before, need not be kept. */
  readonly floor: number;
}
/** Of the newest fence that something was streamed under. */
export interface StreamedText {
  readonly fence: number;
  readonly floor: number;
  readonly end: number;
  /** Those that reach beyond the offset asked for, in order; they may overlap. */
  readonly pieces: readonly { readonly offset: number; readonly text: string }[];
}

/**
 * Bytes too large for a row, for every node to read: written in pieces under a name of the writer's choosing, and there under their
 * digest once they are kept. Whoever keeps what is there already makes it young again.
 */
export interface SharedBytes {
  /** All pieces but the last are of this length. */
  readonly piece_bytes: number;
  write(upload: string, nth: number, piece: Uint8Array, now: Time): Promise<void>;
  /** Durable once it resolves. */
  keep(upload: string, sha256: string, size: number, now: Time): Promise<void>;
  /** What was written so far, and was not kept. */
  drop(upload: string): Promise<void>;
  size(sha256: string): Promise<number | null>;
  /** Null: it is not there, or has no such piece. */
  piece(sha256: string, nth: number): Promise<Uint8Array | null>;
  /** Unless they were kept since: then somebody has just put them up. */
  remove(sha256: string, kept_before: Time): Promise<void>;
  /** In the order of their digests, after this one. */
  list(after: string, limit: number): Promise<readonly { readonly sha256: string; readonly kept_at: Time }[]>;
  /** Pieces from before then that were never kept: their writer is gone. */
  sweep(written_before: Time): Promise<void>;
}

/** What a node says of itself, now and then. */
export interface NodeSign {
  readonly name: string;
  readonly version: string;
  readonly since: Time;
  /** It takes no new work. */
  readonly draining: boolean;
  /** What is still under way at it: WebSockets, calls, claims that wait for work. */
  readonly connections: number;
  readonly calls: number;
  readonly claims: number;
  /** It says so the last time. */
  readonly ended: boolean;
}
export interface KnownNode extends NodeSign {
  /** Tells it from others of its name, and from itself before it was started again. */
  readonly life: string;
  /** Somebody asked it to take no new work: it may not have heard so yet. */
  readonly asked: boolean;
  readonly heard_at: Time;
}

/** The nodes of a shared store, as they know each other. Gone some minutes after their last sign, or with a crash of the server. */
export interface SharedNodes {
  /** This node's own. */
  readonly life: string;
  /** Answers whether it was asked to take no new work. */
  sign(sign: NodeSign): Promise<boolean>;
  /** In the order of their names; and when it was read. */
  all(): Promise<{ readonly nodes: readonly KnownNode[]; readonly read_at: Time }>;
  /** These should take no new work, or take it again. They hear of it when they next sign. */
  ask(lives: readonly string[], drain: boolean): Promise<void>;
}

/** An event as whoever follows the whole log reads it. */
export interface FollowedEvent extends StoredEvent {
  readonly namespace: string;
  /** What its JSON says, where this node wrote it and need not read it. */
  readonly told?: HandoffEvent | LogEntry;
}

/** Which record it is. */
export type RecordName = Pick<StoredRecord, "namespace" | "kind" | "key">;

/** One look at what other nodes made of records. */
export interface ChangedRecords {
  /** Written, or gone: whoever wants to know reads them. Without those that this node wrote. */
  readonly names: readonly RecordName[];
  /** Where the next look begins. */
  readonly after: number;
  /** Whether there was more than the limit. */
  readonly is_cut: boolean;
}

/** What may be among that which a signal tells of. */
export interface Among {
  readonly has_records: boolean;
  /** Work that is ready, and that no worker of the node asks for that left it. */
  readonly has_left: boolean;
}

/** What a store offers that several nodes write to at once. */
export interface Sharing {
  readonly nodes: SharedNodes;
  /** The clock that all nodes go by. */
  now(): Promise<Time>;
  /** Every node's `load` knows of them from then on. Answers of each whether its worker holds it still: if not, it came too late. */
  beat(beats: readonly Beat[]): Promise<readonly boolean[]>;
  /** Tells the other nodes; an older sign of the same worker gives way. Gone after some minutes, or with a crash of the server. */
  hear(signs: readonly SignOfLife[]): Promise<void>;
  /** What any node told since then, some of it perhaps again; and when it was read. */
  heard(since: Time): Promise<{ readonly signs: readonly SignOfLife[]; readonly read_at: Time }>;
  /** Streamed output, for every node to read: not synced, and gone some minutes after the handoff's end. Of each stream one piece. */
  appendText(pieces: readonly TextPiece[]): Promise<void>;
  readText(namespace: string, id: string, offset: number): Promise<StreamedText | null>;
  /** Calls back when another node has appended text of a handoff. It may miss some. */
  listenToText(onText: (namespace: string, id: string) => void): () => void;
  /** Of this namespace. */
  bytes(namespace: string): SharedBytes;
  /** The log of all namespaces, in order, after a position. */
  follow(after_pos: number, limit: number): Promise<readonly FollowedEvent[]>;
  /** The newest position. */
  head(): Promise<number>;
  /** Where the changes of records end now: whatever is read from the store afterwards has all of them up to here in it. */
  recordHead(): Promise<number>;
  /** What other nodes made of records after that, in order. Null: so far back it is not known any more, read everything. */
  changedRecords(after: number, limit: number): Promise<ChangedRecords | null>;
  /** These records as they are now, in any order; those that are gone are left out. */
  namedRecords(names: readonly RecordName[]): Promise<readonly StoredRecord[]>;
  /**
   * Calls back when another node may have committed something, with how long the signal took since then, where it says so, and what may
   * be among it. It may miss some: whoever listens also looks by itself.
   */
  listen(onSignal: (lag_ms: Duration | null, among: Among) => void): () => void;
}

/** How the server behind a store is, for whoever watches it. */
export interface StoreServer {
  /** The connections that read: how many, how many of them answer something, and what waits behind that. */
  pool(): { readonly size: number; readonly busy: number; readonly waiting: number };
  /** The oldest of each kind that keeps old rows from being cleaned up, as it was some seconds ago at most. */
  heldBack(): Promise<readonly HeldBack[]>;
}
export interface HeldBack {
  /** A transaction of somebody's, a standby's, a replication slot, a prepared transaction. */
  readonly holder: "session" | "standby" | "slot" | "prepared";
  /** How many transactions have begun since. */
  readonly transactions: number;
  /** Null: the server does not know. */
  readonly seconds: number | null;
}

export interface Store {
  /** Absent: whoever opened the store is alone with it. */
  readonly sharing?: Sharing | undefined;
  /** Absent: there is none. */
  readonly server?: StoreServer | undefined;

  /**
   * One durable transaction. Resolves only after the bytes are safe; a rejection means *unknown*: some or none may be
   * on disk, and the caller must `recover` before anything else.
   */
  commit(units: readonly Unit[]): Promise<readonly UnitResult[]>;
  /**
   * After a failed commit: forget everything held in memory and read the truth from disk. Where that fails because the store
   * is away for now (the error has `is_away: true`), it may be asked for again.
   */
  recover(): Promise<void>;

  load(namespace: string, ids: readonly string[]): Promise<readonly (Handoff | null)[]>;
  key(namespace: string, from: string, key: string): Promise<{ readonly id: string; readonly content: string } | null>;
  /** Whether a handoff of this id was purged and its key is still kept. */
  wasPurged(namespace: string, id: string): Promise<boolean>;
  body(namespace: string, id: string, kind: BodyKind, number: number): Promise<Body | null>;
  bodies(namespace: string, id: string): Promise<readonly Body[]>;

  /**
   * The best-ranked handoffs of these queues that `agent` ("": nobody) is not excluded from, over all of them at most `limit`.
   * In a shared store they are kept for the caller until its next commit, and those that another node keeps are passed over.
   */
  candidates(query: {
    readonly namespace: string;
    readonly queues: readonly string[];
    readonly agent: string;
    readonly limit: number;
    /** In a shared store: what `stays` with another node is passed over until so long after the time that its rank is. */
    readonly stays_ms?: Duration;
  }): Promise<readonly Ready[]>;
  /** Handoffs whose `wake_at` is not after `now`, earliest first; in a shared store kept for the caller as `candidates` are. */
  due(now: Time, limit: number): Promise<readonly { readonly namespace: string; readonly id: string }[]>;
  nextDue(): Promise<Time | null>;
  /** The open handoffs of this lane, in the order they were accepted, at most `limit`. */
  laneMembers(namespace: string, lane: string, limit: number): Promise<readonly string[]>;
  /** What this worker holds. Given a request of its, what others of its requests got may be left out. */
  held(namespace: string, agent: string, worker: string, request_id?: string): Promise<readonly string[]>;
  /** Every live lease, in all namespaces. */
  leases(): Promise<
    readonly {
      readonly namespace: string;
      readonly id: string;
      readonly agent: string;
      readonly capability: string | null;
      /** Whose work it is. */
      readonly from: string;
    }[]
  >;
  /**
   * The agent that the newest handoff of this tie was last delivered to, of those that were delivered and are addressed to
   * nobody by name; null: there is none.
   */
  lastServed(namespace: string, tie: Tie): Promise<string | null>;
  openChildren(namespace: string, parent: string, limit: number): Promise<readonly string[]>;

  list(query: ListQuery): Promise<Page>;
  /** How many handoffs each sender has open, in all namespaces. */
  openBySender(): Promise<readonly { readonly namespace: string; readonly from: string; readonly open: number }[]>;
  /** How many handoffs are in each state. */
  counts(namespace: string): Promise<Readonly<Record<string, number>>>;
  events(query: EventQuery): Promise<EventPage>;
  /** Handoffs that refer to this artifact. */
  referrers(namespace: string, sha256: string, limit: number): Promise<readonly string[]>;

  records(namespace: string, kind: string): Promise<readonly StoredRecord[]>;
  record(namespace: string, kind: string, key: string): Promise<StoredRecord | null>;

  /**
   * Drop events written before `events_before` and keys whose window is over; at most `limit` rows of each. Events of a
   * handoff that is still kept, and whatever came after its accept, stay.
   */
  prune(now: Time, events_before: Time, limit: number): Promise<{ readonly events: number; readonly keys: number }>;
  space(): Promise<Space>;
  /** The latest time the log knows: the clock never goes behind it. */
  latest(): Promise<Time>;
  /** A consistent copy while running. A store with tools of its own for that refuses: the error has `is_elsewhere: true`. */
  backup(path: string, progress?: (done: number, total: number) => void): Promise<void>;
  close(): Promise<void>;
}
