// Strangers that take connections and give nothing, thousands of every kind, beside live calls, the carrier's hooks and an
// operator who asks: nobody of these may notice, and the strangers do not stay.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { freePort } from '../../scripts/free-port.ts';
import { openRig, type Rig, until } from './rig.ts';

t.setTimeout(900_000);

/** Of each kind; fewer where this process may not open as many files. */
const STRANGERS = (() => {
  const files = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  return Math.min(2_200, Math.floor((files - 500) / 8));
})();
/** A good request is answered within this, beside so many strangers; on a machine that does nothing else, far below. */
const PATIENCE_MS = 15_000;

const PROMISED_MS = 200;
const FORGED = 1_500;
/** Files that come and go in a daemon by itself. */
const OWN_FILES = 30;

type Kind = (socket: Socket) => void;
const HEAD = 'Host: calls.example.com\r\nUser-Agent: stranger\r\n';
const UPGRADE = `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`;
const drip = (socket: Socket, text: string) => {
  const timer = setInterval(() => socket.write(text), 1_000);
  socket.once('close', () => clearInterval(timer));
};

/** None of them reads, and none of them closes its side. */
const KINDS: Record<string, Kind> = {
  silent: () => {},
  'slow headers': (socket) => {
    socket.write(`GET /healthz HTTP/1.1\r\n${HEAD}`);
    drip(socket, 'X-A: b\r\n');
  },
  'slow bodies': (socket) => {
    socket.write(
      `POST /carriers/twilio/voice HTTP/1.1\r\n${HEAD}X-Twilio-Signature: ${'A'.repeat(27)}=\r\n` +
        'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\nA=',
    );
    drip(socket, 'b');
  },
  'answers that nobody reads': (socket) => {
    socket.write(`GET /v1/openapi.json HTTP/1.1\r\n${HEAD}\r\n`);
  },
  'requests sent ahead of their answers': (socket) => {
    socket.write(`GET /docs HTTP/1.1\r\n${HEAD}\r\n`.repeat(20));
  },
  'upgrades that are refused': (socket) => {
    socket.write(`GET /media/1/1/twilio/${randomUUID()} HTTP/1.1\r\n${UPGRADE}\r\n`);
  },
  'upgrades without an end': (socket) => {
    socket.write(`GET /media/1/1/twilio/${randomUUID()} HTTP/1.1\r\n${UPGRADE}`);
  },
};

/** Opens that many, and waits until each is connected or refused. @returns what ends them from this side */
async function openHostile(url: string, kind: Kind, localAddress: string): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  for (let begun = 0; begun < STRANGERS; ) {
    const some = Array.from({ length: Math.min(100, STRANGERS - begun) }, async () => {
      const socket = connect({ host: hostname, port: Number(port), localAddress, allowHalfOpen: true });
      socket.pause();
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      await new Promise<void>((settled) => {
        socket.once('error', () => {
          socket.destroy();
          settled();
        });
        socket.once('connect', () => {
          kind(socket);
          settled();
        });
      });
    });
    begun += some.length;
    await Promise.all(some);
  }
  return () => {
    for (const socket of open) socket.destroy();
  };
}

/** A request on a connection of its own; its status and how long it took. */
function ask(
  url: string,
  o: { method?: string; headers?: Record<string, string>; body?: string; localAddress?: string } = {},
): Promise<{ status: number; ms: number }> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      {
        method: o.method ?? 'GET',
        agent: false,
        timeout: PATIENCE_MS,
        headers: o.headers ?? {},
        ...(o.localAddress === undefined ? {} : { localAddress: o.localAddress }),
      },
      (response) => {
        response.resume();
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, ms: performance.now() - begun }),
        );
      },
    );
    asking.once('timeout', () => asking.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
    asking.once('error', reject);
    asking.end(o.body);
  });
}

/** A hook of the carrier for the call, rightly signed. */
function hook(rig: Rig, callId: string, sid: string, accountSid: string) {
  const url = `${rig.lab.daemon.url}/carriers/twilio/calls/${callId}/status`;
  const fields: Record<string, string> = {
    AccountSid: accountSid,
    CallSid: sid,
    CallStatus: 'in-progress',
    SequenceNumber: '2',
  };
  const text = Object.keys(fields)
    .sort()
    .reduce((all, name) => all + name + fields[name], url);
  return ask(url, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', rig.lab.carrierToken).update(text).digest('base64'),
    },
  });
}

/** Hooks as large as somebody likes them, ten at a time. @returns how often each status was answered */
async function forgeHooks(url: string, localAddress: string): Promise<{ status: number; times: number }[]> {
  const body = Array.from({ length: 13_000 }, (_, i) => `${i.toString(36)}=`).join('&');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': `${'A'.repeat(27)}=`,
  };
  const statuses = new Map<number, number>();
  let left = FORGED;
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      while (left-- > 0) {
        const { status } = await ask(`${url}/carriers/twilio/voice`, {
          method: 'POST',
          body,
          headers,
          localAddress,
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  return [...statuses].map(([status, times]) => ({ status, times }));
}

const middle = (times: readonly number[]) =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Live calls that talk on and on, and what the carrier says of them. */
async function liveCalls(rig: Rig, count: number) {
  const brief = JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios/brief.json'), 'utf8'));
  await rig.lab.ask('model', '/scenario', {
    ...brief,
    hears: '../hears.json',
    rules: [
      {
        on: 'greeting',
        say: 'Our office is open from nine in the morning to five in the afternoon. '.repeat(60),
      },
      { on: 'any', say: 'All right.' },
    ],
  });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const numbers = Array.from({ length: count }, (_, i) => `+1555031${String(i).padStart(4, '0')}`);
  const calls = await Promise.all(numbers.map((to) => rig.dial(agent.id, to)));
  const reportOf = async (to: string) =>
    (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find((one) => one.to === to);
  const reports = async () => {
    const all = (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
    return numbers.flatMap((to) => all.find((one) => one.to === to) ?? []);
  };
  await until('the agents to speak', async () =>
    (await reports()).every((one) => (one.streams[0]?.received.media ?? 0) > 50),
  );
  /** One more call, until its agent speaks; then it is hung up. */
  async function dial(to: string): Promise<void> {
    const call = await rig.dial(agent.id, to);
    await until(
      'the agent to speak',
      async () => ((await reportOf(to))?.streams[0]?.received.media ?? 0) > 50,
    );
    await rig.lab.api('POST', `/v1/calls/${call.id}/hangup`);
    await rig.ended(call.id);
  }
  return { calls, reports, dial };
}

/**
 * @param share connections that the strangers may have had at once, of those that are no call's
 * @param o `mediaPort`: of the media thread, when they come there
 */
async function underAttack(
  t: Test,
  localAddress: string,
  share: number,
  o: { mediaThreads: number; mediaPort?: number },
): Promise<void> {
  const { mediaPort } = o;
  const rig = await openRig(t, {
    carrier: { defaultCallee: { ringMs: 200, steps: [], amd: { verdict: 'human', afterMs: 1_000 } } },
    env: {
      RATE_LIMIT_PER_SECOND: '60',
      RATE_LIMIT_BURST: '120',
      MEDIA_THREADS: String(o.mediaThreads),
      ...(mediaPort === undefined ? {} : { MEDIA_PORT: String(mediaPort) }),
    },
  });
  const { url } = rig.lab.daemon;
  const target = mediaPort === undefined ? url : `http://127.0.0.1:${mediaPort}`;
  const { calls, reports, dial } = await liveCalls(rig, 3);
  const [first] = await reports();
  const good = async () => {
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const health = await ask(`${url}/healthz`);
      const told = await hook(
        rig,
        calls[0]?.id ?? '',
        first?.sid ?? '',
        first?.hooks[0]?.parameters.AccountSid ?? '',
      );
      if (health.status !== 200 || told.status !== 204)
        throw new Error(`/healthz ${health.status}, hook ${told.status}`);
      times.push(health.ms, told.ms);
    }
    return times;
  };
  /** As the daemon counts them: a client that looks away notices nothing of its end. */
  const files = async () =>
    Number(/^process_open_fds (\d+)$/m.exec((await rig.lab.api<string>('GET', '/metrics')).body)?.[1]);
  const filesBefore = await files();
  const quiet = await good();
  t.comment(`before: ${middle(quiet).toFixed(1)} ms, at most ${Math.max(...quiet).toFixed(1)} ms`);

  const strangers: (() => void)[] = [];
  t.teardown(() => {
    for (const end of strangers) end();
  });
  for (const [name, kind] of Object.entries(KINDS)) {
    strangers.push(await openHostile(target, kind, localAddress));
    const times = await good();
    // The one that waited longest may have waited for this machine's other work; half of them have not.
    t.ok(times.every((ms) => ms < PATIENCE_MS) && middle(times) < PROMISED_MS);
    const held = (await files()) - filesBefore;
    t.ok(held <= share + OWN_FILES, `${held} of them are held`);
    t.comment(
      `${STRANGERS} of ${name} from ${localAddress}: ${middle(times).toFixed(1)} ms, ` +
        `p95 ${[...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)]?.toFixed(1)}, at most ${Math.max(...times).toFixed(1)} ms`,
    );
  }
  await dial('+15550319999');
  t.pass('a call that begins meanwhile is heard');
  const answers = await forgeHooks(url, localAddress);
  t.equal(
    answers.reduce((sum, { times }) => sum + times, 0),
    FORGED,
  );
  t.ok(answers.every(({ status }) => status === 413 || status === 429));
  t.comment(
    `${FORGED} forged hooks: ${answers.map(({ status, times }) => `${times} x ${status}`).join(', ')}`,
  );
  const last = performance.now();
  await until(
    'all strangers to be gone',
    async () => (await files()) <= filesBefore + OWN_FILES,
    // 45 s, and what a busy machine adds.
    60_000,
  );
  t.comment(`all gone after ${((performance.now() - last) / 1000).toFixed(0)} s`);
  const before = (await reports()).map((one) => one.streams[0]?.received.media ?? 0);
  await until('the agents to speak on', async () =>
    (await reports()).every((one, i) => (one.streams[0]?.received.media ?? 0) > (before[i] ?? 0)),
  );

  for (const call of calls) {
    t.match(await rig.lab.api('POST', `/v1/calls/${call.id}/hangup`), {
      status: 200,
      body: { status: 'completed', error_code: null },
    });
    await rig.ended(call.id);
  }
  const released = await until('the last word on each call', () => {
    const lines = rig.lab.daemon.lines
      .filter((line) => line.includes('"media.released"'))
      .map((line) => JSON.parse(line) as Record<string, number> & { call_id: string });
    return lines.length === calls.length + 1 && new Map(lines.map((line) => [line.call_id, line]));
  });
  for (const [index, report] of (await reports()).entries()) {
    const stats = released.get(calls[index]?.id ?? '');
    t.match(stats, { filledMs: 0, duplicateFrames: 0, lateFrames: 0, malformedMessages: 0 });
    t.equal(report.streams.length, 1, 'its stream was never touched');
    t.same(report.violations, []);
    const [stream] = report.streams;
    // The last frames may be on their way when our side hangs up.
    const missing = (stream?.sent.media ?? 0) - (stats?.framesIn ?? 0);
    t.ok(missing >= 0 && missing <= 25, `${missing} of ${stream?.sent.media} frames in flight at the end`);
    // Every frame that was kept waiting for longer than what lies at the carrier, an eighth of a second, is a hole. A busy
    // machine makes some, in the carrier too; an attack that is felt makes seconds of them.
    const holesMs = (stream?.gaps ?? []).reduce((sum, { ms }) => sum + ms, 0);
    const spokenMs = (stream?.playedBytes ?? 0) / 8;
    t.ok(holesMs < spokenMs / 20, `${holesMs} ms of holes in ${Math.round(spokenMs)} ms that were heard`);
    t.comment(`${stream?.gaps.length} holes, ${holesMs} ms, in ${Math.round(spokenMs)} ms heard`);
  }
}

t.test('from one address', (t) => underAttack(t, '127.0.0.2', 500, { mediaThreads: 2 }));
t.test('from one address, where the media thread has the public port', (t) =>
  underAttack(t, '127.0.0.2', 500, { mediaThreads: 1 }),
);
t.test('from the same address as everybody, as behind a proxy that tells nothing', (t) =>
  underAttack(t, '127.0.0.1', 2_000, { mediaThreads: 2 }),
);
t.test('at a media thread, as by a proxy that brings its sockets there', async (t) =>
  underAttack(t, '127.0.0.1', 500, { mediaThreads: 1, mediaPort: await freePort() }),
);
