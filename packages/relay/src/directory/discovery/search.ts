/** One need being met: who is looked at, who meets it, and what the others lack. */

import { setImmediate } from "node:timers/promises";
import type { Need } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import { Candidate } from "./candidate.ts";
import type { CapabilityIndex } from "./capability-index.ts";
import { aboutCriteria } from "./criteria/about.ts";
import { calledCriteria } from "./criteria/called.ts";
import { conductCriteria } from "./criteria/conduct.ts";
import { presenceCriteria } from "./criteria/presence.ts";
import { priceCriteria, worthCriteria } from "./criteria/worth.ts";
import type { Criterion, Looked } from "./criterion.ts";
import type { Entry, SharedText } from "./entry.ts";
import type { Asker, Facts } from "./facts.ts";
import { byWords, type Gathered } from "./gather.ts";
import { Glance } from "./glance.ts";
import { nearNames } from "./near-names.ts";
import { bandOf, compareNames, type Judged, type Merit, meritOf, ranked, text_bands } from "./rank.ts";
import { isCut, type SchemaJudge, type Verdicts } from "./schema-judge.ts";
import { refutations, refutedWords, schemaWords } from "./schema-sentences.ts";
import { claimWords, foreignWords, presenceWords } from "./sentences.ts";
import { soughtWords } from "./words.ts";

/** One that meets the need. */
export interface Found {
  readonly candidate: Candidate;
  readonly verdicts: Verdicts;
  readonly merit: Merit;
  /** From 0 to 1: how well its words fit, beside the best. */
  readonly score: number;
  readonly why: readonly string[];
}

export interface NearMiss {
  readonly candidate: Candidate;
  readonly verdicts: Verdicts | null;
  readonly lacks: readonly string[];
}

type Unmet = Omit<NearMiss, "lacks">;

export interface SearchOptions {
  readonly facts: Facts;
  readonly limits: RelayLimits;
  /** Counts on, from any beginning. */
  readonly elapsed_ms: () => number;
}

const noScores: ReadonlyMap<SharedText, number> = new Map();
const unasked: Verdicts = { input: { verdict: "unasked" }, output: { verdict: "unasked" } };

export class Search {
  readonly need: Need;
  readonly wanted: ReturnType<CapabilityIndex["wanted"]> | null;
  readonly glance: Glance | null;
  best_text = 0;
  readonly #limits: RelayLimits;
  readonly #elapsedMs: () => number;
  readonly #facts: Facts;
  readonly #index: CapabilityIndex;
  /** What a manifest itself says is looked at first: it costs nothing to know. */
  readonly #stated: readonly Criterion<Looked>[];
  readonly #known: readonly Criterion[];
  readonly #price: readonly Criterion[];
  readonly #criteria: readonly Criterion[];
  readonly #verdictsOf: ((entry: Entry) => Verdicts) | null;
  readonly #asker: Asker;
  /** Null: everybody. */
  readonly #only: ReadonlySet<string> | null;
  readonly #met: Candidate[] = [];
  readonly #compared: Candidate[] = [];
  #are_prices_left_out = false;
  readonly #unmet: Unmet[] = [];
  #looked: readonly Entry[] = [];
  #scores: ReadonlyMap<SharedText, number> = noScores;

  constructor(
    options: SearchOptions,
    index: CapabilityIndex,
    judge: SchemaJudge,
    need: Need,
    asker: Asker,
    only: ReadonlySet<string> | null,
  ) {
    const { limits, facts, elapsed_ms } = options;
    this.#limits = limits;
    this.#elapsedMs = elapsed_ms;
    this.#facts = facts;
    this.#index = index;
    this.need = need;
    this.glance = Glance.at(need);
    const words = soughtWords(need.words ?? "", limits.discovery_words);
    this.wanted = words.length === 0 ? null : index.wanted(words);
    this.#stated = [
      ...calledCriteria(need),
      ...aboutCriteria(words, need.words ?? "", limits),
      ...conductCriteria(need),
    ];
    this.#known = [...presenceCriteria(need), ...worthCriteria(need)];
    this.#price = priceCriteria(need);
    this.#criteria = [...this.#stated, ...this.#known, ...this.#price];
    this.#verdictsOf = judge.asking(need);
    this.#asker = asker;
    this.#only = only;
  }

  /** Whose prices were held against what is asked for: what came of it is told by who is found, how many, and who is not. */
  get compared(): readonly Candidate[] {
    return this.#compared;
  }

  /** Whether some were passed over because so many prices were compared already. */
  get are_prices_left_out(): boolean {
    return this.#are_prices_left_out;
  }

  look({ entries, scores = noScores }: Gathered): void {
    this.#looked = entries;
    this.#scores = scores;
    for (const entry of entries) {
      if (this.#only?.has(entry.provider.name) === false) continue;
      const looked = { entry, text: this.#textScore(entry) };
      const is_fit = this.#stated.every(({ meets }) => meets(looked));
      if (!is_fit && this.#unmet.length >= this.#limits.discovery_near_scanned) continue;
      const candidate = new Candidate(looked, this.#facts, this.#asker);
      if (candidate.liveness.state === "lapsed") continue;
      if (!is_fit || !this.#known.every(({ meets }) => meets(candidate))) this.#miss(candidate, null);
      else if (this.#mayCompare(candidate)) this.#lookAtPrice(candidate);
    }
  }

  /** A look at a price is in the log with whose it is, so there are so many in one call. */
  #mayCompare({ cost }: Candidate): boolean {
    if (this.#price.length === 0 || cost.kind !== "shown") return true;
    if (this.#compared.length < this.#limits.discovery_prices_compared) return true;
    this.#are_prices_left_out = true;
    return false;
  }

  #lookAtPrice(candidate: Candidate): void {
    if (this.#price.length > 0 && candidate.cost.kind === "shown") this.#compared.push(candidate);
    if (this.#price.every(({ meets }) => meets(candidate))) this.#meets(candidate);
    else this.#miss(candidate, null);
  }

  /** Those that are worth comparing with each other, and how many are left out. */
  best(): { readonly kept: readonly Candidate[]; readonly cut: number } {
    const most = this.#limits.discovery_ranked;
    if (this.#met.length <= most) return { kept: this.#met, cut: 0 };
    const piles: Candidate[][] = Array.from({ length: 2 * text_bands }, () => []);
    for (const candidate of this.#met) {
      const place = 2 * bandOf(candidate.text, this.best_text) + (candidate.liveness.state === "live" ? 0 : 1);
      piles[place]?.push(candidate);
    }
    return { kept: piles.flat().slice(0, most), cut: this.#met.length - most };
  }

  /**
   * Without those whose schemas are refuted. Not all may be compared: those go first that seem to fit, and of these the live
   * ones.
   */
  async judged(candidates: readonly Candidate[]): Promise<readonly Judged[]> {
    const verdictsOf = this.#verdictsOf;
    const all = candidates.map((candidate): Judged => ({ candidate, verdicts: null }));
    if (verdictsOf === null) return all;
    const judged: Judged[] = [];
    let began = this.#elapsedMs();
    for (const { candidate, misfits } of this.#likeliestFirst(ranked(all, this.best_text))) {
      const verdicts = verdictsOf(candidate.entry);
      if (this.#elapsedMs() - began > this.#limits.discovery_pause_after_ms) {
        // Others are served in between.
        await setImmediate();
        began = this.#elapsedMs();
      }
      const is_unlikely = misfits > 0 && isCut(verdicts);
      if (refutations(verdicts) === 0) judged.push({ candidate, verdicts, is_unlikely });
      else this.#miss(candidate, verdicts);
    }
    return judged;
  }

  /** Nobody meets it: those are looked at that have something of it, by any word of it or by a name that is spelt alike. */
  lookFurther(): void {
    const { capability = "", words = "", tags = [] } = this.need;
    const any = this.#index.wanted(
      soughtWords(`${capability} ${words} ${tags.join(" ")}`, this.#limits.discovery_words),
    );
    const alike = nearNames(capability, this.#index.names(), this.#limits);
    const entries = [...alike.flatMap((name) => [...this.#index.named(name)]), ...byWords(any, this.#limits).entries];
    const more = entries.length === 0 ? [...this.#index.all()] : entries;
    const before = new Set(this.#looked);
    for (const entry of more.slice(0, this.#limits.discovery_near_scanned)) {
      if (before.has(entry) || this.#only?.has(entry.provider.name) === false) continue;
      const looked = { entry, text: this.#textScore(entry) };
      const candidate = new Candidate(looked, this.#facts, this.#asker);
      if (candidate.liveness.state !== "lapsed") this.#miss(candidate, null);
    }
  }

  near(): readonly NearMiss[] {
    return this.#unmet
      .map((unmet) => ({ unmet, distance: this.#distance(unmet) }))
      .filter(({ distance }) => distance > 0)
      .sort(
        (one, other) =>
          one.distance - other.distance ||
          other.unmet.candidate.text - one.unmet.candidate.text ||
          compareNames(one.unmet.candidate, other.unmet.candidate),
      )
      .slice(0, this.#limits.discovery_near)
      .map(({ unmet }) => ({ ...unmet, lacks: this.#lacks(unmet) }));
  }

  found(judged: Judged): Found {
    const { candidate, verdicts } = judged;
    const { entry, text, liveness, reliability } = candidate;
    const { foreign } = entry.provider;
    return {
      candidate,
      verdicts: verdicts ?? unasked,
      merit: meritOf(judged, this.best_text),
      score: this.best_text === 0 ? 0 : Math.round((text / this.best_text) * 1_000) / 1_000,
      why: [
        ...this.#criteria.map(({ why }) => why(candidate)),
        ...(verdicts === null ? [] : schemaWords(verdicts)),
        ...(this.need.live === true ? [] : [presenceWords(liveness)]),
        claimWords(reliability),
        ...(foreign === null ? [] : [foreignWords(foreign)]),
      ],
    };
  }

  #likeliestFirst(judged: readonly Judged[]): readonly { readonly candidate: Candidate; readonly misfits: number }[] {
    return judged
      .map(({ candidate }) => ({ candidate, misfits: this.glance?.misfitsOf(candidate.entry) ?? 0 }))
      .sort((one, other) => one.misfits - other.misfits);
  }

  #textScore({ text }: Entry): number {
    if (this.wanted === null) return 0;
    return this.#scores.get(text) ?? this.wanted.score(text);
  }

  #meets(candidate: Candidate): void {
    this.#met.push(candidate);
    this.best_text = Math.max(this.best_text, candidate.text);
  }

  #miss(candidate: Candidate, verdicts: Verdicts | null): void {
    if (this.#unmet.length < this.#limits.discovery_near_scanned) this.#unmet.push({ candidate, verdicts });
  }

  #distance({ candidate, verdicts }: Unmet): number {
    let sum = verdicts === null ? 0 : refutations(verdicts);
    for (const { meets, distance = 1 } of this.#criteria) if (!meets(candidate)) sum += distance;
    return sum;
  }

  #lacks({ candidate, verdicts }: Unmet): readonly string[] {
    const unmet = this.#criteria.filter(({ meets }) => !meets(candidate)).map(({ lacks }) => lacks(candidate));
    return [...unmet, ...(verdicts === null ? [] : refutedWords(verdicts))];
  }
}
