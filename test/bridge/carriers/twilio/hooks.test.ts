// The hooks over real HTTP, with signatures made by the official SDK.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { XMLParser } from 'fast-xml-parser';
import t, { type Test } from 'tap';
import webhooks from 'twilio/lib/webhooks/webhooks.js';
import type { CarrierEvent, StreamOffer } from '../../../../bridge/carriers/carrier.ts';
import { mediaCarriers } from '../../../../bridge/carriers/media.ts';
import { openTwilio } from '../../../../bridge/carriers/twilio/carrier.ts';
import { HOOK_OVERRIDES } from '../../../../bridge/carriers/twilio/hook-url.ts';
import { openLog } from '../../../../log.ts';
import type { StrangerAct } from '../../../../stranger-log.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
// Not where the server listens: the signature is over what the carrier was told, never over the Host header.
const PUBLIC = 'https://calls.example.com';
const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const SID = `CA${'0'.repeat(32)}`;
const xml = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });

interface Rig {
  carrier: ReturnType<typeof openTwilio>;
  /** What was told of calls that want nothing. */
  events: CarrierEvent[];
  strangers: StrangerAct[];
  inbound: { carrierCallId: string; to: string; from: string }[];
  /** What was told of calls that wait. */
  asked: string[];
  /** What a call that waits is told. */
  command: StreamOffer | 'busy' | 'rejected' | null;
  /** Nothing can be taken, for this reason. */
  fault: Error | null;
  post(
    path: string,
    form: Record<string, string> | string,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** As of our own account, where the form says nothing else. */
  signed(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

const STREAM: StreamOffer = { callId: CALL, url: 'wss://calls.example.com/media/1', token: 'one-time' };

async function rig(t: Test): Promise<Rig> {
  const hooksPath = '/carriers/twilio';
  const strangers: StrangerAct[] = [];
  const carrier = openTwilio({
    accountSid: 'AC1',
    authToken: TOKEN,
    // Nothing is asked of it here.
    baseUrl: 'http://127.0.0.1:9',
    clientOf: ({ headers }) => {
      const told = headers['x-forwarded-for'];
      return typeof told === 'string'
        ? { address: told, shared: false }
        : { address: '127.0.0.1', shared: true };
    },
    publicUrl: PUBLIC,
    hooksPath,
    log: openLog('silent'),
    strangers: { saw: (act) => void strangers.push(act) },
  });
  const made: Rig = {
    carrier,
    events: [],
    strangers,
    inbound: [],
    asked: [],
    command: STREAM,
    fault: null,
    post: async () => Response.error(),
    signed: async () => Response.error(),
  };
  async function command(carrierCallId: string): Promise<void> {
    if (made.command === null) return;
    if (typeof made.command === 'string') await carrier.line.reject(carrierCallId, made.command);
    else await carrier.line.connect(carrierCallId, made.command);
  }
  await carrier.open(async (event) => {
    if (made.fault !== null) throw made.fault;
    const { type, carrierCallId } = event;
    if (type === 'call-offered') {
      made.inbound.push({ carrierCallId, to: event.to, from: event.from });
      await command(carrierCallId);
    } else if (type === 'stream-wanted' || type === 'stream-over') {
      made.asked.push(`${type} ${event.callId} ${carrierCallId}`);
      await command(carrierCallId);
    } else if (type === 'transfer-failed') {
      made.asked.push(`${type} ${event.why} ${event.callId} ${carrierCallId}`);
      await command(carrierCallId);
    } else made.events.push(event);
  });
  const app = express();
  app.use(hooksPath, carrier.hooks!);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${hooksPath}`;
  made.post = (path, form, headers = {}) =>
    fetch(base + path, {
      method: 'POST',
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', connection: 'close', ...headers },
    });
  made.signed = (path, fields, headers = {}) => {
    const form = { AccountSid: 'AC1', ...fields };
    return made.post(path, form, {
      ...headers,
      'x-twilio-signature': webhooks.getExpectedTwilioSignature(TOKEN, PUBLIC + hooksPath + path, form),
    });
  };
  return made;
}

const FORM = {
  CallSid: SID,
  AccountSid: 'AC1',
  From: '+15550001111',
  To: '+15550002222',
  CallStatus: 'ringing',
};

t.test('an inbound call is answered with a stream that comes back to its own call', async (t) => {
  const { signed, inbound } = await rig(t);
  const response = await signed('/voice', { ...FORM, CallerName: '', CallToken: 'é+&=' });
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/xml/);
  const document = xml.parse(await response.text()).Response;
  t.equal(document.Connect['@action'], `${PUBLIC}/carriers/twilio/calls/${CALL}/after${HOOK_OVERRIDES}`);
  t.equal(document.Connect.Stream['@url'], 'wss://calls.example.com/media/1');
  t.equal(
    document.Connect.Stream['@statusCallback'],
    `${PUBLIC}/carriers/twilio/calls/${CALL}/stream${HOOK_OVERRIDES}`,
  );
  t.same(document.Connect.Stream.Parameter, [
    { '@name': 'callId', '@value': CALL },
    { '@name': 'token', '@value': 'one-time' },
  ]);
  t.same(inbound, [{ carrierCallId: SID, to: '+15550002222', from: '+15550001111' }]);
});

t.test('withheld callers are anonymous', async (t) => {
  const { signed, inbound } = await rig(t);
  for (const From of ['anonymous', '+266696687', 'Restricted', '']) await signed('/voice', { ...FORM, From });
  t.same(
    inbound.map((call) => call.from),
    Array(4).fill('anonymous'),
  );
});

t.test('callers by SIP are who they are', async (t) => {
  const { signed, inbound } = await rig(t);
  for (const From of ['sip:+15550001111@pbx.example.com', 'sip:a@b.example', 'client:alice'])
    await signed('/voice', { ...FORM, From });
  t.same(
    inbound.map((call) => call.from),
    ['+15550001111', 'sip:a@b.example', 'client:alice'],
  );
});

t.test('an unattached number is rejected', async (t) => {
  const made = await rig(t);
  made.command = 'rejected';
  const response = await made.signed('/voice', FORM);
  t.same(xml.parse(await response.text()).Response, { Reject: { '@reason': 'rejected' } });
});

t.test('status callbacks become events', async (t) => {
  const { signed, events } = await rig(t);
  const timestamp = 'Tue, 31 Aug 2010 20:36:28 +0000';
  const at = '2010-08-31T20:36:28.000Z';
  const rest = { durationSeconds: null, cause: null, errorCode: null, errorMessage: null };
  const cases = {
    queued: 'queued',
    initiated: 'initiated',
    ringing: 'ringing',
    'in-progress': 'answered',
    'no-answer': 'no_answer',
    failed: 'failed',
    canceled: 'canceled',
  };
  for (const CallStatus of Object.keys(cases)) {
    const response = await signed(`/calls/${CALL}/status`, { ...FORM, CallStatus, Timestamp: timestamp });
    t.equal(response.status, 204, CallStatus);
  }
  t.same(
    events,
    Object.values(cases).map((status) => ({
      type: 'status',
      callId: CALL,
      carrierCallId: SID,
      status,
      at,
      ...rest,
    })),
  );
  events.length = 0;
  await signed(`/calls/${CALL}/status`, {
    ...FORM,
    CallStatus: 'busy',
    Timestamp: timestamp,
    CallDuration: '0',
    SipResponseCode: '486',
    ErrorCode: '13227',
    ErrorMessage: 'no',
  });
  await signed('/status', {
    ...FORM,
    CallStatus: 'completed',
    Timestamp: timestamp,
    CallDuration: '61',
    Duration: '2',
  });
  t.same(events, [
    {
      type: 'status',
      callId: CALL,
      carrierCallId: SID,
      status: 'busy',
      at,
      durationSeconds: 0,
      cause: 'SIP 486',
      errorCode: '13227',
      errorMessage: 'no',
    },
    {
      type: 'status',
      callId: null,
      carrierCallId: SID,
      status: 'completed',
      at,
      ...rest,
      durationSeconds: 61,
    },
  ]);
  events.length = 0;
  t.equal((await signed(`/calls/${CALL}/status`, { ...FORM, CallStatus: 'constructor' })).status, 204);
  t.same(events, [], 'a status of tomorrow changes nothing');
  // Initiated 0, ringing 1: an end numbered 1 is of a call that never rang.
  for (const SequenceNumber of ['1', '2'])
    await signed(`/calls/${CALL}/status`, { ...FORM, CallStatus: 'busy', SequenceNumber });
  t.same(
    events.map((event) => ('rang' in event ? event.rang : false)),
    [false, true],
  );
});

t.test('machine detection', async (t) => {
  const { signed, events } = await rig(t);
  const cases: Record<string, string> = {
    human: 'human',
    machine_start: 'machine',
    machine_end_beep: 'machine_ready',
    machine_end_silence: 'machine_ready',
    machine_end_other: 'machine_ready',
    fax: 'fax',
    unknown: 'unknown',
    robot: 'unknown',
  };
  for (const AnsweredBy of Object.keys(cases))
    t.equal((await signed(`/calls/${CALL}/machine`, { CallSid: SID, AnsweredBy })).status, 204);
  t.same(
    events.map((event) => event.type === 'machine-detection' && [event.callId, event.raw, event.verdict]),
    Object.entries(cases).map(([raw, verdict]) => [CALL, raw, verdict]),
  );
});

t.test('a failed stream is an event, its other news are not', async (t) => {
  const { signed, events } = await rig(t);
  const Timestamp = '2026-08-01T10:00:00.000Z';
  await signed(`/calls/${CALL}/stream`, { CallSid: SID, StreamEvent: 'stream-started', Timestamp });
  await signed(`/calls/${CALL}/stream`, {
    CallSid: SID,
    StreamEvent: 'stream-error',
    StreamError: '31920',
    Timestamp,
  });
  await signed(`/calls/${CALL}/stream`, { CallSid: SID, StreamEvent: 'stream-stopped', Timestamp });
  t.same(events, [
    { type: 'stream-failed', callId: CALL, carrierCallId: SID, error: '31920', at: Timestamp },
  ]);
});

t.test('answer, after and the result of a transfer', async (t) => {
  const made = await rig(t);
  const { signed, asked } = made;
  const document = async (response: Promise<Response>) => xml.parse(await (await response).text()).Response;
  const answered = await document(signed(`/calls/${CALL}/answer`, { ...FORM, CallStatus: 'in-progress' }));
  t.equal(answered.Connect['@action'], `${PUBLIC}/carriers/twilio/calls/${CALL}/after${HOOK_OVERRIDES}`);
  t.same(
    await document(signed(`/calls/${CALL}/after${HOOK_OVERRIDES}`, { ...FORM, CallStatus: 'completed' })),
    {
      Hangup: '',
    },
  );
  t.same(asked.splice(0), [`stream-wanted ${CALL} ${SID}`], 'of a call that is over nobody is told');
  made.command = null;
  t.same(
    await document(signed(`/calls/${CALL}/after${HOOK_OVERRIDES}`, { ...FORM, CallStatus: 'in-progress' })),
    { Hangup: '' },
    'a line that nobody wants any more is ended',
  );
  const result = (DialCallStatus: string) =>
    document(signed(`/calls/${CALL}/transfer-result`, { ...FORM, DialCallStatus }));
  t.same(await result('completed'), { Hangup: '' });
  t.same(asked.splice(0), [`stream-over ${CALL} ${SID}`], 'a transfer that took place is told to nobody');
  made.command = STREAM;
  for (const [said, why] of [
    ['no-answer', 'no_answer'],
    ['busy', 'busy'],
    ['failed', 'failed'],
    ['canceled', 'failed'],
    ['constructor', 'failed'],
  ] as const) {
    t.match(await result(said), { Connect: {} }, 'one that did not goes on as it is told');
    t.same(asked.splice(0), [`transfer-failed ${why} ${CALL} ${SID}`]);
  }
});

t.test('hooks of one call that wait at once have one answer, those of others none of it', async (t) => {
  const other = `CA${'1'.repeat(32)}`;
  const { carrier, signed } = await rig(t);
  const told: (() => void)[] = [];
  await carrier.open(async () => {
    const waits = new Promise<void>((go) => told.push(go));
    // The command of the first is given while all of them wait; the others are told nothing.
    if (told.length === 3) {
      await carrier.line.reject(SID, 'busy');
      for (const go of told) go();
    }
    await waits;
  });
  const answers = await Promise.all(
    [SID, SID, other].map(async (CallSid) =>
      xml.parse(await (await signed('/voice', { ...FORM, CallSid })).text()),
    ),
  );
  t.same(
    answers.map(({ Response }) => Object.keys(Response)),
    [['Reject'], ['Reject'], ['Hangup']],
  );
});

t.test('nothing is told before it is opened, and after it is closed', async (t) => {
  const { carrier, signed, events } = await rig(t);
  await carrier.close();
  await carrier.close();
  t.equal((await signed('/status', FORM)).status, 503);
  t.same(events, []);
  await carrier.open(async (event) => void events.push(event));
  t.equal((await signed('/status', FORM)).status, 204);
  t.equal(events.length, 1);
});

t.test('nothing unsigned is looked at', async (t) => {
  const { post, events, inbound, asked } = await rig(t);
  const sign = (token: string, url: string, form: Record<string, string>) => ({
    'x-twilio-signature': webhooks.getExpectedTwilioSignature(token, url, form),
  });
  const path = `/calls/${CALL}/status`;
  const url = `${PUBLIC}/carriers/twilio${path}`;
  const cases: [string, Record<string, string>, Record<string, string>][] = [
    ['none', FORM, {}],
    ['empty', FORM, { 'x-twilio-signature': '' }],
    ['another token', FORM, sign('other', url, FORM)],
    ['another URL', FORM, sign(TOKEN, `${url}x`, FORM)],
    [
      'the Host header believed',
      FORM,
      {
        ...sign(TOKEN, `https://evil.example/carriers/twilio${path}`, FORM),
        'x-forwarded-host': 'evil.example',
      },
    ],
    ['a field changed', { ...FORM, CallStatus: 'completed' }, sign(TOKEN, url, FORM)],
    ['a field added', { ...FORM, CallDuration: '1' }, sign(TOKEN, url, FORM)],
  ];
  for (const [name, form, headers] of cases) {
    const response = await post(path, form, headers);
    t.equal(response.status, 403, name);
    t.match(await response.json(), { error: { code: 'forbidden', message: String } });
  }
  t.equal((await post('/nowhere', FORM)).status, 403, 'not even what exists');
  t.same([events, inbound, asked], [[], [], []]);
});

t.test('bodies that are none', async (t) => {
  const { post, signed, events } = await rig(t);
  const some = { 'x-twilio-signature': 'x' };
  const status = async (response: Promise<Response>) => {
    const { status, headers } = await response;
    t.match(headers.get('content-type'), /json/);
    return status;
  };
  t.equal(await status(post('/status', '{}', { ...some, 'content-type': 'application/json' })), 415);
  const shaped = { 'x-twilio-signature': `${'A'.repeat(27)}=` };
  t.equal(await status(post('/status', 'a', { ...shaped, 'content-encoding': 'gzip' })), 415);
  t.equal(await status(post('/status', `a=${'x'.repeat(32_768)}`, shaped)), 413);
  t.equal(await status(post('/status', 'a=&'.repeat(201), shaped)), 413);
  t.equal(await status(post('/status', 'a=b', some)), 403, 'no signature can look like that');
  t.equal(await status(signed('/status', { CallStatus: 'completed' })), 400, 'no CallSid');
  t.equal(await status(signed('/status', { CallSid: '../../..' })), 400, 'a CallSid that is none');
  t.equal(await status(signed('/calls/not-a-uuid/status', FORM)), 404);
  t.equal(await status(signed('/nowhere', FORM)), 404);
  t.same(events, []);
});

t.test('what cannot be taken makes the carrier ask again', async (t) => {
  const made = await rig(t);
  made.fault = new Error('the database is gone: secret detail');
  for (const path of [`/calls/${CALL}/status`, '/voice', `/calls/${CALL}/answer`]) {
    const response = await made.signed(path, FORM);
    t.equal(response.status, 500, path);
    const body = await response.text();
    t.notMatch(body, /secret detail/);
    t.same(JSON.parse(body), { error: { code: 'internal', message: 'internal error' } });
  }
});

t.test('fields come as they were: repeated, empty, with brackets', async (t) => {
  const { post, events } = await rig(t);
  const url = `${PUBLIC}/carriers/twilio/status`;
  const fields = { ...FORM, 'a[b]': '1', 'c[]': '2', empty: '', twice: ['x', 'a', 'x'], __proto: 'p' };
  const body = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(key, one);
  const response = await post('/status', body.toString(), {
    'x-twilio-signature': webhooks.getExpectedTwilioSignature(TOKEN, url, fields),
  });
  t.equal(response.status, 204);
  t.equal(events.length, 1);
});

t.test('signed with the overrides of the address, or without', async (t) => {
  const { post } = await rig(t);
  const url = `${PUBLIC}/carriers/twilio/status`;
  for (const [end, status] of [
    ['', 204],
    [HOOK_OVERRIDES, 204],
    ['#rc=1', 403],
  ] as const) {
    const signature = webhooks.getExpectedTwilioSignature(TOKEN, url + end, FORM);
    t.equal((await post('/status', FORM, { 'x-twilio-signature': signature })).status, status, `"${end}"`);
  }
});

t.test('the upgrade of a media socket', async (t) => {
  const url = 'wss://calls.example.com/media/1/token';
  const signature = webhooks.getExpectedTwilioSignature(TOKEN, url, {});
  const check = (header: string | undefined, at = url) =>
    mediaCarriers.twilio?.verifyUpgrade?.({
      headers: header === undefined ? {} : { 'x-twilio-signature': header },
      url: at,
      secret: TOKEN,
    });
  t.ok(check(signature));
  t.ok(check(signature, 'wss://calls.example.com:443/media/1/token'));
  t.notOk(check(undefined));
  t.notOk(check('x'));
  t.notOk(check(signature, 'https://calls.example.com/media/1/token'));
  t.notOk(check(signature, `${url}/`));
});

t.test('a hook of another account is refused, however rightly signed', async (t) => {
  const { signed, post, events, inbound } = await rig(t);
  for (const path of ['/voice', '/status', `/calls/${CALL}/status`, `/calls/${CALL}/stream`]) {
    for (const AccountSid of ['AC2', '', 'ac1']) {
      const response = await signed(path, { ...FORM, AccountSid });
      t.equal(response.status, 403, `${path} of "${AccountSid}"`);
      t.match(await response.json(), { error: { code: 'forbidden', message: /another account/ } });
    }
  }
  const { AccountSid, ...rest } = FORM;
  const url = `${PUBLIC}/carriers/twilio/status`;
  const twice = { ...rest, AccountSid: [AccountSid, 'AC2'] };
  for (const form of [rest, twice]) {
    const body = new URLSearchParams();
    for (const [key, value] of Object.entries(form)) for (const one of [value].flat()) body.append(key, one);
    const signature = webhooks.getExpectedTwilioSignature(TOKEN, url, form);
    t.equal((await post('/status', body.toString(), { 'x-twilio-signature': signature })).status, 403);
  }
  t.same([events, inbound], [[], []]);
});

t.test('who sends what is not signed is hardly listened to for a while; who signs always is', async (t) => {
  const { post, signed, events, strangers } = await rig(t);
  const stranger = { 'x-forwarded-for': '203.0.113.7' };
  const carrier = { 'x-forwarded-for': '198.51.100.1' };
  const forged = { ...stranger, 'x-twilio-signature': `${'A'.repeat(27)}=` };
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) {
    const response = await post('/status', FORM, i % 2 === 0 ? stranger : forged);
    statuses.push(response.status);
    if (response.status !== 429) continue;
    t.match(response.headers.get('retry-after'), /^(60|5\d)$/);
    t.match(await response.json(), { error: { code: 'rate_limited' } });
  }
  t.same(statuses, [...Array(21).fill(403), ...Array(4).fill(429)]);
  const told = (event: string) => strangers.filter((act) => act.event === event);
  t.equal(told('carrier.hook.refused').length, 25, 'each is told to who bounds the log');
  t.match(told('carrier.hook.deaf'), [{ by: { address: '203.0.113.7', shared: false } }]);
  t.equal((await signed('/status', FORM, carrier)).status, 204, 'the carrier, by the same proxy');
  const long = { ...FORM, SpeechResult: 'x'.repeat(5_000) };
  t.equal((await signed('/status', long, carrier)).status, 204);
  t.equal((await post('/status', long, forged)).status, 429);
  t.equal((await signed('/status', long, stranger)).status, 429, 'much is not read for it any more');
  t.equal(
    (await signed('/status', FORM, stranger)).status,
    204,
    'but what the carrier may send by the same way',
  );
  t.equal((await signed('/status', long, stranger)).status, 204, 'after which all is well');

  for (let i = 0; i < 20; i++) await post('/status', FORM, { ...forged, ...carrier });
  t.equal((await signed('/status', FORM, carrier)).status, 204);
  for (let i = 0; i < 20; i++) await post('/status', FORM, { ...forged, ...carrier });
  t.equal((await signed('/status', FORM, carrier)).status, 204, 'one that is signed wipes the slate');

  // By a proxy that tells nothing come both.
  for (let i = 0; i < 60; i++)
    t.equal((await post('/status', FORM, { 'x-twilio-signature': 'A'.repeat(28) })).status, 403);
  t.equal((await signed('/status', FORM)).status, 204);
  t.equal(events.length, 7);
});

t.test('a forged hook costs little more than an empty one, whatever is in it', async (t) => {
  const { post } = await rig(t);
  const signature = { 'x-twilio-signature': `${'A'.repeat(27)}=` };
  const cases: [string, string, number][] = [
    ['13,000 fields', Array.from({ length: 13_000 }, (_, i) => `${i.toString(36)}=`).join('&'), 413],
    [
      'as many fields as bytes allow',
      Array.from({ length: 7_000 }, (_, i) => `${i.toString(36)}=`).join('&'),
      413,
    ],
    [
      'as many bytes as fields allow',
      Array.from({ length: 200 }, (_, i) => `${i}=${'%41'.repeat(50)}`).join('&'),
      403,
    ],
  ];
  const timed = async (body: string, headers: Record<string, string>, status: number) => {
    const begun = performance.now();
    const response = await post('/status', body, headers);
    await response.arrayBuffer();
    if (response.status !== status) throw new Error(`${response.status}, not ${status}`);
    return performance.now() - begun;
  };
  const middle = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  for (const [name, body, status] of cases) {
    const forged: number[] = [];
    const empty: number[] = [];
    // Taken in turn: what else the machine does slows both.
    for (let i = 0; i < 100; i++) {
      empty.push(await timed('', {}, 403));
      forged.push(await timed(body, signature, status));
    }
    const ratio = middle(forged) / middle(empty);
    t.ok(ratio < 4, `${name}: ${ratio.toFixed(1)} times an empty request`);
    t.comment(`${name}, ${body.length} bytes: ${ratio.toFixed(1)} times an empty request`);
  }
});
