/** Reasons of what carries a request (JSON, HTTP), of too much at once, and of the relay's own troubles. */

import type { Reason } from "./reason.ts";

export const transportReasons: readonly Reason[] = [
  // JSON
  {
    codes: [400],
    reason: "syntax",
    cause: "The body is not JSON.",
    remedy: "Correct the text at the character that the detail names.",
  },
  {
    codes: [400],
    reason: "not_utf8",
    cause: "The body is not UTF-8.",
    remedy: "Encode the JSON as UTF-8.",
  },
  {
    codes: [400],
    reason: "too_deep",
    cause: "The JSON is nested more deeply than the relay reads.",
    remedy: "Flatten the value, or send it as an artifact.",
  },
  {
    codes: [400],
    reason: "too_many_keys",
    cause: "The JSON has more members than the relay reads.",
    remedy: "Send less, or send the value as an artifact.",
  },
  {
    codes: [400],
    reason: "duplicate_key",
    cause: "An object of the JSON has the same key twice, and readers would disagree about it.",
    remedy: "Leave one of the two out.",
  },
  {
    codes: [400],
    reason: "forbidden_key",
    cause: "An object of the JSON has a key that is dangerous to read, such as __proto__.",
    remedy: "Give the key another name.",
  },
  {
    codes: [400],
    reason: "lone_surrogate",
    cause: "A string of the JSON has half of a surrogate pair, which is no character.",
    remedy: "Send whole characters, also where text is cut to a length.",
  },
  {
    codes: [400],
    reason: "number_out_of_range",
    cause: "A number of the JSON cannot be kept exactly.",
    remedy: "Send large or very exact numbers as strings.",
  },

  // HTTP
  {
    codes: [404],
    reason: "unknown_operation",
    cause: "There is nothing under this address.",
    remedy: "Check the path against /v1/openapi.json of the relay.",
  },
  {
    codes: [404],
    reason: "unknown_path",
    cause: "There is nothing under this address of a relay that runs inside a program.",
    remedy: "Check the path against the list of operations.",
  },
  {
    codes: [404],
    reason: "unknown_method",
    cause: "The address takes other methods than this one.",
    remedy: "Use a method that the header Allow names.",
  },
  {
    codes: [400],
    reason: "bad_url",
    cause: "The address cannot be read.",
    remedy: "Percent-encode what stands in the path.",
  },
  {
    codes: [400],
    reason: "bad_request",
    cause: "The request cannot be understood.",
    remedy: "Check its method, path, headers and body against /v1/openapi.json.",
  },
  {
    codes: [400],
    reason: "not_http",
    cause: "What came over the connection is not HTTP.",
    remedy: "Check the URL's scheme, and any proxy on the way.",
  },
  {
    codes: [400],
    reason: "content_type",
    cause: "The body is not announced as the media type that the operation takes.",
    remedy: "Send Content-Type: application/json with JSON.",
  },
  {
    codes: [400],
    reason: "expectation",
    cause: "The header Expect asks for something that the relay does not know.",
    remedy: "Leave the header out, or send 100-continue.",
  },
  {
    codes: [400],
    reason: "repeated_header",
    cause: "A header that may come once came more often.",
    remedy: "Send it once.",
  },
  {
    codes: [400],
    reason: "prefer_wait",
    cause: "The header Prefer: wait has something else than whole seconds.",
    remedy: "Write it as Prefer: wait=20.",
  },
  {
    codes: [400],
    reason: "body_cut",
    cause: "The connection broke before the whole body had come.",
    remedy: "Repeat the request; a repeat with the same id or key has no further effect.",
  },
  {
    codes: [408],
    reason: "body_timeout",
    cause: "The body did not come in time.",
    remedy: "Send it without pauses; look at the network between here and the relay.",
  },
  {
    codes: [408],
    reason: "request_timeout",
    cause: "The request did not come in time.",
    remedy: "Send it without pauses; look at the network between here and the relay.",
  },
  {
    codes: [408],
    reason: "upload_too_slow",
    cause: "The bytes of the artifact came too slowly.",
    remedy: "Put it up again over a faster connection.",
  },
  {
    codes: [403],
    reason: "foreign_host",
    cause: "In development mode the relay answers only under its own URL, so that no web page can misuse it.",
    remedy: "Call it by the URL that it printed at its start, or add this one to public_urls.",
  },
  {
    codes: [403],
    reason: "foreign_origin",
    cause: "In development mode web pages of other origins may not call the relay.",
    remedy: "Serve the page from one of the relay's public URLs, or call from a program.",
  },

  // Too much at once
  {
    codes: [429],
    reason: "too_fast",
    cause: "The caller makes more calls in a second than it may.",
    remedy: "Wait as long as Retry-After says; send many handoffs in one batch, and wait for ends instead of polling.",
  },
  {
    codes: [429],
    reason: "busy",
    cause: "More is going on than the relay does at once, for this caller or for all.",
    remedy: "Wait as long as Retry-After says, then repeat the same request.",
  },
  {
    codes: [429],
    reason: "too_many_streams",
    cause: "The caller has as many event streams open as it may.",
    remedy: "Close some, or follow a correlation instead of its handoffs one by one.",
  },
  {
    codes: [429],
    reason: "too_many_uploads",
    cause: "The caller, or all callers together, put up as many artifacts at once as the relay takes.",
    remedy: "Wait until some are done, then put it up again.",
  },
  {
    codes: [429],
    reason: "slow_reader",
    cause: "The reader of a stream took nothing for so long that the relay let it go.",
    remedy: "Read faster, and go on from the last id that came.",
    mended_by: "asker",
  },
  {
    codes: [429],
    reason: "stopping",
    cause: "The relay is being stopped or restarted.",
    remedy: "Repeat the request in a moment; leases survive a restart.",
    mended_by: "nobody",
  },

  {
    codes: [429],
    reason: "draining",
    cause: "The node that was called takes no new work: an operator drains it, most often to replace it.",
    remedy: "Repeat the request: behind a load balancer another node answers it. Leases stay valid at every node.",
    mended_by: "nobody",
  },
  {
    codes: [404],
    reason: "unknown_node",
    cause: "No node of this name was heard of in the last minutes.",
    remedy: "List the nodes (`handfast nodes`); their names are set with --node.",
  },
  {
    codes: [404],
    reason: "node_gone",
    cause: "The node has ended, or was not heard of for a while.",
    remedy: "Nothing is left to drain there; whatever it held, other nodes go on with.",
  },
  {
    codes: [409],
    reason: "not_among_several",
    cause: "The relay keeps its handoffs in a file of its own: there is no other node that its work could go to.",
    remedy: "Stop it with SIGTERM: it finishes what was asked, and leases are kept until it is back.",
  },

  // The relay's own troubles
  {
    codes: [507],
    reason: "out_of_space",
    cause: "The relay's disk is nearly full, so it keeps the rest for open handoffs to end.",
    remedy: "An operator frees space or gives the relay a larger disk; then repeat the request.",
  },
  {
    codes: [500],
    reason: "commit_unknown",
    cause: "The disk did not confirm the write, so the relay does not know whether it happened; it recovers from disk.",
    remedy: "Repeat the same request with the same id: if it happened, the answer is the first one's.",
    mended_by: "operator",
  },
  {
    codes: [500],
    reason: "store_away",
    cause: "The relay cannot reach its database, or the database takes no writes; nothing of the request was written.",
    remedy: "Repeat the request after the time in Retry-After, at this node or another; /readyz says what is wrong.",
    mended_by: "operator",
  },
  {
    codes: [500],
    reason: "conflict",
    cause: "What the call was about kept changing while the relay tried.",
    remedy: "Repeat the request.",
    mended_by: "asker",
  },
  {
    codes: [500],
    reason: "internal",
    cause: "The relay made a mistake; it stands in the relay's log.",
    remedy: "Repeat the request. If it happens again, give the operator its time and operation.",
    mended_by: "operator",
  },
  {
    codes: [409],
    reason: "changed_meanwhile",
    cause: "Somebody else changed the same record at the same time.",
    remedy: "Repeat the request.",
  },
  {
    codes: [409],
    reason: "exists",
    cause: "A copy of this name exists, and a backup never writes over one.",
    remedy: "Name a new file.",
  },
  {
    codes: [409],
    reason: "backup_elsewhere",
    cause: "The relay keeps its handoffs in PostgreSQL, which has tools of its own for a consistent copy.",
    remedy:
      "Run `pg_dump` or `pg_basebackup` against its database: the artifacts, the relay's key and the operator's token are in there too.",
    mended_by: "operator",
  },
  {
    codes: [400],
    reason: "backup_failed",
    cause: "The copy could not be written.",
    remedy: "Check the space and the rights of the folder for backups in the relay's data directory.",
    mended_by: "operator",
  },
];
