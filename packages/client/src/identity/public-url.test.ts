import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { publicUrl } from "./public-url.ts";

describe("the URL that documents name", () => {
  const local = ["http://127.0.0.1:7420", "http://localhost:7420", "http://[::1]:7420"];

  test.each([
    ["https://relay.example", ["https://relay.example"], "https://relay.example"],
    ["https://RELAY.example:443/", ["https://relay.example"], "https://relay.example"],
    ["http://localhost:7420", local, "http://localhost:7420"],
    ["http://localhost:7420", ["http://127.0.0.1:7420"], "http://127.0.0.1:7420"],
    ["http://127.0.0.2:7420", ["http://localhost:7420"], "http://localhost:7420"],
  ])("reached by %s, of a relay that is %j, is %s", (configured, urls, named) => {
    expect(publicUrl(configured, urls)).toBe(named);
  });

  test.each([
    ["http://10.0.0.5:7420", ["https://relay.example"]],
    ["http://localhost:7421", ["http://127.0.0.1:7420"]],
    ["http://localhost:7420", ["https://relay.example"]],
  ])("reached by %s, of a relay that is %j, is refused: both are named", (configured, urls) => {
    const find = () => publicUrl(configured, urls);
    expect(find).toThrow(UsageError);
    expect(find).toThrow(configured);
    expect(find).toThrow(String(urls[0]));
    expect(find).toThrow(expect.objectContaining({ remedy: expect.stringContaining("public_urls") }));
  });
});
