// Runs the model simulator alone: prints one JSON line with its port, and ends on SIGTERM or SIGINT.
import { parseArgs } from 'node:util';
import { startModelSimulator } from './simulator.ts';

const USAGE = `node scripts/model-simulator/main.ts [options]
  --port N            port to listen on (default 0: any free one)
  --host ADDRESS      default 127.0.0.1
  --scenario FILE     a scenario file, or the name of a shipped one; may be given several times (default: default)
  --out DIR           folder for what was received and sent, as WAV files
  --api-key KEY       the one accepted key (default: any)
  --pacing NAME       hosted or fast, where the scenario says nothing (default hosted)
  --seed N            fixes every random choice`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    scenario: { type: 'string', multiple: true },
    out: { type: 'string' },
    'api-key': { type: 'string' },
    pacing: { type: 'string', default: 'hosted' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (values.pacing !== 'hosted' && values.pacing !== 'fast') throw new Error('--pacing is hosted or fast');

const simulator = await startModelSimulator({
  port: Number(values.port),
  host: values.host,
  pacing: values.pacing,
  ...(values.scenario === undefined ? {} : { scenario: values.scenario }),
  ...(values.out === undefined ? {} : { out: values.out }),
  ...(values['api-key'] === undefined ? {} : { apiKey: values['api-key'] }),
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
});
console.log(JSON.stringify({ listening: simulator.port }));

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void simulator.close().then(() => process.exit(0));
  });
}
