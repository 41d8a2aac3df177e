/**
 * Schemas that are written alike, as by many agents with one program, are held once: ten thousand manifests would else be most of the objects
 * that a full collection has to visit.
 */

import type { Capability } from "@handfast/protocol";

export class SharedSchemas {
  /** By their text. */
  readonly #shared = new Map<string, { readonly schema: unknown; uses: number }>();

  get size(): number {
    return this.#shared.size;
  }

  /** The same capability with the schemas that all share. */
  take(capability: Capability): Capability {
    const { input_schema, output_schema } = capability;
    if (input_schema === undefined && output_schema === undefined) return capability;
    return {
      ...capability,
      ...(input_schema === undefined ? {} : { input_schema: this.#take(input_schema) }),
      ...(output_schema === undefined ? {} : { output_schema: this.#take(output_schema) }),
    };
  }

  /** It was taken before, and is not needed any more. */
  release({ input_schema, output_schema }: Capability): void {
    for (const schema of [input_schema, output_schema]) if (schema !== undefined) this.#release(JSON.stringify(schema));
  }

  clear(): void {
    this.#shared.clear();
  }

  #take<Schema>(schema: Schema): Schema {
    const text = JSON.stringify(schema);
    const shared = this.#shared.get(text) ?? { schema, uses: 0 };
    shared.uses += 1;
    this.#shared.set(text, shared);
    // The same text is the same value.
    return shared.schema as Schema;
  }

  #release(text: string): void {
    const shared = this.#shared.get(text);
    if (shared === undefined) return;
    shared.uses -= 1;
    if (shared.uses === 0) this.#shared.delete(text);
  }
}
