/** Whether a series of samples goes up: the slope of the straight line that fits it best. */

export interface Point {
  readonly at_s: number;
  readonly value: number;
}

/** Per second. */
export function slopeOf(points: readonly Point[]): number {
  if (points.length < 2) return 0;
  const mean = (pick: (point: Point) => number) => points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [mid_s, mid_value] = [mean(({ at_s }) => at_s), mean(({ value }) => value)];
  let [above, below] = [0, 0];
  for (const { at_s, value } of points) {
    above += (at_s - mid_s) * (value - mid_value);
    below += (at_s - mid_s) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
