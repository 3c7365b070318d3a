// The command line against the control plane on a real socket: what it prints, and how it ends.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { candidates } from '../../../control/cli/completion.ts';
import { createOutput } from '../../../control/cli/output.ts';
import { createProgram, runCommandLine } from '../../../control/cli/program.ts';
import { verify } from '../../../control/sdk/index.ts';
import { openLog } from '../../../log.ts';
import { makeCall, makeInterruption, makeItem, makeTurn } from '../../storage/makers.ts';
import { modelsFile, openRig, type Rig } from '../rig.ts';

interface Ran {
  code: number;
  out: string;
  err: string;
}

const stream = () => new PassThrough() as unknown as NodeJS.WriteStream & PassThrough;

function runner(t: Test, rig: Rig | null, env: Record<string, string> = {}) {
  const config = `${t.testdir()}/config.json`;
  return async (args: string[], signal = new AbortController().signal): Promise<Ran> => {
    const [out, err] = [stream(), stream()];
    const code = await runCommandLine(args, {
      out,
      err,
      env: {
        OFFHOOK_CONFIG: config,
        ...(rig === null ? {} : { OFFHOOK_URL: rig.url, OFFHOOK_API_KEY: rig.key }),
        ...env,
      },
      version: '1.2.3',
      signal,
    });
    return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
  };
}

t.test('agents: made from flags, found by name, shown to people and to programs', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const numberId = await rig.number('+14155550100');
  t.match(await offhook(['agents', 'list']), { code: 0, out: /No agents yet.*agents create/ });
  const made = await offhook([
    'agents',
    'create',
    '--name',
    'Reminder',
    '--type',
    'outbound',
    '--instructions',
    'Remind.',
    '--returns',
    '{"will_come":"boolean"}',
    '--number',
    '+14155550100',
  ]);
  t.match(made, { code: 0, out: /Reminder[\s\S]*\+14155550100 \(primary\)[\s\S]*will_come/ });
  t.match(await offhook(['agents', 'get', 'reminder']), { code: 0, out: /Remind\./ }, 'by name, in any case');
  const listed = await offhook(['agents', 'list', '--json']);
  t.match(JSON.parse(listed.out), [{ name: 'Reminder' }]);
  t.match(await offhook(['agents', 'update', 'Reminder', '--language', 'es']), {
    code: 0,
    out: /language +es/,
  });
  const tuned = ['--patience', 'long', '--eagerness', 'eager', '--interruption', 'easy'];
  t.match(await offhook(['agents', 'update', 'Reminder', ...tuned]), {
    code: 0,
    out: /turns +patience long, eagerness eager, interruption easy/,
  });
  t.match(await offhook(['agents', 'update', 'Reminder', '--patience', 'endless']), {
    code: 5,
    err: /Field: patience/,
  });
  t.match(await offhook(['agents', 'detach', 'Reminder', numberId]), { code: 0, out: /numbers +none/ });
  t.match(await offhook(['agents', 'archive', 'Reminder']), { code: 0, out: /archived/ });
  t.match(await offhook(['agents', 'get', 'Reminder']), { code: 2, err: /There is no agent/ });
});

t.test('errors say what to do and end with a code for scripts', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const cases: [string[], number, RegExp][] = [
    [['calls', 'get', '0192f5a0-0000-7000-8000-000000000000'], 4, /no call.*not_found, request/is],
    [['--api-key', 'sk_0000000000000000', 'balance'], 3, /offhook login/],
    [['agents', 'create', '--name', 'X', '--type', 'sideways'], 5, /Field: type/],
    [['agents', 'create', '--returns', '{'], 2, /--returns must be JSON/],
    [['call', '+14155550123'], 2, /--agent/],
    [['calls', 'list', '--limit', '0'], 2, /"0" is too little/],
    [['calls', 'list', '--limit', '-1'], 2, /"-1" is too little/],
    [['call', '+14155550123', '--context', 'novalue'], 2, /key=value/],
    [['call'], 2, /missing required argument 'to'/],
    [['conquer'], 2, /unknown command/],
    [['--url', 'nonsense', 'balance'], 2, /not a URL/],
    [['--url', 'http://127.0.0.1:1', 'agents', 'update', 'x'], 6, /Nothing answers.*Is the daemon running/s],
    [['--profile', 'nobody', 'balance'], 1, /no profile "nobody"/],
    [['completion', 'tcsh'], 2, /bash, zsh or fish/],
  ];
  for (const [args, code, err] of cases) t.match(await offhook(args), { code, out: '', err }, args.join(' '));
  const refused = await offhook(['--json', 'agents', 'create', '--name', 'X', '--type', 'sideways']);
  t.match(JSON.parse(refused.err), {
    error: { code: 'invalid_request', param: 'type', status: 400 },
    exit_code: 5,
  });
  t.match(await offhook(['--help']), { code: 0, out: /Exit codes/ });
  t.match(await offhook(['--version']), { code: 0, out: '1.2.3\n' });
});

t.test('the speech models there are', async (t) => {
  const MODELS_FILE = modelsFile(t, { house: { model: 'local' } });
  const offhook = runner(t, await openRig(t, { env: { MODELS_FILE } }));
  const shown = await offhook(['models']);
  t.match(shown, { code: 0, out: /gpt-realtime-2\.1 +yes +openai[\s\S]*house +openai +local +mulaw 8 kHz/ });
  const { out } = await offhook(['models', '--json']);
  t.match(JSON.parse(out), [{ name: 'gpt-realtime-2.1', is_default: true }, { name: 'house' }]);
});

t.test('a call is placed with what it is about, and waited for', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const { id: agentId } = await rig.agent({ name: 'Reminder', returns: { will_come: 'boolean' } });
  const placed = await offhook([
    'call',
    '+14155550123',
    '--agent',
    'reminder',
    '--context',
    'appointment=Tuesday, 10:00',
    '--context',
    'party=3',
    '--metadata',
    'order=A-1',
  ]);
  t.match(placed, { code: 0, out: /Calling \+14155550123/ });
  const call = rig.dispatched[0];
  t.match(call, {
    agent_id: agentId,
    context: { appointment: 'Tuesday, 10:00', party: 3 },
    metadata: { order: 'A-1' },
  });

  // Its end comes while somebody waits.
  const id = call?.id ?? '';
  const waiting = offhook(['calls', 'wait', id, '--json']);
  await rig.store.saveCall(id, {
    from: ['queued', 'initiated'],
    change: {
      status: 'no_answer',
      ended_at: rig.now().toISOString(),
      result_status: 'failed',
      result_error: 'No.',
    },
    events: ['call.no_answer'],
  });
  const waited = await waiting;
  t.equal(waited.code, 10, 'nobody was reached');
  t.match(JSON.parse(waited.out), { id, status: 'no_answer' });
  t.match(await offhook(['calls', 'list']), { code: 0, out: /no_answer/ });
  t.match(await offhook(['calls', 'events', id]), { code: 0, out: /call\.no_answer/ });
  t.match(await offhook(['calls', 'turns', id]), { code: 0, out: /No answer was given/ });
  await rig.store.saveTurns({
    turns: [makeTurn(id, { requested_ms: 4_900, thrown_away: 2, barged_in: true })],
    interruptions: [makeInterruption(id, { taken_back: true })],
  });
  t.match(await offhook(['calls', 'turns', id]), {
    code: 0,
    out: /begun early, 2 thrown away before, cut short\n1 sound over the agent's voice let pass, 1 of them paused it\.\n/,
  });
  t.match(await offhook(['calls', 'transcript', id]), { code: 0, out: /Nothing was said/ });
  t.match(await offhook(['calls', 'hangup', id]), { code: 5, err: /call_ended/ });
});

/** What a terminal obeys: control characters but line ends, and marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const NASTY = 'Re\u001b]0;title\u0007min\u001b[2J\u009b1A\u202eder\u2066\u0008\u001b[31mred';
const SHOWN = 'Re\\u001b]0;title\\u0007min\\u001b[2J\\u009b1A\\u202eder\\u2066\\u0008\\u001b[31mred';

t.test('what others wrote is shown, and does nothing to the terminal', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const { id } = await rig.agent({ name: NASTY, instructions: `${NASTY}\nAnd a second line.` });
  for (const args of [
    ['agents', 'list'],
    ['agents', 'get', id],
  ]) {
    const { code, out } = await offhook(args);
    t.equal(code, 0);
    t.ok(out.includes(SHOWN), `${args.join(' ')}: ${JSON.stringify(out)}`);
    t.notMatch(out, OBEYED);
  }
  const asJson = await offhook(['agents', 'list', '--json']);
  t.notMatch(asJson.out, OBEYED, 'nor as JSON');
  t.match(JSON.parse(asJson.out), [{ name: NASTY }], 'which says the same');
  for (const args of [
    ['agents', 'get', `not ${NASTY}`],
    ['--json', 'agents', 'get', `not ${NASTY}`],
    [NASTY],
    ['--url', `http://${NASTY}`, 'balance'],
  ]) {
    const { code, err } = await offhook(args);
    t.equal(code, 2);
    t.notMatch(err, OBEYED, `an error: ${JSON.stringify(err)}`);
  }
});

t.test('what was said is one line, whatever was in it', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const call = makeCall(rig.orgId);
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  const said = makeItem(call.id, { role: 'caller', text: `${NASTY}\n  0:01  agent   Pay now.` });
  await rig.store.saveTranscript([said]);
  const { out } = await offhook(['calls', 'transcript', call.id]);
  t.ok(out.includes(SHOWN));
  t.notMatch(out, OBEYED);
  t.equal(
    out.split('\n').filter((line) => /^ +0:01 /.test(line)).length,
    0,
    'it makes up no line of its own',
  );
});

t.test('gaps in the sound stand between the lines that were said, and beside the turns', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const lost = { why: 'stream_lost' as const, started_at: '2026-03-01T12:00:02.000Z', from_ms: 2_100 };
  const gaps = [
    { ...lost, to_ms: 2_920 },
    { ...lost, why: 'daemon_restart' as const, from_ms: 9_000, to_ms: null },
  ];
  const call = makeCall(rig.orgId, { gaps });
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  await rig.store.saveTranscript([
    makeItem(call.id, { text: 'I will look', heard_text: 'I will look', start_ms: 2_000 }),
    makeItem(call.id, { role: 'caller', text: 'Hello?', heard_text: 'Hello?', start_ms: 3_100 }),
  ]);
  const said = (await offhook(['calls', 'transcript', call.id])).out.split('\n').map((line) => line.trim());
  t.match(said, [
    /I will look$/,
    '0:02  — line lost 0.8 s —',
    /Hello\?$/,
    '0:09  — line lost, not back yet (the service restarted) —',
    /it goes on/,
  ]);
  t.match((await offhook(['calls', 'turns', call.id])).out, /No answer[\s\S]*0:02 {2}— line lost 0\.8 s —/);
  await rig.api('POST', `/v1/calls/${call.id}/cancel`);
  const got = await offhook(['calls', 'get', call.id]);
  t.match(got.out, /gaps +line lost 0\.8 s\n +line lost, /);
  t.match(JSON.parse((await offhook(['calls', 'get', call.id, '--json'])).out), { gaps });
});

t.test('our own colours are obeyed beside what is not', async (t) => {
  const out = stream();
  const forced = process.env.FORCE_COLOR;
  process.env.FORCE_COLOR = '1';
  t.teardown(() => {
    if (forced === undefined) delete process.env.FORCE_COLOR;
    else process.env.FORCE_COLOR = forced;
  });
  const output = createOutput({ out, err: stream() }, { json: false, color: true });
  output.line(`${output.paint('green', 'agent')} \u001b[31mred`);
  t.equal(String(out.read()), '\u001b[32magent\u001b[39m \\u001b[31mred\n');
});

t.test('a table is as wide as the terminal, and every cell of it whole', async (t) => {
  const table = (columns: number | null, rows: string[][]) => {
    const out = Object.assign(stream(), columns === null ? {} : { isTTY: true, columns });
    const output = createOutput({ out, err: stream() }, { json: false, color: false });
    output.table(['status', 'from', 'id'], rows, 'none');
    return String(out.read()).split('\n').slice(0, -1);
  };
  const id = '0192f5a0-0000-7000-8000-000000000000';
  const rows = [
    ['completed', '+14155550123', id],
    ['no_answer', '+44207946', `${id}2`],
  ];
  t.same(table(80, rows), [
    'STATUS     FROM          ID',
    `completed  +14155550123  ${id}`,
    `no_answer  +44207946     ${id}2`,
  ]);
  t.same(table(50, rows), [
    'STATUS     FROM',
    '  ID',
    'completed  +14155550123',
    `  ${id}`,
    'no_answer  +44207946',
    `  ${id}2`,
  ]);
  t.same(table(24, [['failed', 'The number\u0007 is not in service.', '漢字漢字漢字漢字漢字漢字']]), [
    'STATUS',
    '  FROM',
    '  ID',
    'failed',
    '  The number\\u0007 is',
    '  not in service.',
    '  漢字漢字漢字漢字漢字漢',
    '  字',
  ]);
  t.same(table(null, rows).length, 3, 'a pipe has a line per row');
});

t.test('a watch that is interrupted leaves the call alone, whatever it was just doing', async (t) => {
  const rig = await openRig(t);
  const call = makeCall(rig.orgId);
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  const offhook = runner(t, rig);
  const left = { code: 0, err: new RegExp(`The call goes on: offhook calls hangup ${call.id}`) };
  t.match(await offhook(['calls', 'watch', call.id], AbortSignal.abort(new Error('Interrupted.'))), left);
  const stop = new AbortController();
  const watching = offhook(['calls', 'watch', call.id], stop.signal);
  // Its first look is answered long before this, and the next one is not yet due.
  setTimeout(() => stop.abort(new Error('Interrupted.')), 400);
  t.match(await watching, left);
});

t.test('a watch says that the call ended when its last words are there', async (t) => {
  const call = {
    ...makeCall('0192f5a0-0000-7000-8000-000000000001'),
    answered_at: '2026-03-01T12:00:00.000Z',
  };
  const item = makeItem(call.id, { role: 'caller', text: 'Goodbye.', heard_text: 'Goodbye.', end_ms: null });
  // What is asked for comes in turn: the call, then its transcript.
  const told = [
    [
      { ...call, status: 'in_progress' },
      { status: 'live', data: [] },
    ],
    [
      { ...call, status: 'completed', result_status: 'pending' },
      { status: 'live', data: [item] },
    ],
    [
      { ...call, status: 'completed', result_status: 'pending' },
      { status: 'final', data: [item] },
    ],
    [
      { ...call, status: 'completed', result_status: 'completed', result: {} },
      { status: 'final', data: [item] },
    ],
  ];
  let round = -1;
  const daemon = createServer((request, response) => {
    const transcript = request.url?.endsWith('/transcript') === true;
    if (!transcript) round++;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(told[round]?.[transcript ? 1 : 0]));
  });
  await new Promise<void>((listening) => daemon.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    daemon.closeAllConnections();
    daemon.close();
  });
  const { port } = daemon.address() as AddressInfo;
  const offhook = runner(t, null, { OFFHOOK_URL: `http://127.0.0.1:${port}`, OFFHOOK_API_KEY: 'sk_0000' });
  const { code, out } = await offhook(['calls', 'watch', call.id]);
  t.equal(code, 0);
  t.match(
    out.split('\n', 3).map((line) => line.trim()),
    ['answered', /caller +Goodbye\.$/, 'ended'],
  );
});

t.test('a watch tells of a gap in the sound once it is over, or the call is', async (t) => {
  const call = {
    ...makeCall('0192f5a0-0000-7000-8000-000000000001'),
    answered_at: '2026-03-01T12:00:00.000Z',
  };
  const open = { why: 'stream_lost', started_at: call.answered_at, from_ms: 2_000, to_ms: null };
  const closed = { ...open, to_ms: 2_800 };
  const last = { ...open, from_ms: 9_000 };
  const rounds = [
    { ...call, status: 'in_progress', gaps: [open] },
    { ...call, status: 'in_progress', gaps: [closed, last] },
    {
      ...call,
      status: 'completed',
      result_status: 'completed',
      result: {},
      ended_at: call.answered_at,
      gaps: [closed, last],
    },
  ];
  let round = -1;
  const daemon = createServer((request, response) => {
    const transcript = request.url?.endsWith('/transcript') === true;
    if (!transcript) round++;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(transcript ? { status: 'final', data: [] } : rounds[round]));
  });
  await new Promise<void>((listening) => daemon.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    daemon.closeAllConnections();
    daemon.close();
  });
  const { port } = daemon.address() as AddressInfo;
  const offhook = runner(t, null, { OFFHOOK_URL: `http://127.0.0.1:${port}`, OFFHOOK_API_KEY: 'sk_0000' });
  const { out } = await offhook(['calls', 'watch', call.id]);
  t.same(
    out
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('line lost')),
    ['0:02  — line lost 0.8 s —', '0:09  — line lost, and did not come back —'],
  );
});

t.test('a recording is asked for in the shape that is wanted', async (t) => {
  const asked: string[] = [];
  const daemon = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'audio/wav');
    response.end('RIFF');
  });
  await new Promise<void>((listening) => daemon.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    daemon.closeAllConnections();
    daemon.close();
  });
  const { port } = daemon.address() as AddressInfo;
  const offhook = runner(t, null, { OFFHOOK_URL: `http://127.0.0.1:${port}`, OFFHOOK_API_KEY: 'sk_0000' });
  const get = ['calls', 'recording', 'an-id', '-o', '-'];
  t.match(await offhook([...get, '--channels', 'mono', '--rate', '16000']), { code: 0, out: 'RIFF' });
  t.match(await offhook(get), { code: 0, out: 'RIFF' });
  t.same(asked, [
    '/v1/calls/an-id/recording?channels=mono&rate=16000',
    '/v1/calls/an-id/recording?channels=stereo&rate=8000',
  ]);
});

t.test('a status line is written over on a terminal, and nowhere else', async (t) => {
  for (const [isTTY, json, wanted] of [
    [true, false, 'ringing\r\u001b[2K0:\\u000701\r\u001b[2Kended\n'],
    [true, true, 'ended\n'],
    [false, false, 'ended\n'],
  ] as const) {
    const out = Object.assign(stream(), { isTTY });
    const output = createOutput({ out, err: stream() }, { json, color: false });
    output.status('');
    output.status('ringing');
    output.status('0:\u000701');
    output.status('');
    output.line('ended');
    t.equal(String(out.read()), wanted);
    await output.bytes(Readable.from([Buffer.from([0x52, 0, 0xff])]));
    t.same(out.read(), Buffer.from([0x52, 0, 0xff]), 'a file goes there as it is');
    t.notOk(out.writableEnded);
  }
});

t.test('listen brings events to a local program as webhooks that verify', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const got: { headers: Record<string, unknown>; body: string }[] = [];
  const local = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    got.push({ headers: req.headers, body });
    res.writeHead(got.length === 1 ? 204 : 500).end();
    local.emit('got');
  });
  await new Promise<void>((listening) => local.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    local.closeAllConnections();
    local.close();
  });
  const earlier = makeCall(rig.orgId);
  await rig.store.createCall(earlier, { events: ['call.queued'], reserve: 0 });
  const stop = new AbortController();
  const to = `http://127.0.0.1:${(local.address() as AddressInfo).port}/hook`;
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
  const [before] = (await rig.api('GET', '/v1/events')).body.data;
  const listening = offhook(
    ['listen', '--forward-to', to, '--secret', secret, '--after', before.id],
    stop.signal,
  );
  for (const status of ['ringing', 'failed'] as const) {
    const next = once(local, 'got');
    await rig.store.saveCall(earlier.id, {
      from: ['queued', 'initiated', 'ringing'],
      change: { status },
      events: [status === 'ringing' ? 'call.ringing' : 'call.failed'],
    });
    await next;
  }
  // What was printed of the second comes after its answer; the end is asked for then.
  const late = once(local, 'got');
  const other = makeCall(rig.orgId);
  await rig.store.createCall(other, { events: ['call.queued'], reserve: 0 });
  await late;
  stop.abort();
  const ended = await listening;
  t.equal(ended.code, 0, ended.err);
  t.match(ended.out, /call\.ringing.*204 in \d+ ms/);
  t.match(ended.out, /call\.failed.*500 in/);
  const [first] = got;
  const event = await verify(first?.body ?? '', first?.headers as Record<string, string>, secret);
  t.match(event, { type: 'call.ringing', sequence: 2, call: { id: earlier.id, status: 'ringing' } });
  t.match(await offhook(['listen', '--forward-to', 'nowhere']), { code: 2, err: /not a URL/ });
});

t.test('a call that the gate refuses goes out by a word and a reason, kept with it', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  await rig.number('+14155550100');
  const call = ['call', '+19005550123', '--instructions', 'Ask.', '--json'];
  t.match(await offhook(call), { code: 3, err: /destination_closed/ });
  const codes = 'destination_closed, destination_not_allowed';
  t.match(await offhook([...call, '--override', codes]), { code: 2, err: /--override-reason/ });
  const placed = await offhook([...call, '--override', codes, '--override-reason', 'Our own line.']);
  t.equal(placed.code, 0, placed.err);
  t.match(JSON.parse(placed.out).gate, {
    overridden: { reason: 'Our own line.', codes: ['destination_closed'] },
  });
});

t.test('logs shows the newest lines, and those that come until it is stopped', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const log = openLog('debug', [], { write() {} }, rig.recentLog.take);
  log.info({ org_id: rig.orgId, status: 200 }, 'first.line');
  log.warn({ org_id: rig.orgId }, 'second.line');
  t.match(await offhook(['logs', '-n', '1']), { code: 0, out: /^\S+ +second\.line +org_id=\S+\n$/ });
  t.match(await offhook(['logs', '--level', 'warn', '--json']), { code: 0, out: /"event":"second.line"/ });
  const stop = new AbortController();
  const following = offhook(['logs', '--follow'], stop.signal);
  // It has asked for more once somebody waits.
  while (!rig.recentLog.isFollowed) await new Promise((turn) => setTimeout(turn, 10));
  const told = rig.recentLog.last;
  log.error({ org_id: rig.orgId }, 'third.line');
  while (!rig.recentLog.isFollowed || rig.recentLog.last === told)
    await new Promise((turn) => setTimeout(turn, 10));
  stop.abort();
  const { code, out } = await following;
  t.equal(code, 0);
  t.match(out, /first\.line[\s\S]*second\.line[\s\S]*third\.line/);
});

t.test('trigger posts one webhook that verifies, and says what came of it', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  const local = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    got.push({ headers: req.headers, body });
    res.writeHead(req.url === '/no' ? 500 : 200).end('taken');
  });
  await new Promise<void>((listening) => local.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    local.closeAllConnections();
    local.close();
  });
  const to = `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
  const stands = {
    queued: 'queued',
    ringing: 'ringing',
    answered: 'in_progress',
    completed: 'completed',
    failed: 'failed',
    no_answer: 'no_answer',
    busy: 'busy',
    canceled: 'canceled',
  };
  for (const [event, status] of Object.entries(stands)) {
    const said = await offhook([
      'trigger',
      `call.${event}`,
      '--to',
      to,
      '--secret',
      secret,
      '--attempt',
      '3',
      '--replay',
    ]);
    t.match(said, { code: 0, out: new RegExp(`200 +call.${event} +taken`) });
    const { headers, body } = got.at(-1) ?? { headers: {}, body: '' };
    t.match(await verify(body, headers, secret), {
      type: `call.${event}`,
      attempt: 3,
      replay: true,
      call: { status },
    });
  }
  const call = makeCall(rig.orgId);
  await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  await offhook(['trigger', 'call.queued', '--to', to, '--call', call.id]);
  t.equal((JSON.parse(got.at(-1)?.body ?? '') as { id: string }).id, call.id, 'as it is');
  t.match(await offhook(['trigger', 'call.queued', '--to', `${to}/no`]), { code: 1, out: /500/ });
  t.match(await offhook(['trigger', 'call.lost', '--to', to]), { code: 2, err: /only call\.queued/ });
  t.match(await offhook(['trigger', 'call.queued', '--to', 'nowhere']), { code: 2, err: /not a URL/ });
});

t.test('profiles: a login that works is kept, for its owner, and used', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, null);
  const login = (key: string, ...more: string[]) =>
    offhook(['login', '--url', rig.url, '--api-key', key, ...more]);
  t.match(await login('sk_0000000000000000'), { code: 3 }, 'a wrong key is not kept');
  t.match(await offhook(['profiles']), { code: 0, out: /No profiles yet/ });
  t.match(await login(rig.key), { code: 0, out: /Profile default speaks to/ });
  t.match(await login(rig.other.key, '--name', 'other'), { code: 0 });
  await rig.agent({ name: 'Mine' });
  t.match(await offhook(['--profile', 'default', 'agents', 'list']), { out: /Mine/ });
  t.match(await offhook(['agents', 'list']), { out: /No agents/ }, 'the last login is the current one');
  t.match(await offhook(['use', 'default']), { code: 0 });
  t.match(await offhook(['agents', 'list']), { out: /Mine/ });
  const elsewhere = await offhook(['--url', 'http://127.0.0.1:1', 'agents', 'get', 'x', '--json']);
  t.equal(elsewhere.code, 6, 'a key is not sent to another address');
  t.match(await offhook(['logout', 'other']), { code: 0 });
  t.match(JSON.parse((await offhook(['profiles', '--json'])).out), [{ name: 'default', current: true }]);
});

t.test('completion offers what may come next', async (t) => {
  const program = createProgram({
    out: stream(),
    err: stream(),
    env: {},
    version: '0',
    signal: AbortSignal.abort(),
  });
  t.same(candidates(program, ['ag']), ['agents']);
  t.same(candidates(program, ['agents', 'at']), ['attach']);
  t.same(candidates(program, ['--url', 'http://x', 'calls', 'tr']), ['transcript']);
  t.ok(candidates(program, ['call', '+1', '--w']).includes('--watch'));
  t.same(
    candidates(program, ['agents', 'create', '--name', '']),
    [],
    'the value of a flag is the shell’s affair',
  );
  t.notOk(candidates(program, ['']).includes('__complete'));
});

t.test('health and alerts: how the line stands, what is watched, whom that is told', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  t.match(await offhook(['health']), { code: 1, out: /calls +ok +No call[\s\S]*model +down/ });
  t.match(await offhook(['alerts']), { code: 0, out: /mail server +none[\s\S]*failure_rate +off/ });
  const set = await offhook([
    'alerts',
    'set',
    '--watch',
    'failure_rate:threshold=30,window=15',
    '--watch',
    'disk_low',
    '--webhook',
    'https://example.com/alerts',
    '--email',
    'ops@example.com',
  ]);
  t.match(set, { code: 0, out: /failure_rate +ok +– +30 % +15 +0[\s\S]*disk_low +ok +10000 MB +1000 MB/ });
  t.match(await offhook(['alerts', 'set', '--ignore', 'disk_low', '--webhook', 'none']), {
    code: 0,
    out: /^e-mail +ops@example\.com[\s\S]*disk_low +off/,
  });
  t.match(await offhook(['alerts', 'set', '--watch', 'disk_low:mood=5']), { code: 2, err: /threshold=/ });
  t.match(await offhook(['alerts', 'test']), { code: 1, out: /email: the daemon has no mail server/ });
});

t.test('outbound: a number is tried, numbers are kept from being called', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  await rig.number('+14155550100');
  t.match(await offhook(['check', '+14155550123']), { code: 0, out: /called now +yes/ });
  t.match(await offhook(['check', '+19005551234']), {
    code: 5,
    out: /kind +premium[\s\S]*destination_closed: /,
  });
  t.match(await offhook(['do-not-call', 'list']), { code: 0, out: /Every number may be called/ });
  const added = await offhook(['do-not-call', 'add', '+14155550123', '+14155550124', '--reason', 'a letter']);
  t.match(added, { code: 0, out: /\+14155550123: not called[\s\S]*\+14155550124: not called/ });
  const file = join(t.testdir({ 'list.csv': 'number\n+14155550125\nnobody\n' }), 'list.csv');
  t.match(await offhook(['do-not-call', 'import', file]), {
    code: 0,
    out: /1 numbers of 2 lines[\s\S]*line 3: no number: nobody/,
  });
  t.match(await offhook(['dnc', 'list', '--number', '+14155550123']), {
    code: 0,
    out: /\+14155550123.*api.*a letter/,
  });
  t.match(await offhook(['check', '+14155550123', '--json']), { code: 5, out: /do_not_call/ });
  t.match(await offhook(['do-not-call', 'remove', '+14155550123']), { code: 0, out: /may be called again/ });
  t.match(await offhook(['do-not-call', 'remove', '+14155550123']), { code: 2, err: /not on the list/ });
  t.equal((await rig.api('GET', '/v1/do_not_call')).body.data.length, 2);
});

t.test('campaigns: made, filled from a file, started, reported, stopped and exported', async (t) => {
  const rig = await openRig(t);
  const offhook = runner(t, rig);
  await rig.agent({ name: 'Reminder' });
  const file = join(
    t.testdir({ 'contacts.csv': 'phone,name\n+14155550101,Ann\nnobody,Bo\n+14155550102,Cleo\n' }),
    'contacts.csv',
  );
  t.match(await offhook(['campaigns', 'list']), { code: 0, out: /No campaigns yet/ });
  t.match(await offhook(['campaigns', 'create', 'March', '--agent', 'reminder', '--at-once', '3']), {
    code: 0,
    out: /Made March/,
  });
  t.match(await offhook(['campaigns', 'import', 'mar', file, '--dry-run']), {
    code: 0,
    out: /line 3: is no telephone number[\s\S]*2 would be added, 0 twice, 1 not understood/,
  });
  t.match(await offhook(['campaigns', 'import', 'March', file]), { code: 0, out: /2 added/ });
  t.match(await offhook(['campaigns', 'start', 'March']), { code: 0, out: /March is running: 0 of 2 done/ });
  t.match(await offhook(['campaigns', 'list']), { code: 0, out: /March +running +0 of 2/ });
  t.match(await offhook(['campaigns', 'pause', 'March']), { code: 0, out: /is paused/ });
  t.match(await offhook(['campaigns', 'resume', 'March']), { code: 0, out: /is running/ });
  t.match(await offhook(['campaigns', 'report', 'March']), { code: 0, out: /2 contacts, 2 waiting/ });
  t.match(await offhook(['campaigns', 'stop', 'March']), { code: 2, err: /2 contacts will not be called/ });
  t.match(await offhook(['campaigns', 'stop', 'March', '--yes']), { code: 0, out: /March is stopped/ });
  t.match(await offhook(['campaigns', 'export', 'March']), {
    code: 0,
    out: /^to_number,status[\s\S]*\+14155550101,waiting/,
  });
  t.match(await offhook(['campaigns', 'report', 'April']), { code: 2, err: /No campaign is called "April"/ });
});
