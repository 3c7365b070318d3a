// Runs the carrier simulator alone: node scripts/carrier-simulator/main.ts --port 0 --config FILE.json --out DIR
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { SimulatorOptions } from './options.ts';
import { startCarrierSimulator } from './simulator.ts';

const USAGE = 'usage: node scripts/carrier-simulator/main.ts [--port N] [--config FILE.json] [--out DIR]';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      config: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const options: SimulatorOptions =
    values.config === undefined
      ? {}
      : (JSON.parse(await readFile(values.config, 'utf8')) as SimulatorOptions);
  // Clips are found beside the configuration file, wherever the program is started.
  const home = values.config === undefined ? process.cwd() : dirname(resolve(values.config));
  options.audioDir = resolve(home, options.audioDir ?? '.');
  if (values.port !== undefined) options.port = Number(values.port);
  if (values.out !== undefined) options.outDir = resolve(values.out);

  const simulator = await startCarrierSimulator(options);
  const stop = () => {
    simulator.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const { port, url, accountSid } = simulator;
  process.stdout.write(
    `${JSON.stringify({ listening: port, url, accountSid, out: options.outDir ?? null })}\n`,
  );
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exit(1);
}

main().catch(fail);
