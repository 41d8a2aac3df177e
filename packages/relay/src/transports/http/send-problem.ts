/** Tells a caller over HTTP what went wrong, as far as it can still be told. */

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../../problem.ts";
import { problemReply } from "./problem-reply.ts";

export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const { status, headers, document } = problemReply(problem);
  // What is left of a body nobody will read must not be taken for the next request.
  if (!request.raw.complete) reply.header("connection", "close");
  reply
    .code(status)
    .headers(headers)
    .send(`${JSON.stringify(document)}\n`);
}
