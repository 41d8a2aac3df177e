/** How fast handoffs are: as many at once as asked for, each followed by the next; or so many a second, whatever comes. */

export interface Figure {
  readonly handoffs: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** `concurrency` handoffs are on their way at any time. */
export async function measureAtOnce(
  handoff: () => Promise<void>,
  concurrency: number,
  seconds: number,
): Promise<Figure> {
  const took_ms: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      const asked = performance.now();
      await handoff();
      took_ms.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return figureOf(took_ms, performance.now() - began);
}

export interface SteadyFigure extends Figure {
  readonly wanted_per_second: number;
  /** Handoffs on their way at the worst moment. */
  readonly most_open: number;
  /** The rate was more than the system could do: it fell so far behind that no more were begun. */
  readonly fell_behind: boolean;
}

const tick_ms = 5;
const most_open_s = 5;

/**
 * `rate` handoffs are begun every second, whether or not those before have ended. A handoff's time counts from when it
 * was due, so that a stall shows in everything that it held up. With as many open as are due in `behind_s` it gives up.
 */
export async function measureSteadily(
  handoff: () => Promise<void>,
  rate: number,
  seconds: number,
  behind_s: number = most_open_s,
): Promise<SteadyFigure> {
  const took_ms: number[] = [];
  const began = performance.now();
  const total = Math.round(rate * seconds);
  let [sent, open, most_open] = [0, 0, 0];
  let failure: unknown = null;
  let fell_behind = false;
  let whenNoneIsOpen = () => {};
  const one = async (due: number) => {
    open += 1;
    most_open = Math.max(most_open, open);
    fell_behind ||= open > rate * behind_s;
    try {
      await handoff();
      took_ms.push(performance.now() - due);
    } catch (error) {
      failure ??= error;
    }
    open -= 1;
    if (open === 0) whenNoneIsOpen();
  };
  while (sent < total && failure === null && !fell_behind) {
    const due_by_now = Math.min(total, Math.floor(((performance.now() - began) / 1_000) * rate));
    for (; sent < due_by_now && !fell_behind; sent += 1) void one(began + ((sent + 1) / rate) * 1_000);
    await new Promise((resolve) => setTimeout(resolve, pauseUntil(began + ((sent + 1) / rate) * 1_000, rate)));
  }
  if (open > 0) {
    await new Promise<void>((resolve) => {
      whenNoneIsOpen = resolve;
    });
  }
  if (failure !== null) throw failure;
  const figure = figureOf(took_ms, performance.now() - began);
  return { ...figure, wanted_per_second: rate, most_open, fell_behind };
}

/** Where several are due in a tick, they go together; where fewer are, each goes when it is due. */
function pauseUntil(due: number, rate: number): number {
  return rate * tick_ms >= 1_000 ? tick_ms : Math.max(0, Math.min(tick_ms, due - performance.now()));
}

function figureOf(took_ms: number[], elapsed_ms: number): Figure {
  if (took_ms.length === 0) throw new Error("no handoff ended in the time given");
  took_ms.sort((a, b) => a - b);
  return {
    handoffs: took_ms.length,
    per_second: round(took_ms.length / (elapsed_ms / 1_000), 1),
    p50_ms: round(percentile(took_ms, 0.5), 2),
    p99_ms: round(percentile(took_ms, 0.99), 2),
  };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
