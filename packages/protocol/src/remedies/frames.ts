/** Reasons of WebSocket connections and their frames. */

import type { Reason } from "./reason.ts";

export const frameReasons: readonly Reason[] = [
  {
    codes: [400],
    reason: "upgrade_required",
    cause: "The address is for WebSockets, and an ordinary request came.",
    remedy:
      "Open it as a WebSocket with the subprotocol handfast.v1; ordinary calls go to the other addresses under /v1.",
  },
  {
    codes: [400],
    reason: "subprotocol",
    cause: "The WebSocket was opened without the subprotocol handfast.v1.",
    remedy: "Name handfast.v1 as the subprotocol when opening it.",
  },
  {
    codes: [401],
    reason: "hello_missing",
    cause: "The first frame of a connection must say who is calling, and this one did not.",
    remedy: 'Send {"hello": {"credential": …}} first.',
  },
  {
    codes: [401],
    reason: "hello_timeout",
    cause: "The connection was opened, and no hello came in time.",
    remedy: "Send the hello as soon as the connection is open.",
  },
  {
    codes: [400],
    reason: "bad_hello",
    cause: "The hello is not of the form that is asked for.",
    remedy: 'Send {"hello": {"credential": …}} with a session credential or a token, and no more.',
  },
  {
    codes: [400],
    reason: "second_hello",
    cause: "The hello was said before on this connection.",
    remedy: "Say it once; a new credential comes with the operation authenticate.",
  },
  {
    codes: [403],
    reason: "another_agent",
    cause: "The new credential is of another agent than the one this connection belongs to.",
    remedy: "Open a connection of its own for each agent.",
    mended_by: "asker",
  },
  {
    codes: [400],
    reason: "binary_frame",
    cause: "A binary frame came, and every frame is text.",
    remedy: "Send text frames, each one JSON object.",
  },
  {
    codes: [400],
    reason: "empty_frame",
    cause: "The frame has no member, so it says nothing.",
    remedy: "Send calls, a ping or what is abandoned; send nothing if there is nothing to say.",
  },
  {
    codes: [400],
    reason: "not_an_object",
    cause: "A frame, or a call in it, is not a JSON object.",
    remedy: "Send one JSON object per frame, and one per call in its list of calls.",
  },
  {
    codes: [400],
    reason: "unknown_member",
    cause: "A frame, or a call in it, has a member that is not known, most often a misspelt one.",
    remedy: "Correct or remove the member that the detail names.",
  },
  {
    codes: [400],
    reason: "bad_signature_member",
    cause: "The signature of the frame is not of the form that is asked for.",
    remedy: 'Send {"key": …, "sig": …} and no more.',
  },
  {
    codes: [400],
    reason: "bad_ping",
    cause: "A ping is not a whole number.",
    remedy: "Send a whole number; the answer repeats it.",
  },
  {
    codes: [400],
    reason: "bad_abandon",
    cause: "What is abandoned is not a list of numbers of calls.",
    remedy: "Send a list of the n of calls that are not wanted any more.",
  },
  {
    codes: [400],
    reason: "bad_calls",
    cause: "The calls of a frame are not a list.",
    remedy: "Send them as a list, also where there is one.",
  },
  {
    codes: [400],
    reason: "bad_n",
    cause: "A call has no number of its own.",
    remedy: "Give each call an n, a positive integer, by which its answer is known.",
  },
  {
    codes: [400],
    reason: "bad_op",
    cause: "A call does not name an operation.",
    remedy: "Give each call an op: the name of an operation, such as submit.",
  },
  {
    codes: [400],
    reason: "n_taken",
    cause: "A call of this number is still open on the connection.",
    remedy: "Count upwards: a new n for each call.",
  },
  {
    codes: [400],
    reason: "no_stream",
    cause: "The operation does not stream.",
    remedy: "Call it without stream.",
  },
  {
    codes: [413],
    reason: "frame_too_large",
    cause: "The frame is larger than the relay reads.",
    remedy: "Send less in a frame, and artifacts over HTTP; the hello's answer states the limit.",
  },
  {
    codes: [413, 429],
    reason: "too_many_calls",
    cause: "There are more calls in the frame, or open on the connection, than are taken.",
    remedy: "Send fewer at once, and wait for answers before asking for more; the hello's answer states the limits.",
  },
  {
    codes: [413],
    reason: "use_http",
    cause: "The reply is larger than a frame may be.",
    remedy: "Make this call over HTTP.",
  },
  {
    codes: [429],
    reason: "too_many_connections",
    cause: "The agent, or all agents together, have as many connections open as the relay takes.",
    remedy: "Share one connection between many calls, and close those that are not used.",
  },
];
