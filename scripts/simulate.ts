// `npm run simulate`: one phone call from end to end on this machine, shown as it happens, checked, and left as a folder.
// Options are simulate/options.ts, the scenarios simulate/scenarios.ts, what must hold simulate/checks.ts.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type Check, checkCall, figuresOf } from './simulate/checks.ts';
import { openClips } from './simulate/clips.ts';
import type { Evidence } from './simulate/evidence.ts';
import { readOptions, type SimulateOptions, USAGE } from './simulate/options.ts';
import { writeLog, writeResults } from './simulate/results.ts';
import { BrokenRun, type RunOutcome, runCalls } from './simulate/run.ts';
import { makeScenario } from './simulate/scenarios.ts';
import { Screen } from './simulate/screen.ts';

/** Exit codes: a check failed or the call could not be run; the options are wrong; it was interrupted. */
const FAILED = 1;
const WRONG_OPTIONS = 2;
const INTERRUPTED = 130;

/** Where the person stands: npm itself goes to the project's folder. */
const here = (process.env.npm_lifecycle_event === 'simulate' && process.env.INIT_CWD) || process.cwd();

function outFolder(options: SimulateOptions): string {
  if (options.out !== null) return resolve(here, options.out);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return resolve('simulations', `${time}-${options.scenario}`);
}

function shown(path: string): string {
  const short = relative(here, path);
  return short.startsWith('..') ? path : `./${short}`;
}

/** Checks and writes every call. Answers how many checks failed. */
function judge(options: SimulateOptions, outcome: RunOutcome, out: string, screen: Screen): number {
  const { calls, badExits, daemonLines, recordings } = outcome;
  writeLog(out, daemonLines);
  const judged = calls.map((evidence, i): { evidence: Evidence; checks: Check[]; folder: string } => {
    const checks = checkCall(evidence);
    checks.push({
      name: 'every program ended by itself',
      ok: badExits.length === 0,
      detail: badExits.length === 0 ? 'daemon, phone network and speech model' : badExits.join('; '),
    });
    const folder = calls.length === 1 ? out : join(out, `call-${String(i + 1).padStart(3, '0')}`);
    writeResults(folder, evidence, {
      checks,
      recording: recordings.get(evidence.call.id) ?? null,
    });
    return { evidence, checks, folder };
  });
  screen.live(null);
  if (options.calls === 1) {
    screen.heading('Checks');
    for (const one of judged[0]?.checks ?? []) screen.check(one);
  } else {
    screen.heading(`${judged.length} calls`);
    const average = (values: number[]) =>
      values.length === 0
        ? '-'
        : `${(values.reduce((a, b) => a + b, 0) / values.length / 1000).toFixed(2)} s`;
    screen.table([
      ['call', 'status', 'talk', 'answers', 'mean', 'slowest', 'barge-ins', 'checks'],
      ...judged.map(({ evidence, checks }, i) => {
        const { talkMs, answersMs, bargeIns } = figuresOf(evidence);
        const bad = checks.filter(({ ok }) => !ok);
        return [
          String(i + 1),
          evidence.call.status,
          `${(talkMs / 1000).toFixed(1)} s`,
          String(answersMs.length),
          average(answersMs),
          answersMs.length === 0 ? '-' : `${(Math.max(...answersMs) / 1000).toFixed(2)} s`,
          String(bargeIns),
          bad.length === 0 ? `${checks.length} ok` : `FAIL: ${bad.map(({ name }) => name).join('; ')}`,
        ];
      }),
    ]);
    const answers = judged.flatMap(({ evidence }) => figuresOf(evidence).answersMs);
    if (answers.length > 0) {
      screen.text(
        `Silence between the last word of a person and the agent's answer: ${average(answers)} on average, ${(Math.max(...answers) / 1000).toFixed(2)} s at most.`,
      );
    }
    screen.blank();
    for (const [i, { checks }] of judged.entries()) {
      for (const one of checks) if (!one.ok) screen.check({ ...one, name: `call ${i + 1}, ${one.name}` });
    }
  }
  return judged.reduce((sum, { checks }) => sum + checks.filter(({ ok }) => !ok).length, 0);
}

async function simulate(options: SimulateOptions): Promise<number> {
  const screen = new Screen(process.stdout);
  const out = outFolder(options);
  // Before anything is started: a folder that cannot be written is told at once.
  mkdirSync(out, { recursive: true });
  const temporary = options.data === null ? mkdtempSync(join(tmpdir(), 'offhook-simulate-')) : null;
  const folder = temporary ?? resolve(here, options.data ?? '');
  mkdirSync(folder, { recursive: true });
  const cleanUp = () => {
    if (temporary !== null) rmSync(temporary, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  const stopping = new AbortController();
  const stop = () => {
    // The second time whatever still runs is killed on the way out.
    if (stopping.signal.aborted) process.exit(INTERRUPTED);
    stopping.abort(new Error('interrupted'));
    screen.live(null);
    screen.verdict(false, 'Interrupted: stopping every program.');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  try {
    const clips = openClips(options.caller === null ? null : resolve(here, options.caller), folder);
    const scenario = makeScenario(options.scenario, options.direction, clips);
    screen.heading(
      options.calls === 1 ? scenario.title : `${scenario.title}, ${options.calls} calls at the same time`,
    );
    screen.text(scenario.about);
    screen.text(
      'Everything runs on this machine: the daemon, a simulated phone network with the person on the line, a simulated speech model, and a receiver of the events that the daemon sends out (webhooks).',
    );
    screen.blank();
    const outcome = await runCalls({
      scenario,
      calls: options.calls,
      folder,
      screen,
      signal: stopping.signal,
    });
    const failed = judge(options, outcome, out, screen);
    screen.verdict(
      failed === 0,
      failed === 0 ? 'Everything went right.' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed.`,
    );
    screen.text('Open next:');
    const first = options.calls === 1 ? out : join(out, 'call-001');
    const open: string[][] = [];
    open.push([shown(join(first, 'picture.svg')), 'the call at a glance, in any browser']);
    if (outcome.recordings.size > 0) {
      open.push([shown(join(first, 'recording.wav')), 'both voices: the person left, the agent right']);
    }
    open.push([shown(out), 'call, transcript, events, deliveries and logs']);
    screen.table(open, { head: false });
    return failed === 0 ? 0 : FAILED;
  } catch (error) {
    if (stopping.signal.aborted) return INTERRUPTED;
    screen.live(null);
    if (error instanceof BrokenRun && error.daemonLines.length > 0) {
      writeLog(out, error.daemonLines);
      screen.text(`The daemon's log is in ${shown(join(out, 'daemon.log'))}.`);
    }
    screen.verdict(
      false,
      `The simulation could not be run: ${error instanceof Error ? error.message : String(error)}`,
    );
    return FAILED;
  } finally {
    screen.close();
    cleanUp();
  }
}

const options = readOptions(process.argv.slice(2));
if ('help' in options) console.log(USAGE);
else if ('wrong' in options) {
  console.error(`${options.wrong} (--help tells the options)`);
  process.exitCode = WRONG_OPTIONS;
} else {
  const code = await simulate(options);
  process.exit(code);
}
