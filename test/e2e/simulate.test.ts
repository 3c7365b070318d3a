// `npm run simulate` as a person runs it: the command as a process, from its start to its exit code and its files.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';

const ROOT = resolve(import.meta.dirname, '../..');

interface Ended {
  code: number | null;
  output: string;
}

function simulate(...args: string[]): {
  child: ChildProcess;
  ended: Promise<Ended>;
  says(text: string): Promise<void>;
} {
  const child = spawn(process.execPath, ['scripts/simulate.ts', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const waiting: { text: string; go: () => void }[] = [];
  const read = (data: Buffer) => {
    output += data.toString();
    for (const { text, go } of waiting) if (output.includes(text)) go();
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const ended = new Promise<Ended>((done) => {
    child.once('close', (code) => done({ code, output }));
  });
  const says = (text: string) =>
    new Promise<void>((go, fail) => {
      waiting.push({ text, go });
      void ended.then(() => fail(new Error(`ended without saying "${text}":\n${output}`)));
    });
  return { child, ended, says };
}

/** How late a timer of this process may be before the machine is to blame for what is heard. */
const LATE_MS = 400;

/**
 * Runs it to its end; where a check has failed and the machine itself stood still meanwhile, once more: how it sounds then says
 * nothing of the program.
 */
async function simulated(...args: string[]): Promise<Ended> {
  let latest = performance.now();
  let lateMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    lateMs = Math.max(lateMs, now - latest - 20);
    latest = now;
  }, 20);
  const first = await simulate(...args).ended;
  clearInterval(timer);
  return first.code === 0 || lateMs < LATE_MS ? first : simulate(...args).ended;
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

// Each is a program of its own, and waits for its calls most of its time.
t.jobs = 2;

t.test('a reminder is called, checked and left as a folder', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulated('--scenario', 'reminder', '--out', out);
  t.equal(code, 0, output);
  t.notMatch(output, 'FAIL');
  t.match(output, 'Everything went right.');
  const json = (name: string) => JSON.parse(readFileSync(join(out, name), 'utf8'));
  t.match(json('call.json'), {
    status: 'completed',
    result: { confirmed: true, day: 'Tuesday', time: '10:30' },
  });
  t.ok(json('transcript.json').data.length >= 4);
  t.same(
    json('events.json')
      .map(({ type }: { type: string }) => type)
      .sort(),
    ['call.answered', 'call.completed', 'call.queued', 'call.ringing'],
  );
  t.equal(json('deliveries.json').length, 4);
  t.match(json('carrier.json'), { status: 'completed', violations: [] });
  t.equal(json('model.json').sessions.length, 1);
  t.ok(json('turns.json').answers.length >= 1);
  t.ok(json('checks.json').every(({ ok }: { ok: boolean }) => ok));
  t.match(readFileSync(join(out, 'picture.svg'), 'utf8'), /^<svg /);
  t.match(readFileSync(join(out, 'daemon.log'), 'utf8'), 'daemon.started');
  // Stereo, 16 bits, 8 kHz: 32,000 bytes a second of at least half a minute.
  t.ok(statSync(join(out, 'recording.wav')).size > 30 * 32_000);
});

t.test('a pause, a murmur and an interruption are drawn as what they were', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulated('--scenario', 'give-and-take', '--out', out);
  t.equal(code, 0, output);
  const drawn = readFileSync(join(out, 'picture.svg'), 'utf8');
  for (const words of ['let pass: the agent goes on', 'thrown away unheard', 'barge-in: the person cuts in'])
    t.match(drawn, words);
});

t.test('a line that breaks in mid-sentence is drawn, and the call went on over it', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulated('--scenario', 'line-lost', '--out', out);
  t.equal(code, 0, output);
  t.match(output, /and is back after 0\.\d\d s/);
  t.match(output, /ok {4}the line broke, and came back within a second/);
  t.match(output, /ok {4}the agent went on at the last heard word, and nothing was lost/);
  t.match(readFileSync(join(out, 'picture.svg'), 'utf8'), /line lost: 0\.\d\d s/);
  const { gaps } = JSON.parse(readFileSync(join(out, 'call.json'), 'utf8'));
  t.match(gaps, [{ why: 'stream_lost' }]);
  t.ok(gaps[0].to_ms > gaps[0].from_ms);
});

t.test('what has to be said first is heard whole, and drawn', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulated('--scenario', 'disclosure', '--out', out);
  t.equal(code, 0, output);
  t.match(output, /ok {4}what is said first was heard whole, whoever spoke over it/);
  const drawn = readFileSync(join(out, 'picture.svg'), 'utf8');
  for (const words of ['said first: nothing interrupts it', 'heard whole', 'This call is recorded'])
    t.match(drawn, words);
  t.notMatch(drawn, 'barge-in: the person cuts in');
});

t.test('who asks not to be called again is not, and the picture tells when', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulated('--scenario', 'opt-out', '--out', out);
  t.equal(code, 0, output);
  t.match(output, /ok {4}who asks not to be called again is not/);
  t.match(readFileSync(join(out, 'picture.svg'), 'utf8'), 'asks not to be called again: noted');
});

t.test(
  'an interrupted simulation leaves no program and exits with 130',
  { skip: !existsSync('/proc/self/task') && 'needs /proc' },
  async (t) => {
    const out = join(t.testdir(), 'results');
    const run = simulate('--scenario', 'no-answer', '--out', out);
    await run.says('it rings');
    const children = readFileSync(`/proc/${run.child.pid}/task/${run.child.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    t.equal(children.length, 3);
    run.child.kill('SIGINT');
    const { code, output } = await run.ended;
    t.equal(code, 130, output);
    t.same(children.filter(alive), []);
    t.notOk(existsSync(join(out, 'call.json')));
  },
);

t.test('a wrong option is told in one line, and nothing is started', async (t) => {
  const { code, output } = await simulate('--calls', 'many').ended;
  t.equal(code, 2);
  t.equal(output.trim().split('\n').length, 1);
  t.match(output, '--calls');
});

t.test('a recording that cannot be read is told', async (t) => {
  const out = join(t.testdir(), 'results');
  const { code, output } = await simulate('--caller', 'nowhere.wav', '--out', out).ended;
  t.equal(code, 1);
  t.match(output, 'Cannot read the recording');
});
