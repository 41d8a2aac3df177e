/** The signed form of an act: the author's exact bytes and their proof, in place of the plain fields. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";

export const signed_act = Type.Object(
  {
    document: Type.String({ description: "The exact text of the document that was signed." }),
    payload: Type.Optional(Type.String({ description: "The payload beside it, exactly as it was hashed." })),
    payload_encoding: Type.Optional(Type.Enum(["utf-8", "base64"])),
    proof: fields.proof,
  },
  closed,
);
export type SignedAct = Static<typeof signed_act>;

/** A body that carries nothing but a signed act. */
export const signed_body = Type.Object({ signed: signed_act }, closed);
export type SignedBody = Static<typeof signed_body>;

/** What the relay hands on as proof: attested acts have a document of the relay's making and no proof. */
export const proven_act = Type.Object({
  document: Type.String(),
  proof: Type.Union([fields.proof, Type.Null()]),
  payload: Type.Optional(Type.String()),
  payload_encoding: Type.Optional(Type.Enum(["utf-8", "base64"])),
});
