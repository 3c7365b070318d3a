// The programs of examples/, each run as a person would, against a real daemon with the simulated carrier and model.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { freePort } from '../../scripts/free-port.ts';
import { openRig, POLITE, until } from './rig.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const RAN = new Set<string>();

/** A scenario of the tests for other instructions than its own. */
function scenario(folder: string, name: string, fits: string): string {
  const own = join(import.meta.dirname, 'scenarios', `${name}.json`);
  const { hears, ...rest } = JSON.parse(readFileSync(own, 'utf8')) as { hears: string };
  const file = join(folder, `${name}.json`);
  writeFileSync(
    file,
    JSON.stringify({ ...rest, for: fits, hears: relative(folder, resolve(own, '..', hears)) }),
  );
  return file;
}

function program(t: Test, name: string, env: Record<string, string>, ...args: string[]) {
  RAN.add(name);
  const lines: string[] = [];
  const child = spawn(process.execPath, [join(ROOT, 'examples', name), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { lines, ended, stop: () => child.kill('SIGINT') };
}

t.test('each example does what its first line says', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-examples-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const rig = await openRig(t, {
    scenario: [scenario(folder, 'lookup', 'look the order up'), scenario(folder, 'brief', 'appointment')],
    carrier: { callees: { '+14155550123': POLITE } },
  });
  const { lab } = rig;
  const env = { OFFHOOK_URL: lab.daemon.url, OFFHOOK_API_KEY: lab.apiKey };
  // What the README says first: buy a number.
  const number = (await rig.agent({ name: 'Owner', instructions: 'Is asked nothing.' })).number;

  const wall = program(t, 'live-wall.ts', env);
  const hookPort = String(await freePort());
  const hooks = program(t, 'webhooks.ts', {
    ...env,
    PORT: hookPort,
    WEBHOOK_URL: `http://127.0.0.1:${hookPort}/`,
  });
  await until('both listen', () => wall.lines.includes('following') && hooks.lines.includes('listening'));

  const toolPort = String(await freePort());
  const shop = program(t, 'order-line.ts', {
    ...env,
    PORT: toolPort,
    TOOL_URL: `http://127.0.0.1:${toolPort}/orders`,
  });
  await until('the order line is open', () => shop.lines.includes(`call ${number}`));
  // Both calls at once.
  const reminder = program(t, 'reminder.ts', env, '+14155550123', 'Tuesday, 10:00');
  await lab.ask('carrier', '/inbound-calls', {
    to: number,
    from: '+15550109999',
    callee: {
      steps: [
        { do: 'say', file: 'caller-more-info.wav', when: { afterAgentSilenceMs: 700, timeoutMs: 20_000 } },
      ],
    },
  });
  await until('the order is looked up', () => shop.lines.includes('looked up 1042'));
  t.equal(await reminder.ended, 0, reminder.lines.join('\n'));
  t.ok(reminder.lines.includes('completed'));
  t.ok(reminder.lines.includes('agent: Hello, this is the automated assistant. How can I help you?'));
  t.ok(reminder.lines.some((line) => line.startsWith('caller: ')));
  t.match(reminder.lines.at(-1), /will_come/);
  await until(
    'two calls on the wall',
    () => wall.lines.filter((line) => line.startsWith('call.completed')).length === 2,
  );
  await until(
    'two webhooks',
    () => hooks.lines.filter((line) => line.startsWith('call.completed')).length === 2,
  );
  t.ok(wall.lines.some((line) => line.startsWith(`call.answered outbound ${number} -> +14155550123`)));
  t.ok(wall.lines.some((line) => line.startsWith(`call.completed inbound +15550109999 -> ${number} after`)));
  t.notOk(hooks.lines.some((line) => line.startsWith('refused')));
  wall.stop();
  t.equal(await wall.ended, 0, wall.lines.join('\n'));

  const forged = await fetch(`http://127.0.0.1:${hookPort}/`, { method: 'POST', body: '{}' });
  t.equal(forged.status, 400, 'a webhook that is not signed is refused');
  await until('a refusal', () => hooks.lines.some((line) => line.startsWith('refused: ')));

  const report = program(t, 'nightly-report.ts', env);
  t.equal(await report.ended, 0, report.lines.join('\n'));
  t.equal(report.lines[0], '"created","direction","from","to","status","seconds","cost in dollars","result"');
  t.same(
    report.lines.slice(1).map((line) => line.split(',')[4]),
    ['"completed"', '"completed"'],
  );
  t.ok(report.lines.some((line) => line.includes('"inbound","+15550109999"')));

  t.same([...RAN].sort(), readdirSync(join(ROOT, 'examples')).sort(), 'every example was run');
});
