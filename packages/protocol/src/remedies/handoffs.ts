/** Reasons of the state machine: what can stand against an act on a handoff, and how a handoff can end. */

import type { Reason } from "./reason.ts";

export const handoffReasons: readonly Reason[] = [
  // Submitting
  {
    codes: [400],
    reason: "id_time",
    cause: "An id carries the time at which it was made, and this one lies too far from the relay's time.",
    remedy: "Set the clock of the machine that makes the ids, and make a new UUIDv7.",
  },
  {
    codes: [400],
    reason: "reserved_key",
    cause: "The idempotency key begins with handfast:, which the relay keeps for itself.",
    remedy: "Choose a key that begins otherwise.",
  },
  {
    codes: [400],
    reason: "correlation_differs",
    cause: "A child belongs to the correlation of its parent, and this one names another.",
    remedy: "Leave the correlation out, or name the parent's.",
  },
  {
    codes: [402],
    reason: "budget_spent",
    cause: "A handoff above this one has a budget, and it is used up.",
    remedy: "End the work with what there is, or send a new root handoff with a larger budget.",
  },
  {
    codes: [403],
    reason: "foreign_parent",
    cause: "The handoff names a parent that its sender does not hold.",
    remedy: "Name the handoff that this agent works on, with its fence; or send without a parent.",
    mended_by: "asker",
  },
  {
    codes: [404],
    reason: "unknown_parent",
    cause: "The handoff names a parent that does not exist here.",
    remedy: "Check the parent's id and namespace, or send without a parent.",
  },
  {
    codes: [404, 401],
    reason: "unknown_agent",
    cause: "No agent of this name has registered here.",
    remedy: "List the agents to see the names; start the agent, or send with queue_if_absent to wait for it.",
  },
  {
    codes: [406],
    reason: "nobody_offers",
    cause: "No agent that the relay knows offers the capability.",
    remedy: "Start a worker that offers it, correct the name, or send with queue_if_absent to wait for one.",
  },
  {
    codes: [409],
    reason: "key_conflict",
    cause: "The idempotency key stands for an earlier handoff with other content.",
    remedy: "To repeat that handoff, send the same content; for new work use a new key.",
  },
  {
    codes: [409],
    reason: "id_taken",
    cause: "Another handoff or negotiation has this id.",
    remedy: "Make a new UUIDv7 for each; to repeat a submit, keep its idempotency key as well.",
  },
  {
    codes: [422, 500, 501],
    reason: "input_unfit",
    cause: "The input does not fit the schema that the agents offering this state.",
    remedy: "Correct the value at the path that the detail names; the schema is in the list of agents.",
  },
  {
    codes: [429],
    reason: "over_quota",
    cause: "The sender has as many handoffs open as it may.",
    remedy: "Wait until some have ended, or cancel what is not needed any more.",
  },
  {
    codes: [508],
    reason: "too_many_hops",
    cause: "The chain of handoffs below the first is too long, most often because agents hand work on in a circle.",
    remedy: "Look at the tree of the correlation, and break the circle.",
  },

  // Holding
  {
    codes: [401],
    reason: "signature_demanded",
    cause: "The sender demands signed acks and outcomes, and this one came with a token only.",
    remedy: "Let a worker with the agent's key take it; or let the sender send with evidence any.",
  },
  {
    codes: [403],
    reason: "foreign_lease",
    cause: "The lease is, or was, another agent's.",
    remedy: "Act only on leases that a claim of this agent returned.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "foreign_worker",
    cause: "Another worker of the same agent holds this lease.",
    remedy: "Give each worker a name of its own, and act only on the leases of that worker.",
    mended_by: "asker",
  },
  {
    codes: [403],
    reason: "not_for_agent",
    cause: "The handoff is for another agent, or this agent has declined it before.",
    remedy: "Leave it to the agents that it is for.",
    mended_by: "nobody",
  },
  {
    codes: [404],
    reason: "unknown_handoff",
    cause: "There is no handoff of this id, it was removed by age, or the caller has no part in it.",
    remedy: "Check the id and the namespace, and call as its sender, its agent or an operator.",
  },
  {
    codes: [408],
    reason: "deadline_passed",
    cause: "The deadline came before the end, whatever the handoff was doing then.",
    remedy: "Its history shows which part took the time. Redrive it, or send anew with a longer deadline.",
  },
  {
    codes: [410],
    reason: "canceled",
    cause: "The sender or an operator canceled the handoff, or its parent ended.",
    remedy: "Send it anew if it is wanted after all. A worker stops: what it still does is late and changes nothing.",
  },
  {
    codes: [412],
    reason: "lease_lost",
    cause: "The fence is over: no heartbeat came in time, or the handoff has moved on.",
    remedy: "Stop this work. Beat more often than the lease lasts, also while the handler is busy.",
    mended_by: "agent",
  },
  {
    codes: [412],
    reason: "not_ready",
    cause: "The handoff cannot be delivered at this moment.",
    remedy: "Claim again; the relay gives it out when its time has come.",
  },
  {
    codes: [409],
    reason: "notice",
    cause: "A notice ends when it is acknowledged, so there is nothing to do with it afterwards.",
    remedy: "Acknowledge it, and say no more.",
  },
  {
    codes: [409],
    reason: "chunk_gap",
    cause: "A piece of streamed output does not begin where the one before it ended.",
    remedy: "Write the pieces in order, each from the offset that the answer to the one before named.",
  },

  // Questions
  {
    codes: [403],
    reason: "not_asked",
    cause: "The question was put to somebody else.",
    remedy: "Leave the answer to the sender or to the agents that the question names.",
    mended_by: "asker",
  },
  {
    codes: [404],
    reason: "unknown_question",
    cause: "There is no question of this id, or it was not put to the caller.",
    remedy: "List the open questions to see the ids.",
  },
  {
    codes: [408, 410],
    reason: "question_closed",
    cause: "Nobody waits for this answer any more: its time is over, or the handoff has ended.",
    remedy: "Look at the handoff. If it is a dead letter, redrive it and answer the new question in time.",
  },
  {
    codes: [409],
    reason: "already_answered",
    cause: "The question has another answer already, and the first one counts.",
    remedy: "Read the question to see the answer that was given.",
  },
  {
    codes: [409],
    reason: "question_taken",
    cause: "A question of this id was asked before in this handoff.",
    remedy: "Give each question of a handoff an id of its own.",
  },
  {
    codes: [409],
    reason: "question_open",
    cause: "A handoff has one open question at a time.",
    remedy: "Wait for the answer before asking the next.",
  },
  {
    codes: [413],
    reason: "question_too_large",
    cause: "The question with its schema is larger than the relay keeps.",
    remedy: "Ask in fewer words, and put long material up as an artifact.",
  },
  {
    codes: [422],
    reason: "answer_unfit",
    cause: "The answer does not fit the schema that the question states.",
    remedy: "Read the question's schema, and correct the value at the path that the detail names.",
  },
  {
    codes: [422],
    reason: "question_unanswerable",
    cause: "No value fits the schema that the question states for its answer.",
    remedy: "Correct the schema, or leave it out and read the answer as it comes.",
    mended_by: "agent",
  },
  {
    codes: [429],
    reason: "too_many_questions",
    cause: "The handoff has asked as many questions as one may.",
    remedy: "Ask for more at once, or end with what is known.",
    mended_by: "agent",
  },

  // Outcomes
  {
    codes: [409],
    reason: "outcome_conflict",
    cause: "Another outcome was given under this fence, and the first one counts.",
    remedy: "Give one outcome per lease; to repeat it after a broken connection, repeat the same bytes.",
  },
  {
    codes: [502, 500],
    reason: "output_unfit",
    cause: "The output does not fit the agent's own schema, or what the sender expects.",
    remedy: "Correct the value at the path that the detail names. The lease is kept for a few tries.",
  },
  {
    codes: [409],
    reason: "not_ended",
    cause: "There is no outcome to take before the end.",
    remedy: "Wait for the end, then take the outcome.",
  },
  {
    codes: [409],
    reason: "not_dead",
    cause: "Only a handoff that failed, was rejected or expired is a dead letter, and this is none.",
    remedy: "Look at its state. To run completed work again, send it anew.",
  },
  {
    codes: [409],
    reason: "discarded",
    cause: "The dead letter was discarded before.",
    remedy: "Send the work anew.",
  },
  {
    codes: [409],
    reason: "redriven",
    cause: "The dead letter was redriven before, so it cannot be discarded.",
    remedy: "Follow the handoff that it became; cancel that one if it is not wanted.",
  },

  // Ends that the relay itself brings about
  {
    codes: [503],
    reason: "queue_timeout",
    cause: "No worker that offers this was free before the queue clock ran out.",
    remedy: "Start more workers, or give the handoff more time in the queue; then redrive it.",
  },
  {
    codes: [504],
    reason: "not_acknowledged",
    cause: "Workers took the lease, but none acknowledged it within the ack clock.",
    remedy: "Let workers acknowledge before they begin, and claim no more than they have free slots; then redrive it.",
  },
  {
    codes: [500],
    reason: "attempt_timeout",
    cause: "A worker went on beating, but the attempt ran longer than the attempt clock allows.",
    remedy: "Find out why the handler hangs, or give the capability a longer timeout; then redrive it.",
  },
  {
    codes: [521],
    reason: "agent_lost",
    cause: "The worker acknowledged the handoff, and then no heartbeat came for a whole lease.",
    remedy: "See whether the worker crashed, was killed or was cut off; checkpoints let the next attempt go on.",
  },
  {
    codes: [408],
    reason: "question_unanswered",
    cause: "The worker had parked the handoff on a question, and no answer came by its answer_by.",
    remedy: "Redrive it and answer in time, or let the worker wait longer for answers.",
    mended_by: "asker",
  },
  {
    codes: [404, 406, 501],
    reason: "not_offered",
    cause: "The agent does not offer this capability, or does not offer it any more.",
    remedy: "Register the capability before claiming or sending for it, or name one that the agent offers.",
  },
];
