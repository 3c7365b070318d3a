// The simulator as a program of its own, driven over its control API.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import type { SimulatorEvent } from '../../scripts/carrier-simulator/event-log.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { connectTwiml, startApplication } from './carrier-simulator-application.ts';

const MAIN = join(import.meta.dirname, '../../scripts/carrier-simulator/main.ts');
const OWN = '+14155550100';

t.test('runs alone, takes calls over the control API, ends on SIGTERM', async (t) => {
  const app = await startApplication('secret');
  app.on('/inbound', () => connectTwiml(app));
  const dir = mkdtempSync(join(tmpdir(), 'carrier-simulator-'));
  const config = join(dir, 'carrier.json');
  writeFileSync(
    config,
    JSON.stringify({
      authToken: 'secret',
      allowInsecure: true,
      numbers: [{ phoneNumber: OWN, voiceUrl: `${app.url}/inbound` }],
      callees: {
        keys: {
          steps: [
            { do: 'wait', ms: 200 },
            { do: 'dtmf', digits: '5' },
          ],
        },
      },
    }),
  );
  const out = join(dir, 'out');
  const program = spawn(process.execPath, [MAIN, '--port', '0', '--config', config, '--out', out], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    program.kill('SIGKILL');
    await app.close();
    rmSync(dir, { recursive: true });
  });
  const [line] = (await once(createInterface({ input: program.stdout }), 'line')) as [string];
  const ready = JSON.parse(line) as { listening: number; url: string };
  t.ok(ready.listening > 0);
  const control = `${ready.url}/simulator`;
  const post = (path: string, body: unknown) =>
    fetch(`${control}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const stream = await fetch(`${control}/events`);
  t.equal(stream.headers.get('content-type'), 'application/x-ndjson');
  const events: SimulatorEvent[] = [];
  const followed = (async () => {
    let rest = '';
    for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split('\n');
      rest = lines.pop()!;
      events.push(...lines.map((text) => JSON.parse(text) as SimulatorEvent));
      if (events.some((event) => event.type === 'call.ended')) return;
    }
  })();

  const refused = await post('/inbound-calls', { to: '+14155559999', from: OWN });
  t.equal(refused.status, 400);
  const placed = await post('/inbound-calls', { to: OWN, from: '+12125550123', callee: 'keys' });
  t.equal(placed.status, 201);
  const { sid } = (await placed.json()) as CallReport;
  const session = await app.session();
  await session.message((message) => message.dtmf?.digit === '5');
  t.ok(session.signed);
  t.equal((await post(`/calls/${sid}/hang-up`, {})).status, 200);
  t.equal((await post(`/calls/${sid}/hang-up`, {})).status, 404);
  await followed;
  const seen = events.filter((event) => event.callSid === sid).map((event) => event.type);
  for (const type of [
    'call.status',
    'hook.sent',
    'stream.started',
    'callee.digit',
    'stream.ended',
    'call.ended',
  ]) {
    t.ok(seen.includes(type), type);
  }

  const { calls } = (await (await fetch(`${control}/calls`)).json()) as { calls: CallReport[] };
  t.match(calls, [
    { sid, status: 'completed', endedBy: 'callee', direction: 'inbound', hooks: [{ status: 200 }] },
  ]);

  const sse = await fetch(`${control}/events?after=0`, { headers: { accept: 'text/event-stream' } });
  t.equal(sse.headers.get('content-type'), 'text/event-stream');
  const reader = sse.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  t.match(first, /^id: 1\nevent: call\.status\ndata: \{.*\}\n\n/);
  await reader.cancel();

  const fault = await post('/faults', { do: 'status', status: 429, path: '/Calls.json' });
  t.equal(fault.status, 201);
  t.equal((await post('/faults', { do: 'explode' })).status, 400);
  const injected = await fetch(`${ready.url}/2010-04-01/Accounts/x/Calls.json`);
  t.equal(injected.status, 429);

  program.kill('SIGTERM');
  t.same(await once(program, 'exit'), [0, null]);
  t.same(readdirSync(out).sort(), [`${sid}.wav`, `${sid}.wire.json`].sort());
});

t.test('a wrong configuration is told, not run', async (t) => {
  const program = spawn(process.execPath, [MAIN, '--port', 'x'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  program.stderr.on('data', (data: Buffer) => {
    told += data.toString();
  });
  t.same(await once(program, 'close'), [1, null]);
  t.match(told, /port/);
});
