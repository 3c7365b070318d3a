// Bad input at every door, beside a live call that must not notice: REST, hooks, media sockets.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, until } from './rig.ts';

/** Twilio's signature, written here from its documentation: the URL and the sorted fields, HMAC-SHA1. */
function sign(token: string, url: string, fields: Record<string, string> = {}): string {
  const text = Object.keys(fields)
    .sort()
    .reduce((all, name) => all + name + fields[name], url);
  return createHmac('sha1', token).update(text).digest('base64');
}

t.test('doors', async (t) => {
  const rig = await openRig(t, { carrier: { defaultCallee: { ringMs: 200 } } });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const live = await rig.dial(agent.id, '+15550300001');
  await until('a live call', async () => (await rig.call(live.id)).status === 'in_progress');
  const carrierCall = async () =>
    (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find(
      (call) => call.to === '+15550300001',
    );
  const stream = await until('its stream', async () => (await carrierCall())?.streams[0]);
  const authToken = lab.carrierToken;

  t.test('REST: keys, bodies, types', async (t) => {
    const { url } = lab.daemon;
    for (const headers of [
      {},
      { authorization: 'Bearer sk_wrong' },
      { authorization: lab.apiKey },
      { cookie: `key=${lab.apiKey}` },
    ]) {
      const answer = await fetch(`${url}/v1/calls`, { headers: headers as Record<string, string> });
      t.equal(answer.status, 401);
      t.match(await answer.json(), { error: { code: 'unauthorized' } });
    }
    const auth = { authorization: `Bearer ${lab.apiKey}` };
    const post = (body: string, headers: Record<string, string>) =>
      fetch(`${url}/v1/calls`, { method: 'POST', body, headers: { ...auth, ...headers } });
    t.equal((await post('{', { 'content-type': 'application/json' })).status, 400);
    t.equal((await post('{}', { 'content-type': 'text/plain' })).status, 415);
    t.equal(
      (await post(`{"x":"${'x'.repeat(300_000)}"}`, { 'content-type': 'application/json' })).status,
      413,
    );
    const bad = await lab.api<{ error: Record<string, string> }>('POST', '/v1/calls', {
      agent_id: agent.id,
      to: '+15550300002',
      from_number: '+15550000000',
    });
    t.match(bad, {
      status: 400,
      body: { error: { code: 'from_number_not_attached', param: 'from_number' } },
    });
    const forbidden = await lab.api('POST', '/v1/calls', {
      agent_id: agent.id,
      to: '+15550300002',
      voice: 'marin',
    });
    t.match(forbidden, { status: 400, body: { error: { param: 'voice' } } });
    t.match(await lab.api('GET', `/v1/calls/${randomUUID()}`), { status: 404 });
  });

  t.test('a number that the carrier refuses: 502, and the call is kept as failed', async (t) => {
    await lab.ask('carrier', '/faults', {
      do: 'status',
      method: 'POST',
      path: 'Calls.json',
      status: 400,
      code: 21211,
    });
    const refused = await lab.api<{ error: Record<string, string> }>('POST', '/v1/calls', {
      agent_id: agent.id,
      to: '+15550300003',
    });
    t.match(refused, { status: 502, body: { error: { code: 'carrier_error' } } });
    const { body } = await lab.api<Record<string, unknown>[]>('GET', '/v1/calls?to_number=%2B15550300003');
    t.match(body, [
      { status: 'failed', error_code: '21211', error_message: String, reservation_status: 'released' },
    ]);
  });

  t.test('hooks: without the right signature nothing is said and nothing happens', async (t) => {
    const path = `/carriers/twilio/calls/${live.id}/status`;
    const url = `${lab.daemon.url}${path}`;
    const sid = (await carrierCall())?.sid ?? '';
    const fields = {
      AccountSid: lab.accountSid,
      CallSid: sid,
      CallStatus: 'completed',
      CallDuration: '1',
      Timestamp: new Date().toUTCString(),
      SequenceNumber: '9',
    };
    const post = (
      signature: string | null,
      body: string | URLSearchParams,
      type = 'application/x-www-form-urlencoded',
    ) =>
      fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': type, ...(signature === null ? {} : { 'x-twilio-signature': signature }) },
      });
    t.equal((await post(null, new URLSearchParams(fields))).status, 403);
    t.equal((await post('AAAA', new URLSearchParams(fields))).status, 403);
    t.equal((await post(sign('other-token', url, fields), new URLSearchParams(fields))).status, 403);
    t.equal(
      (await post(sign(authToken, `${lab.daemon.url}/elsewhere`, fields), new URLSearchParams(fields)))
        .status,
      403,
    );
    t.equal(
      (await post(sign(authToken, url, fields), new URLSearchParams({ ...fields, CallDuration: '2' })))
        .status,
      403,
    );
    t.ok((await post(sign(authToken, url), '{}', 'application/json')).status >= 400);
    t.ok((await post(sign(authToken, url), 'x='.repeat(50_000))).status >= 400);
    // Rightly signed, for a call that is not the one it names: it changes nothing.
    const other = { ...fields, CallSid: `CA${randomBytes(16).toString('hex')}` };
    t.ok((await post(sign(authToken, url, other), new URLSearchParams(other))).status < 500);
    const unknown = `${lab.daemon.url}/carriers/twilio/calls/${randomUUID()}/status`;
    const answer = await fetch(unknown, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'x-twilio-signature': sign(authToken, unknown, fields) },
    });
    t.ok(answer.status < 500);
    t.equal((await rig.call(live.id)).status, 'in_progress');
  });

  t.test(
    'media: wrong path, signature, token and order are refused; what comes as garbage disturbs nobody',
    async (t) => {
      const ws = lab.daemon.url.replace('http', 'ws');
      /** Opens a socket; answers the HTTP status of a refusal, or the socket. */
      const open = (path: string, signature: string | null) =>
        new Promise<number | WebSocket>((resolve) => {
          const socket = new WebSocket(
            `${ws}${path}`,
            signature === null ? {} : { headers: { 'x-twilio-signature': signature } },
          );
          socket.on('unexpected-response', (_request, response) => {
            response.destroy();
            resolve(response.statusCode ?? 0);
          });
          socket.on('open', () => resolve(socket));
          socket.on('error', () => resolve(-1));
        });
      const path = new URL(stream.url).pathname;
      t.equal(await open(path, null), 403);
      t.equal(await open(path, 'AAAA'), 403);
      t.equal(await open(path, sign(authToken, `${ws}/media/1/1/other`)), 403);
      const nobody = `/media/1/1/twilio/${randomUUID()}`;
      t.equal(await open(nobody, sign(authToken, `${ws}${nobody}`)), 404);
      t.equal(await open('/media/1/99/x', sign(authToken, `${ws}/media/1/99/x`)), 404);
      t.equal(await open('/elsewhere', null), 404);

      /** Sends messages on a rightly signed socket; answers the code it is closed with. */
      const closedWith = async (messages: (string | Buffer)[]) => {
        const socket = await open(path, sign(authToken, `${ws}${path}`));
        if (typeof socket === 'number') return socket;
        const closed = new Promise<number>((resolve) => socket.on('close', resolve));
        for (const message of messages) socket.send(message);
        return closed;
      };
      const start = (token: string) =>
        JSON.stringify({
          event: 'start',
          sequenceNumber: '1',
          streamSid: 'MZ1',
          start: {
            accountSid: 'AC',
            streamSid: 'MZ1',
            callSid: 'CA1',
            tracks: ['inbound'],
            mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
            customParameters: { token },
          },
        });
      t.equal(await closedWith([start('wrong')]), 1008);
      t.equal(await closedWith([start(stream.parameters.token ?? '')]), 1008, 'a token works once');
      t.equal(await closedWith(['{"event":"media","media":{"payload":"AAAA"}}']), 1008, 'media before start');
      t.equal(await closedWith(['not json']), 1008);
      t.equal(await closedWith([Buffer.from([1, 2, 3])]), 1008, 'binary where text is due');
      t.equal(await closedWith(['x'.repeat(70_000)]), 1009, 'too large');
      // Bytes that are no HTTP at all, and an upgrade that never ends.
      const port = Number(new URL(lab.daemon.url).port);
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(randomBytes(4_096)));
        socket.on('close', () => resolve());
        socket.on('error', () => {});
        socket.resume();
      });
      t.equal((await rig.call(live.id)).status, 'in_progress');
    },
  );

  t.test('afterwards the live call is as it was: its talk goes on and ends in order', async (t) => {
    // All this takes less time than a model needs to begin.
    await until(
      'the agent to be heard',
      async () => ((await carrierCall())?.streams[0]?.received.media ?? 0) > 0,
    );
    t.equal((await fetch(`${lab.daemon.url}/readyz`)).status, 200);
    const ended = await lab.api('POST', `/v1/calls/${live.id}/hangup`);
    t.match(ended, { status: 200, body: { status: 'completed', error_code: null } });
    const report = await until('its end', async () => {
      const found = await carrierCall();
      return found?.endedAtMs === null ? null : found;
    });
    t.equal(report.streams.length, 1, 'its stream was never touched');
    const lateMs = await rig.lateMs();
    t.same(
      report.streams[0]?.gaps.filter(({ ms }) => ms > lateMs),
      [],
      `no hole beyond what this machine was late itself, ${Math.round(lateMs)} ms`,
    );
    t.same(report.violations, []);
  });
});
