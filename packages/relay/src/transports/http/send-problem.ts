/** Tells a caller over HTTP what went wrong, as far as it can still be told. */

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../../problem.ts";
import { answerEarly, isUnread, type LingerLimits } from "./early-answer.ts";
import { problemReply } from "./problem-reply.ts";

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  limits: LingerLimits,
): void {
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const { status, headers, document } = problemReply(problem);
  const text = `${JSON.stringify(document)}\n`;
  if (isUnread(request.raw)) {
    reply.hijack();
    answerEarly(request.raw, reply.raw, { status, headers, text }, limits);
    return;
  }
  reply.code(status).headers(headers).send(text);
}
