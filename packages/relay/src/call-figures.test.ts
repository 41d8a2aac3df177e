import { expect, it } from "vitest";
import { CallFigures } from "./call-figures.ts";

it("calls are told by operation and code, their times in buckets that add up", () => {
  const figures = new CallFigures();
  figures.count("submit", 202, 0.5);
  figures.count("submit", 202, 5);
  figures.count("submit", 409, 90_000);
  figures.count("get", 200, 2);
  const lines = figures.text().split("\n");
  expect(lines).toContain('handfast_calls_total{operation="submit",code="202"} 2');
  expect(lines).toContain('handfast_calls_total{operation="submit",code="409"} 1');
  expect(lines).toContain('handfast_call_seconds_bucket{le="0.001",operation="submit"} 1');
  expect(lines).toContain('handfast_call_seconds_bucket{le="0.0025",operation="submit"} 1');
  expect(lines).toContain('handfast_call_seconds_bucket{le="0.005",operation="submit"} 2');
  expect(lines).toContain('handfast_call_seconds_bucket{le="60",operation="submit"} 2');
  expect(lines).toContain('handfast_call_seconds_bucket{le="+Inf",operation="submit"} 3');
  expect(lines).toContain('handfast_call_seconds_sum{operation="submit"} 90.0055');
  expect(lines).toContain('handfast_call_seconds_count{operation="submit"} 3');
  expect(lines).toContain('handfast_call_seconds_bucket{le="0.0025",operation="get"} 1');
});
