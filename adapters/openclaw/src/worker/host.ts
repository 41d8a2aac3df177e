/** What OpenClaw offers beside its plugin interface: a check against JSON Schema, and a way to stop a run. */

interface SchemaCheck {
  validateJsonSchemaValue(check: {
    readonly schema: object;
    readonly cacheKey: string;
    readonly value: unknown;
    readonly cache: false;
  }): { readonly ok: true } | { readonly ok: false; readonly errors: readonly { readonly text: string }[] };
}

interface Runs {
  resolveActiveEmbeddedRunSessionId(sessionKey: string): string | undefined;
  abortAgentHarnessRun(sessionId: string): boolean;
}

/** Null: it fits, as far as can be told here. The relay has the last word; this is so that the model can mend it at once. */
export async function faultOf(schema: object, value: unknown): Promise<string | null> {
  const check = await partOf<SchemaCheck>("json-schema-runtime");
  const checked = check?.validateJsonSchemaValue({ schema, cacheKey: "handfast", value, cache: false });
  return checked === undefined || checked.ok ? null : checked.errors.map(({ text }) => text).join("; ");
}

/** A run may have to be stopped when OpenClaw has already deleted what this was loaded from. */
export function prepareStops(): void {
  void partOf<Runs>("agent-harness-runtime");
}

/** False: there was none, or it cannot be stopped from here. */
export async function stopRun(sessionKey: string): Promise<boolean> {
  const runs = await partOf<Runs>("agent-harness-runtime");
  const sessionId = runs?.resolveActiveEmbeddedRunSessionId(sessionKey);
  return sessionId !== undefined && runs?.abortAgentHarnessRun(sessionId) === true;
}

/** Not known to the compiler: it comes with the gateway that loads the plugin. An OpenClaw without it has null. */
async function partOf<Part>(name: string): Promise<Part | null> {
  const part = parts.get(name) ?? import(`openclaw/plugin-sdk/${name}`).catch(() => null);
  parts.set(name, part);
  return (await part) as Part | null;
}

const parts = new Map<string, Promise<unknown>>();
