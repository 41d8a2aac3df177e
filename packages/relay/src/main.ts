/** `npm start`: runs a relay until it is told to stop. */

import { argv, cwd, env, exit, stderr, stdout } from "node:process";
import type { Configuration } from "./configuration/configuration.ts";
import type { RunningRelay } from "./relay.ts";
import { development_warning, relayLine, runRelay } from "./run-relay.ts";

function announce(configuration: Configuration, relay: RunningRelay): void {
  const { development } = configuration;
  const { url, operator_token_file } = relay;
  stdout.write(`${relayLine(configuration, relay, cwd())}\n`);
  if (development) stderr.write(`${development_warning}\n`);
  if (operator_token_file !== null) stdout.write(`operator's token: ${operator_token_file}\n`);
  const token_file = operator_token_file ?? configuration.operator_token_file;
  const token = token_file === null ? "$HANDFAST_OPERATOR_TOKEN" : `$(cat ${token_file})`;
  const authorization = development ? "" : ` -H "authorization: Bearer ${token}"`;
  // A name belongs to whoever has its token, so the command to type names a new one each time.
  stdout.write(`next: curl -s ${url}/v1/tokens${authorization} --json '{"agent":"alice-'$RANDOM'"}'\n`);
}

exit(await runRelay({ argv: argv.slice(2), env, cwd: cwd(), stdout, stderr, announce }));
