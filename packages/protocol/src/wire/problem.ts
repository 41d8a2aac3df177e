/** A problem document (RFC 9457) with Handfast's code. */

import Type from "typebox";

export const problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.Integer(),
  name: Type.String(),
  reason: Type.String(),
  detail: Type.String(),
  retryable: Type.Boolean(),
  help: Type.Optional(Type.String({ description: "Where the reason is explained: a command to type." })),
});
