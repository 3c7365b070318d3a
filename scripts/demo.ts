// `npm run demo`: the daemon, a phone network and a speech model, kept running to be tried out in the browser. Simulated
// people call now and then, so that there is something to see. Ctrl-C ends it and removes what it made.
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { writeScenarios } from './demo/model-scenarios.ts';
import { openTraffic, type Traffic } from './demo/traffic.ts';
import { type Lab, openLab } from './lab.ts';

const USAGE = `npm run demo -- [options]

  --port N          where the dashboard is (default 8080, or a free one when it is taken)
  --calls SECONDS   how often somebody calls or is called (default 40; 0: only what you do yourself)
  --real-model      speak with the real model: OPENAI_API_KEY must be set, and it costs what it costs`;

interface Options {
  port: number | null;
  everySeconds: number;
  realModel: boolean;
}

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string' },
      calls: { type: 'string', default: '40' },
      'real-model': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const number = (name: string, text: string, most: number) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0 || value > most)
      throw new Error(`--${name} must be a whole number up to ${most}.`);
    return value;
  };
  return {
    port: values.port === undefined ? null : number('port', values.port, 65_535),
    everySeconds: number('calls', values.calls, 86_400),
    realModel: values['real-model'],
  };
}

/** 8080 unless somebody has it. */
function freePort(wanted: number): Promise<number> {
  return new Promise((found) => {
    const trial = createServer();
    trial.once('error', () => found(0));
    trial.listen(wanted, '127.0.0.1', () => trial.close(() => found(wanted)));
  });
}

const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  styleText(style, text, { stream: process.stdout, validateStream: true });

function welcome(lab: Lab, traffic: Traffic, o: Options): void {
  const link = lab.daemon.lines.map((line) => /https?:\/\/\S+\/setup#\S+/.exec(line)?.[0]).find(Boolean);
  const step = (n: number, text: string) => console.log(`  ${paint('bold', `${n}.`)} ${text}`);
  console.log(`
${paint('bold', 'Offhook is running.')} The phone network is simulated${o.realModel ? '; the speech model is the real one' : ', and so is the speech model'}: no account, no cost${o.realModel ? ' but the model’s' : ''}.
`);
  step(
    1,
    `Open ${paint(['cyan', 'underline'], link ?? lab.daemon.url)}${link === undefined ? '' : ' and choose a password'}.`,
  );
  step(
    2,
    `Under ${paint('bold', 'Agents')}, open "${traffic.tryAgent}" and press ${paint('bold', 'Try it')}: ${o.realModel ? 'speak with it' : 'type to it (it hears your voice, but a simulated model knows no live words)'}.`,
  );
  step(
    3,
    `Watch ${paint('bold', 'Live')}: ${o.everySeconds === 0 ? 'place a call from an outbound agent to any number' : `somebody calls every ${o.everySeconds} seconds`}.`,
  );
  step(
    4,
    `Open a finished call under ${paint('bold', 'Calls')}: the sound, the words, where the time of each answer went, the result.`,
  );
  console.log(`
  For programs: ${paint('dim', `${lab.daemon.url}/v1`)} with the key ${paint('dim', lab.apiKey)}; the reference is at ${paint('dim', `${lab.daemon.url}/docs`)}.
  ${paint('dim', `OFFHOOK_URL=${lab.daemon.url} OFFHOOK_API_KEY=${lab.apiKey} npm run -s offhook -- calls list`)}

  Ctrl-C ends it.
`);
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (options.realModel && !process.env.OPENAI_API_KEY) {
    console.error('--real-model needs OPENAI_API_KEY.');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'offhook-demo-'));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  console.log('Starting the daemon, a phone network and a speech model …');
  let lab: Lab | null = null;
  let traffic: Traffic | null = null;
  try {
    const port = await freePort(options.port ?? 8080);
    if (options.port !== null && options.port !== 0 && port === 0)
      throw new Error(`Port ${options.port} is taken.`);
    lab = await openLab({
      folder,
      scenario: writeScenarios(folder),
      carrier: { seed: randomInt(2 ** 31) },
      env: {
        PORT: String(port),
        RECORD_CALLS: 'true',
        RING_SECONDS: '15',
        PRICE_PER_MINUTE_MILLI_CENTS: '9000',
        REDIS_MODE: 'none',
        OPERATOR_KEY: 'demo-operator-key',
        ...(options.realModel
          ? { OPENAI_API_KEY: process.env.OPENAI_API_KEY ?? '', OPENAI_BASE_URL: 'https://api.openai.com/v1' }
          : {}),
      },
    });
    traffic = await openTraffic(lab);
    welcome(lab, traffic, options);
    const broken = lab.daemon.ended.then(() => {
      if (!stop.signal.aborted) throw new Error('The daemon has ended by itself.');
    });
    await Promise.race([traffic.live(options.everySeconds, stop.signal), broken]);
    return 0;
  } catch (error) {
    console.error(paint('red', (error as Error).message));
    return 1;
  } finally {
    console.log('\nEnding …');
    await traffic?.close();
    await lab?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// What a library may still hold open does not keep a demo from ending.
process.exit(await main());
