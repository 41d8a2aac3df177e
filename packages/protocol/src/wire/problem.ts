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
});
