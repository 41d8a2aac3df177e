/** The process that sends and works: opens one driver as it is told, measures, answers its parent with figures. */

import { type Figure, measureAtOnce, measureSteadily, type SteadyFigure } from "../measure.ts";
import { reasonOf } from "../obtain/unavailable.ts";
import type { Address } from "../servers/server.ts";
import type { Driver } from "./driver.ts";
import { type DriverKind, openDriver } from "./open-driver.ts";

export type Order =
  | { readonly do: "open"; readonly driver: DriverKind; readonly address: Address }
  | { readonly do: "at once"; readonly concurrency: number; readonly seconds: number }
  | { readonly do: "steadily"; readonly rate: number; readonly seconds: number }
  | { readonly do: "close" };

export interface DrivenFigure extends Figure {
  /** CPU time that this process used for each handoff. */
  readonly cpu_us: number;
}

export type Report =
  | { readonly done: "open" | "close" }
  | { readonly done: "at once"; readonly figure: DrivenFigure }
  | { readonly done: "steadily"; readonly figure: SteadyFigure }
  | { readonly failed: string };

export function drive(): void {
  let driver: Driver | null = null;
  const obey = async (order: Order): Promise<Report> => {
    if (order.do === "open") {
      driver = await openDriver(order.driver, order.address);
      return { done: "open" };
    }
    if (driver === null) throw new Error("there is nothing open to drive");
    const { handoff } = driver;
    switch (order.do) {
      case "at once":
        return {
          done: "at once",
          figure: await withCpu(() => measureAtOnce(handoff, order.concurrency, order.seconds)),
        };
      case "steadily":
        return { done: "steadily", figure: await measureSteadily(handoff, order.rate, order.seconds) };
      case "close":
        await driver.close();
        return { done: "close" };
    }
  };
  process.on("message", (order: Order) => {
    obey(order).then(
      (report) => answer(report),
      (error: unknown) => answer({ failed: reasonOf(error) }),
    );
  });
  // The parent is gone, so nobody wants the figures.
  process.once("disconnect", () => process.exit(1));
}

function answer(report: Report): void {
  process.send?.(report);
}

async function withCpu(measure: () => Promise<Figure>): Promise<DrivenFigure> {
  const before = process.cpuUsage();
  const figure = await measure();
  const { user, system } = process.cpuUsage(before);
  return { ...figure, cpu_us: Math.round((user + system) / figure.handoffs) };
}
