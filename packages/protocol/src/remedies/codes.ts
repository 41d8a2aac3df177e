/** Cause and remedy of each status code: what is said where a reason is not known. */

import type { StatusCode } from "../status-codes.ts";
import type { Remedy } from "./reason.ts";

export const codeRemedies: Readonly<Record<StatusCode, Remedy>> = {
  200: {
    cause: "The agent gave its outcome, and the relay applied it once.",
    remedy: "Nothing to mend. Read the output, then take the outcome so that the relay may forget it.",
  },
  202: {
    cause: "The handoff is safe on the relay's disk and waits for a worker.",
    remedy: "Nothing to mend. Wait for its end, or look at it again by its id.",
  },
  210: {
    cause: "A worker was offered the handoff and has not confirmed it yet.",
    remedy: "Nothing to mend. Without an ack in time it is offered to another worker.",
  },
  211: {
    cause: "The agent itself confirmed that it has the handoff and works on it.",
    remedy: "Nothing to mend. Wait for the outcome.",
  },
  212: {
    cause: "The agent works on the handoff and said how far it has come.",
    remedy: "Nothing to mend. Wait for the outcome.",
  },
  213: {
    cause: "The agent needs to know something before it can go on.",
    remedy: "Answer the question before its answer_by and before the handoff's deadline.",
  },
  400: {
    cause: "The request is not what the protocol asks for.",
    remedy: "Read the detail and the fields it names, correct those, and send the request again.",
  },
  401: {
    cause: "The relay could not tell who is calling, or a signature does not hold.",
    remedy: "Check the token or key, the relay's URL and this machine's clock, then sign anew.",
  },
  402: {
    cause: "The cost, tokens or handoffs granted at the root of this tree are used up.",
    remedy: "Send a new root handoff with a larger budget, or do with less.",
  },
  403: {
    cause: "The relay knows the caller and does not let it do this.",
    remedy: "Do it as the agent that may, or ask an operator to allow it.",
  },
  404: {
    cause: "There is nothing of this name, or the caller may not know that there is.",
    remedy: "Check the id or name and the namespace, and call as an agent that has a part in it.",
  },
  406: {
    cause: "No agent that the relay knows offers what was asked for.",
    remedy:
      "Start a worker that offers it, correct the capability's name, or send with queue_if_absent to wait for one.",
  },
  408: {
    cause: "The handoff did not end before its deadline.",
    remedy:
      "Look at its history to see which part took the time; then redrive it, or send anew with a longer deadline.",
  },
  409: {
    cause: "The same id, key, question or fence was used before with other content.",
    remedy: "Repeat exactly what was said first, or use a new id or key for what is new.",
  },
  410: {
    cause: "The sender or an operator canceled the handoff, or its parent ended.",
    remedy: "Send it anew if it is wanted after all. A worker stops: an outcome given now is late and changes nothing.",
  },
  412: {
    cause: "The lease is over: the handoff has moved on to another fence, or has ended.",
    remedy: "Stop the work under this fence; somebody else goes on from the last checkpoint.",
  },
  413: {
    cause: "A payload, document or list is larger than the relay takes.",
    remedy: "Send less at once, and large payloads as artifacts; the relay states its limits at /.well-known/handfast.",
  },
  422: {
    cause: "The input does not fit the schema of any agent that could take it.",
    remedy: "Correct the value at the path that the detail names; the agent's schema is in the list of agents.",
  },
  428: {
    cause: "The contract has ended, or the manifest under it has changed.",
    remedy: "Negotiate a new contract, or send without one.",
  },
  429: {
    cause: "The caller has too much in flight, or sends too fast.",
    remedy: "Wait as long as Retry-After says, then repeat the same request.",
  },
  500: {
    cause: "The agent said that it could not do the work, as often as it may be tried.",
    remedy: "Read the attempts of the dead letter, mend the agent, then redrive it.",
  },
  501: {
    cause: "Every agent that could have taken the handoff declined it.",
    remedy: "Read why they declined, and send to another capability or with another input.",
  },
  502: {
    cause: "The agent's output did not fit its schema, as often as the relay lets it try.",
    remedy: "Mend the agent's output, or the schema that it or the sender states; then redrive the handoff.",
  },
  503: {
    cause: "No worker took the handoff before its time in the queue ran out.",
    remedy: "Start workers that offer the capability, or give the handoff more time in the queue; then redrive it.",
  },
  504: {
    cause: "The handoff was delivered as often as allowed, and no worker acknowledged it.",
    remedy: "See why the workers take leases without acknowledging them; then redrive the handoff.",
  },
  507: {
    cause: "The relay keeps its last space for open handoffs to end, and takes nothing new.",
    remedy: "An operator frees space on the disk or shortens the retention; then repeat the request.",
  },
  508: {
    cause: "Agents handed the work on to each other more often than allowed, most often in a circle.",
    remedy: "Look at the tree of the correlation, and break the circle.",
  },
  521: {
    cause: "The worker acknowledged the handoff and was not heard of again, on every attempt.",
    remedy: "See whether the worker crashes, is killed or is cut off; then redrive the handoff.",
  },
};
