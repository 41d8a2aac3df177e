/**
 * What a handler says about its failure, made to fit: a detail that a relay would refuse must not keep the failure itself
 * from getting through. What JSON has no room for becomes text where it says something, and is left out where it does not.
 */

import { toUtf8 } from "@handfast/protocol/client";
import { serveLimits as limits } from "./limits.ts";

/** Undefined where nothing of it can be kept, or it is too much. */
export function strictDetail(detail: unknown): unknown {
  try {
    const fitted = new Fitting().fit(detail, 0);
    if (fitted === undefined) return undefined;
    return toUtf8(JSON.stringify(fitted)).length > limits.error_detail_bytes ? undefined : fitted;
  } catch {
    // Getters and proxies may throw.
    return undefined;
  }
}

/** Bounded in depth and in parts, so one that contains itself, many times even, ends too. */
class Fitting {
  #parts = 0;

  fit(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return value.toWellFormed();
      case "number":
        return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : String(value);
      case "bigint":
        return String(value);
      case "boolean":
        return value;
      case "object":
        return value === null ? null : this.#fitObject(value, depth);
      default:
        return undefined;
    }
  }

  #fitObject(value: object, depth: number): unknown {
    this.#parts += 1;
    if (depth >= limits.error_detail_depth || this.#parts > limits.error_detail_bytes) return "…";
    if ("toJSON" in value && typeof value.toJSON === "function") return this.fit(value.toJSON(), depth + 1);
    if (value instanceof Error) return this.fit(`${value.name}: ${value.message}`, depth);
    if (Array.isArray(value)) return value.map((item) => this.fit(item, depth + 1) ?? null);
    const members = Object.entries(value).flatMap(([name, member]) => {
      const fitted = name === "__proto__" ? undefined : this.fit(member, depth + 1);
      return fitted === undefined ? [] : [[name.toWellFormed(), fitted] as const];
    });
    return Object.fromEntries(members);
  }
}
