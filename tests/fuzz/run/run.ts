/** A whole run: many lanes fire at one relay until the number of inputs is reached or something fails; then the end is examined. */

import { setTimeout } from "node:timers/promises";
import type { Bug } from "../../support/put-back.ts";
import { gather, type Troupe } from "../cast/troupe.ts";
import { type Aftermath, examine, strayFiles } from "../judge/aftermath.ts";
import { coverageGaps } from "../judge/coverage.ts";
import type { Tally } from "../judge/tally.ts";
import { drain } from "./drain.ts";
import { Episode, type Failure, type Script, steps_per_episode, wholeScript } from "./episode.ts";
import { figureOf } from "./figures.ts";
import { aim, type Target } from "./target.ts";
import { Watch } from "./watch.ts";

export interface RunOptions {
  readonly seed: number;
  readonly inputs: number;
  readonly lanes: number;
  readonly heap_mb: number;
  readonly rss_most_mb: number;
  /** Longer than any answer takes, however busy the machine. */
  readonly answer_within_ms: number;
  readonly bug?: Bug;
  readonly say: (line: string) => void;
}

export interface RunReport {
  readonly seed: number;
  readonly faults: readonly string[];
  /** The input that failed; null where it was the relay as a whole. */
  readonly failure: Failure | null;
  /** Episodes that were being played when it failed, the likeliest first. */
  readonly suspects: readonly Script[];
  readonly tally: Tally;
  readonly aftermath: Aftermath | null;
  readonly honest_completed: number;
  readonly honest_called_off: number;
  readonly honest_slowest_ms: number;
  readonly probes: number;
  readonly probe_slowest_ms: number;
  readonly rss_mb: { readonly first: number; readonly median: number; readonly last: number; readonly most: number };
  /** Null: a short run leaves no request half-sent. */
  readonly slow_begun: number | null;
  readonly slow_answered: number;
  readonly warnings: number;
  /** Of the fuzzer and of the relay, while inputs were sent. */
  readonly cpu_ms: { readonly fuzzer: number; readonly relay: number };
  readonly took_ms: number;
}

const progress_every_ms = 10_000;
/** From here on a gap in what was reached is a fault of the fuzzer. */
const covers_from_inputs = 20_000;
const settle_ms = 500;
export const slow_from_inputs = 10_000;
/** Of the inputs; after these no request is left half-sent any more. */
const slow_share = 0.6;

export async function run(options: RunOptions): Promise<RunReport> {
  // At the end each of them is waited for: in a short run that would be most of it.
  const slow_at_once = options.inputs >= slow_from_inputs ? 40 : 0;
  const target = await aim({ ...options, slow_at_once });
  const fire = new Fire(options, target);
  try {
    return await fire.run();
  } finally {
    target.honest.abandon();
    await target.relay.dispose();
  }
}

class Fire {
  readonly #options: RunOptions;
  readonly #target: Target;
  readonly #playing = new Set<Episode>();
  readonly #faults: string[] = [];
  #failure: Failure | null = null;
  #suspects: readonly Script[] = [];
  #issued = 0;
  #episodes = 0;
  #aftermath: Aftermath | null = null;
  readonly #began = performance.now();

  constructor(options: RunOptions, target: Target) {
    this.#options = options;
    this.#target = target;
  }

  async run(): Promise<RunReport> {
    const { relay, honest, stage } = this.#target;
    const { seed, inputs, lanes, rss_most_mb } = this.#options;
    const token = relay.operator_token;
    const troupes = await Promise.all(
      Array.from({ length: lanes }, (_, number) => gather(relay.url, token, seed, number)),
    );
    relay.onTrouble((what) => this.#fail(what));
    const watch = new Watch({ relay, rss_most_mb, onFault: (what) => void this.#failSoon(what) });
    const progress = setInterval(() => this.#progress(watch), progress_every_ms);
    const before = { fuzzer: ownCpu(), relay: relay.cpu_ms };
    await Promise.all(troupes.map((troupe) => this.#lane(troupe)));
    clearInterval(progress);
    const cpu_ms = { fuzzer: ownCpu() - before.fuzzer, relay: Math.max(0, relay.cpu_ms - before.relay) };
    if (!this.#hasFailed) await this.#end(watch);
    await watch.stop();
    const { tally, slow } = stage;
    return {
      seed,
      faults: this.#faults,
      failure: this.#failure,
      suspects: this.#suspects,
      tally,
      aftermath: this.#aftermath,
      honest_completed: honest.completed,
      honest_called_off: honest.called_off,
      honest_slowest_ms: honest.slowest_ms,
      probes: watch.probes,
      probe_slowest_ms: watch.slowest_ms,
      rss_mb: spread(watch.rss_mb),
      slow_begun: inputs >= slow_from_inputs ? slow.begun : null,
      slow_answered: slow.answered,
      warnings: relay.warnings,
      cpu_ms,
      took_ms: Math.round(performance.now() - this.#began),
    };
  }

  get #hasFailed(): boolean {
    return this.#faults.length > 0;
  }

  /** The first fault counts; what follows from it would only hide it. */
  #fail(what: string, failure: Failure | null = null): void {
    if (this.#hasFailed) return;
    this.#faults.push(what);
    this.#failure = failure;
    const others = [...this.#playing].map((episode) => ({ ...episode.script, steps: stepsSoFar(episode) }));
    this.#suspects = failure === null ? others : [failure.script];
    for (const episode of this.#playing) episode.stop();
  }

  /** What broke may be the relay as a whole, which is told a moment later. */
  async #failSoon(what: string, failure: Failure | null = null): Promise<void> {
    await setTimeout(settle_ms);
    this.#fail(what, failure);
  }

  async #lane(troupe: Troupe): Promise<void> {
    const { seed, inputs } = this.#options;
    while (this.#issued < inputs && !this.#hasFailed) {
      const length = Math.min(steps_per_episode, inputs - this.#issued);
      this.#issued += length;
      if (this.#issued > inputs * slow_share) this.#target.stage.slow.close();
      const episode = new Episode(this.#target.stage, troupe, wholeScript(seed, this.#episodes, length));
      this.#episodes += 1;
      this.#playing.add(episode);
      const failure = await episode.play();
      if (failure !== null) await this.#failSoon(failure.what, failure);
      this.#playing.delete(episode);
      const [unwell] = [...this.#target.honest.faults, ...this.#target.stage.slow.faults];
      if (unwell !== undefined) this.#fail(unwell);
    }
  }

  /** Everything ends, the relay stops in order, the store is read, and a relay starts on it again. */
  async #end(watch: Watch): Promise<void> {
    const { relay, honest, stage } = this.#target;
    const { say, inputs } = this.#options;
    say("all sent; waiting for what was left half-sent, and calling off what is open");
    await stage.slow.allEnded();
    await honest.stop();
    this.#faults.push(...honest.faults, ...stage.slow.faults);
    const undrained = await drain(relay.url, relay.operator_token);
    if (undrained !== null) this.#faults.push(undrained);
    this.#faults.push(...(await figureFaults(relay.url)));
    await watch.stop();
    const code = await relay.end("SIGTERM");
    if (code !== 0) this.#faults.push(`told to stop, the relay ended with ${code}:\n${relay.output.slice(-2_000)}`);
    say("the relay has stopped; reading its store");
    this.#aftermath = await examine(relay.directory, stage.ledger);
    this.#faults.push(...this.#aftermath.faults, ...strayFiles(relay.room), ...relay.errors);
    await this.#again();
    if (inputs >= covers_from_inputs) this.#faults.push(...coverageGaps(stage.tally));
  }

  /** On the same store, as ever. */
  async #again(): Promise<void> {
    const { relay } = this.#target;
    const { seed } = this.#options;
    try {
      await relay.start();
      const episode = new Episode(
        this.#target.stage,
        await gather(relay.url, relay.operator_token, seed, 100_000),
        wholeScript(seed, 0, 0),
      );
      const failure = await episode.play();
      if (failure !== null) this.#faults.push(`after a restart: ${failure.what}`);
    } catch (error) {
      this.#faults.push(`the relay does not start on its store again: ${String(error)}`);
    }
  }

  #progress({ slowest_ms, rss_mb }: Watch): void {
    const { tally } = this.#target.stage;
    const { inputs, say } = this.#options;
    const seconds = (performance.now() - this.#began) / 1_000;
    const rate = Math.round(tally.inputs / seconds);
    const honest = `${this.#target.honest.completed} honest handoffs`;
    say(
      `${tally.inputs} of ${inputs} inputs · ${rate}/s · ${honest} · ${rss_mb.at(-1)} MB · slowest probe ${slowest_ms} ms`,
    );
  }
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1_000);
}

function stepsSoFar({ script, sent }: Episode): readonly number[] {
  return script.steps.slice(0, sent.length + 1);
}

function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    first: values[0] ?? 0,
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    last: values.at(-1) ?? 0,
    most: sorted.at(-1) ?? 0,
  };
}

/** The relay counts its own mistakes, also those that no caller was told of. */
async function figureFaults(url: string): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return ["mistake", "recovery", "failure"].flatMap((kind) => {
    const figure = figureOf(text, `handfast_faults_total{kind="${kind}"}`);
    return figure === 0 ? [] : [`the relay counts ${figure} faults of the kind ${kind}`];
  });
}
