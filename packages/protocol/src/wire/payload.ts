/** Payloads as the wire shows them: JSON as it is, text as text, anything else in base64; and always their digest. */

import Type from "typebox";
import { fields } from "../fields.ts";

/** One of the three, by media type; none where the bytes were not asked for or retention has dropped them. */
export const input_forms = {
  input: Type.Optional(Type.Unknown({ description: "The payload, where it is JSON." })),
  text: Type.Optional(Type.String({ description: "The payload, where it is text." })),
  base64: Type.Optional(Type.String({ description: "The payload, where it is neither." })),
};

export const output_forms = {
  output: input_forms.input,
  text: input_forms.text,
  base64: input_forms.base64,
};

export const payload_digest = fields.payload_digest;
