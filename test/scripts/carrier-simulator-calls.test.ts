// Calls at the simulated carrier: REST, TwiML, callbacks.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import twilio from 'twilio';
import type { SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import { startCarrierSimulator } from '../../scripts/carrier-simulator/simulator.ts';
import { connectTwiml, startApplication } from './carrier-simulator-application.ts';

const OWN = '+14155550100';
const ALL = ['initiated', 'ringing', 'answered', 'completed'];

async function bench(test: Test, options: SimulatorOptions = {}) {
  const carrier = await startCarrierSimulator({ numbers: [OWN], allowInsecure: true, ...options });
  const app = await startApplication(carrier.authToken);
  const client = twilio(carrier.accountSid, carrier.authToken);
  client.api.baseUrl = carrier.url;
  test.teardown(async () => {
    await carrier.close();
    await app.close();
  });
  const ended = (sid: string) =>
    carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
  const statusHooks = (sid: string) =>
    app.hooks
      .filter((hook) => hook.path === '/status' && hook.parameters.CallSid === sid)
      .sort((one, other) => Number(one.parameters.SequenceNumber) - Number(other.parameters.SequenceNumber));
  /** Calls a number and waits for its last callback. */
  const call = async (to: string, more: Partial<Parameters<typeof client.calls.create>[0]> = {}) => {
    const { sid } = await client.calls.create({
      to,
      from: OWN,
      ...(more.twiml ? {} : { url: `${app.url}/voice` }),
      statusCallback: `${app.url}/status`,
      statusCallbackEvent: ALL,
      ...more,
    });
    await app.hook(
      (hook) =>
        hook.path === '/status' &&
        hook.parameters.CallSid === sid &&
        hook.parameters.CallDuration !== undefined,
    );
    return { sid, report: carrier.call(sid)!, hooks: statusHooks(sid) };
  };
  return { carrier, app, client, ended, call, statusHooks };
}

t.test('each outcome has its statuses, codes and callbacks', async (t) => {
  const ringMs = 20;
  const { app, call } = await bench(t, {
    callees: {
      '+14155550001': { outcome: 'answer', ringMs },
      '+14155550002': { outcome: 'busy', ringMs },
      '+14155550003': { outcome: 'rejected', ringMs },
      '+14155550004': { outcome: 'no_answer' },
      '+14155550005': { outcome: 'invalid' },
      '+14155550006': { outcome: 'hangup_at_once', ringMs },
    },
  });
  app.on('/voice', () => '<Response><Pause length="1"/></Response>');
  const cases: [string, string[], string][] = [
    ['+14155550001', ['initiated', 'ringing', 'in-progress', 'completed'], '200'],
    ['+14155550002', ['initiated', 'ringing', 'busy'], '486'],
    ['+14155550003', ['initiated', 'ringing', 'busy'], '603'],
    ['+14155550004', ['initiated', 'ringing', 'no-answer'], '487'],
    ['+14155550005', ['initiated', 'failed'], '404'],
    ['+14155550006', ['initiated', 'ringing', 'in-progress', 'completed'], '200'],
  ];
  for (const [number, statuses, sip] of cases) {
    const { hooks } = await call(number, { timeout: 1 });
    t.same(
      hooks.map((hook) => hook.parameters.CallStatus),
      statuses,
      number,
    );
    t.same(
      hooks.map((hook) => hook.parameters.SequenceNumber),
      statuses.map((_, index) => String(index)),
    );
    t.equal(hooks.at(-1)!.parameters.SipResponseCode, sip);
  }
  t.equal(app.hooks.filter((hook) => !hook.signed).length, 0, 'every hook is signed');
});

t.test('a status callback carries identity, geography and the end', async (t) => {
  const { app, call, carrier } = await bench(t, { defaultCallee: { ringMs: 0 } });
  app.on('/voice', () => '<Response><Hangup/></Response>');
  const { sid, hooks } = await call('+12125550123');
  const first = hooks[0]!.parameters;
  t.match(first, {
    CallSid: sid,
    AccountSid: carrier.accountSid,
    From: OWN,
    Caller: OWN,
    To: '+12125550123',
    Called: '+12125550123',
    Direction: 'outbound-api',
    ApiVersion: '2010-04-01',
    CallbackSource: 'call-progress-events',
    FromCity: 'SAN FRANCISCO',
    FromState: 'CA',
    ToCity: 'NEW YORK',
    ToCountry: 'US',
    Timestamp: /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000$/,
  });
  t.match(hooks.at(-1)!.parameters, { CallDuration: /^\d+$/, Duration: '1', CallStatus: 'completed' });
});

t.test('only the events that were asked for are sent; completed by default', async (t) => {
  const { app, client, statusHooks, ended } = await bench(t, { defaultCallee: { ringMs: 0 } });
  const { sid } = await client.calls.create({
    to: '+14155550101',
    from: OWN,
    twiml: '<Response/>',
    statusCallback: `${app.url}/status`,
  });
  await ended(sid);
  await app.hook((hook) => hook.parameters.CallSid === sid);
  t.same(
    statusHooks(sid).map((hook) => [hook.parameters.CallStatus, hook.parameters.SequenceNumber]),
    [['completed', '0']],
  );
});

t.test('a ringing call is canceled over REST', async (t) => {
  const { app, client, carrier } = await bench(t, { defaultCallee: { ringMs: 60_000 } });
  const { sid } = await client.calls.create({
    to: '+14155550101',
    from: OWN,
    twiml: '<Response/>',
    statusCallback: `${app.url}/status`,
  });
  await carrier.waitFor((event) => event.callSid === sid && event.status === 'ringing');
  await client.calls(sid).update({ status: 'canceled' });
  const last = await app.hook((hook) => hook.path === '/status');
  t.match(last.parameters, { CallStatus: 'canceled', SipResponseCode: '487', CallDuration: '0' });
});

t.test('documents: verbs run in order, redirects resolve, the end hangs up', async (t) => {
  const { app, call } = await bench(t, { defaultCallee: { ringMs: 0 } });
  app.on(
    '/voice',
    () => '<Response><Say>Hello</Say><Redirect>/second?x=1</Redirect><Say>never</Say></Response>',
  );
  app.on('/second', () => '<Response><Play digits="12"/><Say>Bye</Say></Response>');
  const { report } = await call('+14155550101');
  t.same(report.spoken, ['Hello', 'Bye']);
  t.equal(report.digitsHeard, '12');
  t.match(report, { status: 'completed', endedBy: 'document', endedWhy: 'end of document' });
  t.ok(report.conversation!.firstAgentAudioMs !== null, 'what is said is heard');
});

t.test('a failing Url falls back, once, with the reason', async (t) => {
  const { app, call } = await bench(t, { defaultCallee: { ringMs: 0 } });
  const answers = [
    { status: 500, body: 'oops' },
    { status: 200, type: 'application/json', body: '{}' },
    { status: 200, body: '<Response><Say>unclosed</Response>' },
    { status: 200, body: '<NotTwiml/>' },
  ];
  const codes = ['11200', '12300', '12100', '12100'];
  app.on('/fallback', () => '<Response><Say>sorry</Say></Response>');
  for (const [index, answer] of answers.entries()) {
    app.on('/voice', () => answer);
    const { sid, report } = await call('+14155550101', { fallbackUrl: `${app.url}/fallback` });
    const fallback = app.hooks.find((hook) => hook.path === '/fallback' && hook.parameters.CallSid === sid);
    t.match(fallback?.parameters, { ErrorCode: codes[index]!, ErrorUrl: `${app.url}/voice` });
    t.same(report.spoken, ['sorry']);
  }
  app.on('/voice', () => answers[0]!);
  const { report } = await call('+14155550101');
  t.match(report.errors, [{ code: 11200 }]);
  t.equal(report.status, 'completed');
});

t.test('an unreachable hook is tried twice, a slow one until the deadline', async (t) => {
  const { call } = await bench(t, { defaultCallee: { ringMs: 0 }, hookDeadlineMs: 200 });
  const { report } = await call('+14155550101', { url: 'http://127.0.0.1:1/voice' });
  const [first] = report.hooks.filter((hook) => hook.kind === 'voice');
  t.match(first, { attempts: 2, status: null, error: /ECONNREFUSED/ });
  t.match(report.errors, [{ code: 11205 }]);

  const mute = createServer(() => {}).listen(0, '127.0.0.1');
  t.teardown(() => mute.close());
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const slow = await call('+14155550101', { url: `http://127.0.0.1:${port}/voice` });
  t.match(slow.report.errors, [{ code: 11200 }]);
  t.equal(slow.report.hooks.filter((hook) => hook.kind === 'voice')[0]!.attempts, 1);
});

t.test('the fragment of a hook’s URL overrides how it is tried, and is not sent', async (t) => {
  const { app, call } = await bench(t, { defaultCallee: { ringMs: 0 } });
  const voiceOf = (report: Awaited<ReturnType<typeof call>>['report']) =>
    report.hooks.find((hook) => hook.kind === 'voice')!;
  let asked = 0;
  app.on('/voice', () => (++asked < 3 ? { status: 503 } : '<Response><Hangup/></Response>'));
  const answered = await call('+14155550101', { url: `${app.url}/voice#rc=5&rp=5xx&tt=15000` });
  t.match(voiceOf(answered.report), { attempts: 3, status: 200 }, 'a 503 is tried again');
  t.ok(voiceOf(answered.report).tookMs! >= 740, 'after 250 ms, then 500 ms');
  t.match(answered.report.errors, []);
  const asks = app.hooks.filter((hook) => hook.path === '/voice');
  t.ok(
    asks.every(({ signed, parameters }) => signed && parameters.rc === undefined),
    'signed without it',
  );

  asked = 0;
  const plain = await call('+14155550101', { url: `${app.url}/voice#rc=5` });
  t.match(voiceOf(plain.report), { attempts: 1, status: 503 }, 'by default only a connection is tried again');

  asked = 1;
  const wrong = await call('+14155550101', { url: `${app.url}/voice#rc=5&rp=always` });
  t.match(wrong.report.errors, [{ code: 11243 }, { code: 11200 }]);
  t.match(voiceOf(wrong.report), { attempts: 1, status: 503 });

  const gone = 'http://127.0.0.1:1/voice#rc=5&rp=all&tt=600';
  const late = await call('+14155550101', { url: gone });
  t.match(voiceOf(late.report), { attempts: 2, status: null });
  t.match(late.report.errors, [{ code: 11203 }], 'the total was over');
});

t.test('an application that was gone is asked again, until it is back', async (t) => {
  const { carrier, call } = await bench(t, { defaultCallee: { ringMs: 0 } });
  const held = createServer(() => {}).listen(0, '127.0.0.1');
  await once(held, 'listening');
  const { port } = held.address() as AddressInfo;
  await new Promise((closed) => held.close(closed));
  const calling = call('+14155550101', { url: `http://127.0.0.1:${port}/voice#rc=5&rp=all` });
  await carrier.waitFor((event) => event.type === 'call.status' && event.status === 'in-progress');
  const back = createHttpServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/xml' }).end('<Response><Hangup/></Response>');
  });
  await new Promise((listening) => setTimeout(listening, 400));
  back.listen(port, '127.0.0.1');
  t.teardown(() => back.close());
  const { report } = await calling;
  t.equal(report.endedWhy, 'Hangup');
  t.ok(report.hooks.find((hook) => hook.kind === 'voice')!.attempts > 1);
});

t.test('an inbound call asks the number’s VoiceUrl, and is picked up by the first verb', async (t) => {
  const { app, carrier, client } = await bench(t, { network: { completedDelayMs: 0 } });
  const [number] = await client.incomingPhoneNumbers.list();
  await client
    .incomingPhoneNumbers(number!.sid)
    .update({ voiceUrl: `${app.url}/inbound`, statusCallback: `${app.url}/ended` });
  app.on('/inbound', () => connectTwiml(app));
  const { sid } = await carrier.placeInboundCall({
    to: OWN,
    from: '+12125550177',
  });
  const hook = await app.hook((one) => one.path === '/inbound');
  t.match(hook.parameters, {
    CallSid: sid,
    CallStatus: 'ringing',
    Direction: 'inbound',
    From: '+12125550177',
    StirVerstat: /^TN-/,
    CallToken: /./,
  });
  t.ok(hook.signed);
  const session = await app.session();
  await session.frames(2);
  t.equal((await client.calls(sid).fetch()).status, 'in-progress');
  await client.calls(sid).update({ status: 'completed' });
  t.equal(await session.closed, 1000);
  const ended = await app.hook((one) => one.path === '/ended');
  t.match(ended.parameters, { CallStatus: 'completed', Direction: 'inbound', SequenceNumber: '0' });
});

t.test('an inbound call is rejected without being picked up', async (t) => {
  const { app, carrier, ended } = await bench(t, {
    numbers: [{ phoneNumber: OWN, voiceUrl: 'http://127.0.0.1:1/' }],
  });
  const client = twilio(carrier.accountSid, carrier.authToken);
  client.api.baseUrl = carrier.url;
  const [number] = await client.incomingPhoneNumbers.list();
  await client.incomingPhoneNumbers(number!.sid).update({ voiceUrl: `${app.url}/inbound` });
  for (const [reason, status] of [
    ['busy', 'busy'],
    ['rejected', 'no-answer'],
  ] as const) {
    app.on('/inbound', () => `<Response><Reject reason="${reason}"/></Response>`);
    const { sid } = await carrier.placeInboundCall({ to: OWN, from: 'anonymous' });
    await ended(sid);
    t.match(carrier.call(sid), { status, answeredAtMs: null, durationSeconds: 0, from: 'anonymous' });
  }
  await t.rejects(carrier.placeInboundCall({ to: '+14155559999', from: OWN }), /not one of the account/);
});

t.test('Dial: a second leg is called, whispered to, bridged and reported', async (t) => {
  const { app, carrier, call } = await bench(t, {
    callees: {
      '+14155550001': { ringMs: 0, steps: [{ do: 'say', when: 'at_once', tone: { hz: 500, ms: 3000 } }] },
      '+14155550002': { ringMs: 100, steps: [{ do: 'wait', ms: 1200 }, { do: 'hang_up' }] },
      '+14155550003': { outcome: 'busy', ringMs: 0 },
    },
  });
  app.on(
    '/voice',
    () =>
      '<Response><Dial answerOnBridge="true" callerId="+14155550100" action="/dialled">' +
      '<Number url="/whisper" statusCallback="/leg" statusCallbackEvent="answered completed">+14155550002</Number></Dial></Response>',
  );
  app.on('/whisper', () => '<Response><Say>Hi</Say></Response>');
  app.on('/dialled', () => '<Response><Say>Welcome back</Say></Response>');
  const { sid, report } = await call('+14155550001');
  const child = carrier.calls().find((one) => one.parentSid === sid)!;
  t.match(child, {
    direction: 'outbound-dial',
    to: '+14155550002',
    from: OWN,
    status: 'completed',
    spoken: ['Hi'],
  });
  t.ok(child.conversation!.agentSpurts.length > 0, 'the second leg hears the whisper and the first leg');
  const action = app.hooks.find((hook) => hook.path === '/dialled')!;
  t.match(action.parameters, { DialCallStatus: 'completed', DialCallSid: child.sid, DialBridged: 'true' });
  t.same(report.spoken, ['Welcome back']);
  const legHook = await app.hook(
    (hook) => hook.path === '/leg' && hook.parameters.CallStatus === 'completed',
  );
  t.match(legHook.parameters, { ParentCallSid: sid, CallSid: child.sid });

  app.on('/voice', () => '<Response><Dial action="/dialled">+14155550003</Dial></Response>');
  await call('+14155550001');
  const busy = app.hooks.filter((hook) => hook.path === '/dialled').at(-1)!;
  t.match(busy.parameters, { DialCallStatus: 'busy', DialBridged: 'false' });
});

t.test('machine detection, asynchronous: the verdict comes once, and on the resource', async (t) => {
  const { app, client, carrier } = await bench(t, {
    defaultCallee: { ringMs: 0, amd: { verdict: 'machine_end_beep', afterMs: 200 } },
  });
  app.on('/voice', () => connectTwiml(app));
  const { sid } = await client.calls.create({
    to: '+14155550101',
    from: OWN,
    url: `${app.url}/voice`,
    machineDetection: 'DetectMessageEnd',
    asyncAmd: 'true',
    asyncAmdStatusCallback: `${app.url}/amd`,
    statusCallback: `${app.url}/status`,
  });
  const hook = await app.hook((one) => one.path === '/amd');
  t.same(hook.parameters, {
    CallSid: sid,
    AccountSid: carrier.accountSid,
    AnsweredBy: 'machine_end_beep',
    MachineDetectionDuration: '200',
  });
  t.ok(hook.signed);
  const voice = app.hooks.find((one) => one.path === '/voice')!;
  t.notOk('AnsweredBy' in voice.parameters, 'the document did not wait for it');
  t.equal((await client.calls(sid).update({ status: 'completed' })).answeredBy, 'machine_end_beep');
  const ended = await app.hook((one) => one.path === '/status');
  t.equal(ended.parameters.AnsweredBy, 'machine_end_beep');
  t.equal(app.hooks.filter((one) => one.path === '/amd').length, 1);
});

t.test(
  'machine detection, synchronous: the document waits for the verdict; digits switch it off',
  async (t) => {
    const { app, call } = await bench(t, {
      defaultCallee: { ringMs: 0, amd: { verdict: 'human', afterMs: 300 } },
    });
    app.on('/voice', () => '<Response><Hangup/></Response>');
    const { sid } = await call('+14155550101', { machineDetection: 'Enable' });
    const voice = app.hooks.find((hook) => hook.path === '/voice' && hook.parameters.CallSid === sid)!;
    t.match(voice.parameters, {
      AnsweredBy: 'human',
      MachineDetectionDuration: '300',
      CallStatus: 'in-progress',
    });

    const digits = await call('+14155550101', { machineDetection: 'Enable', sendDigits: 'w1' });
    t.equal(digits.report.amd, null);
    t.equal(digits.report.digitsHeard, 'w1');
  },
);

t.test('callbacks can be lost, late and doubled', async (t) => {
  const { app, carrier, call } = await bench(t, { defaultCallee: { ringMs: 0 } });
  carrier.addFault({ do: 'hook_drop', path: '/status' });
  carrier.addFault({ do: 'hook_duplicate', path: '/voice' });
  app.on('/voice', () => '<Response><Pause length="1"/></Response>');
  const { report, hooks } = await call('+14155550101');
  t.same(
    hooks.map((hook) => hook.parameters.SequenceNumber),
    ['1', '2', '3'],
    'the first was never sent',
  );
  t.equal(app.hooks.filter((hook) => hook.path === '/voice').length, 2);
  t.match(
    report.hooks.find((hook) => hook.error),
    { error: /injected/ },
  );
});

t.test('a new document over REST does not wait for one that is still being fetched', async (t) => {
  const { carrier, client, ended } = await bench(t, { defaultCallee: { ringMs: 0 } });
  const mute = createServer(() => {}).listen(0, '127.0.0.1');
  t.teardown(() => mute.close());
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const { sid } = await client.calls.create({
    to: '+14155550101',
    from: OWN,
    url: `http://127.0.0.1:${port}/`,
  });
  await carrier.waitFor((event) => event.callSid === sid && event.status === 'in-progress');
  await client.calls(sid).update({ twiml: '<Response><Say>Now</Say></Response>' });
  await ended(sid);
  const call = carrier.call(sid)!;
  t.same(call.spoken, ['Now']);
  t.match(call.hooks, [{ kind: 'voice', status: null, tookMs: null }], 'the first is still unanswered');
});

t.test('closing the simulator ends what is live', async (t) => {
  const { app, carrier, client } = await bench(t, { defaultCallee: { ringMs: 0 } });
  app.on('/voice', () => connectTwiml(app));
  const { sid } = await client.calls.create({ to: '+14155550101', from: OWN, url: `${app.url}/voice` });
  const session = await app.session();
  await session.frames(1);
  await Promise.all([carrier.close(), carrier.close()]);
  await session.closed;
  t.equal(carrier.call(sid)!.status, 'completed');
});
