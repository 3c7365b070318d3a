// The live stream: what it says and in which order, to whom, and how it ends.
import t, { type Test } from 'tap';
import type { LiveCall } from '../../../control/dashboard/app/session-shapes.ts';
import { openLiveFeed } from '../../../control/dashboard/live-feed.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';
import { type Browser, openDashboardRig, PASSWORD } from './rig.ts';

interface Told {
  event: string;
  data: ReturnType<typeof JSON.parse>;
}

/** A live stream as EventSource reads it: `next` waits for the next event. */
async function follow(t: Test, url: string, browser: Browser) {
  const gone = new AbortController();
  t.teardown(() => gone.abort());
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${url}/dashboard/api/live`, { headers: { cookie }, signal: gone.signal });
  const waiting: Told[] = [];
  let wake = () => {};
  let over = false;
  let comments = 0;
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        if (block.startsWith(':')) comments++;
        const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event !== '') waiting.push({ event, data: JSON.parse(data) });
        wake();
      }
    }
  })()
    .catch(() => {})
    .finally(() => {
      over = true;
      wake();
    });
  return {
    response,
    reading,
    comments: () => comments,
    async next(): Promise<Told | null> {
      while (waiting.length === 0 && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return waiting.shift() ?? null;
    },
  };
}

/** A reader that takes the headers and never the body; `over` reads it after all, until it breaks off. */
async function openUnread(t: Test, url: string, browser: Browser) {
  const gone = new AbortController();
  t.teardown(() => gone.abort());
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { body } = await fetch(`${url}/dashboard/api/live`, { headers: { cookie }, signal: gone.signal });
  // Now, though it is read later: fetch ends a body that nobody has taken when its response is collected as garbage.
  const reader = body?.getReader();
  return {
    async over(): Promise<void> {
      for (;;) {
        const { done } = (await reader?.read()) ?? { done: true };
        if (done) return;
      }
    },
  };
}

const call = (orgId: string, fields: Partial<CallRecord> = {}) =>
  makeCall(orgId, { agent_id: null, status: 'queued', ...fields });

const item = (callId: string, id: string, startMs: number, text: string) => ({
  id,
  call_id: callId,
  role: 'agent' as const,
  text,
  heard_text: text,
  interrupted: false,
  started_at: '2026-03-01T12:00:00.000Z',
  start_ms: startMs,
  end_ms: null,
});

t.test('a follower gets a snapshot, then each change of its own organization, in order', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const agent = await rig.agent({ name: 'Front desk' });
  const { observer } = rig.feed;
  const first = call(rig.orgId, { agent_id: agent.id, direction: 'inbound', from_number: 'anonymous' });
  observer.changed?.(first);
  observer.changed?.(call(rig.other.orgId));
  await new Promise((settled) => setImmediate(settled));

  const live = await follow(t, rig.url, browser);
  t.equal(live.response.status, 200);
  t.equal(live.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.match(live.response.headers.get('cache-control'), /no-store/);
  const snapshot = await live.next();
  t.equal(snapshot?.event, 'snapshot');
  t.same(snapshot?.data.calls, [
    {
      id: first.id,
      status: 'queued',
      direction: 'inbound',
      from_number: 'anonymous',
      to_number: first.to_number,
      agent_id: agent.id,
      created_at: first.created_at,
      answered_at: null,
      hangup_cause: null,
      error_code: null,
      gaps: [],
      agent_name: 'Front desk',
      floor: null,
      last_latency_ms: null,
      words: [],
      source: 'phone',
    },
  ]);

  const gaps = [
    { why: 'stream_lost' as const, started_at: '2026-03-01T12:00:07.000Z', from_ms: 2_000, to_ms: null },
  ];
  const answered = {
    ...first,
    status: 'in_progress' as const,
    answered_at: '2026-03-01T12:00:05.000Z',
    gaps,
  };
  observer.changed?.(answered);
  observer.changed?.(call(rig.other.orgId));
  observer.floor?.(first.id, 'agent', 12.4);
  observer.words?.(first.id, [item(first.id, 'a', 0, 'Good'), item(first.id, 'b', 900, 'morning.')]);
  observer.words?.(first.id, [item(first.id, 'a', 0, 'Good, good')]);
  observer.floor?.(first.id, 'none', 1500);
  observer.turn?.({
    id: 't',
    call_id: first.id,
    turn_index: 1,
    kind: 'answer',
    speech_end_ms: 2000,
    decided_ms: 2300,
    requested_ms: 2310,
    first_model_audio_ms: 2600,
    first_sent_ms: 2605,
    first_heard_ms: 2700,
    barged_in: false,
    thrown_away: 0,
  });
  const sound = { id: 's', at_ms: 3200, onset_ms: 2900, held_ms: 2950, paused_ms: null, silenced_ms: null };
  observer.interruption?.({ ...sound, call_id: first.id, taken_back: true });
  const told = [];
  for (let i = 0; i < 8; i++) told.push(await live.next());
  t.same(
    told.map((one) => one?.event),
    ['call', 'floor', 'words', 'words', 'words', 'floor', 'turn', 'interruption'],
    'and nothing of the other organization',
  );
  t.same(told[1]?.data, { call_id: first.id, floor: 'agent', at_ms: 12 });
  t.same(
    [told[4]?.data.call_id, told[4]?.data.item.id, told[4]?.data.item.text],
    [first.id, 'a', 'Good, good'],
  );
  t.notHas(told[4]?.data.item, { call_id: first.id }, 'an item is as in the transcript');
  t.equal(told[5]?.data.floor, 'nobody');
  t.same([told[6]?.data.turn.index, told[6]?.data.turn.latency_ms], [1, 700]);
  t.same(told[7]?.data, { call_id: first.id, interruption: { ...sound, taken_back: true } });

  const second = await follow(t, rig.url, browser);
  const [now]: LiveCall[] = (await second.next())?.data.calls ?? [];
  t.same(
    [now?.status, now?.floor, now?.last_latency_ms, now?.words.map(({ text }) => text)],
    ['in_progress', 'nobody', 700, ['Good, good', 'morning.']],
    'who comes later sees the call as it stands',
  );

  observer.ended?.({ ...answered, status: 'completed', hangup_cause: 'agent_ended' });
  for (const one of [live, second]) {
    const end = await one.next();
    t.same(
      [end?.event, end?.data.call.id, end?.data.call.status, end?.data.call.hangup_cause],
      ['ended', first.id, 'completed', 'agent_ended'],
    );
  }
  observer.words?.(first.id, [item(first.id, 'c', 3000, 'Late.')]);
  t.same((await (await follow(t, rig.url, browser)).next())?.data, { calls: [] });
});

t.test('a stream ends with its session', async (t) => {
  const rig = await openDashboardRig(t);
  const [one, two] = [rig.browser(), rig.browser()];
  await one.setUp();
  await two.signIn();
  const [first, second] = [await follow(t, rig.url, one), await follow(t, rig.url, two)];
  await first.next();
  await second.next();
  await one.ask('POST', '/logout');
  t.equal(await first.next(), null);
  rig.feed.observer.changed?.(call(rig.orgId));
  t.equal((await second.next())?.event, 'call', 'the other one goes on');
  await two.ask('POST', '/password', { body: { current: PASSWORD, password: 'another long one' } });
  t.equal(await second.next(), null, 'a new password ends it');
  t.equal((await follow(t, rig.url, one)).response.status, 401);
});

t.test(
  'heartbeats come, keep a session alive that does nothing else, and notice one that is over',
  async (t) => {
    const rig = await openDashboardRig(t, { heartbeatMs: 10 });
    const browser = rig.browser();
    await browser.setUp();
    const live = await follow(t, rig.url, browser);
    await live.next();
    const beats = async () => {
      const from = live.comments();
      while (live.comments() < from + 3) await new Promise((later) => setTimeout(later, 5));
    };
    for (let hour = 0; hour < 3; hour++) {
      rig.advance(20 * 3_600_000);
      await beats();
    }
    t.equal((await browser.ask('GET', '/keys')).status, 200, 'sixty hours without a request');
    rig.advance(30 * 24 * 3_600_000);
    t.equal(await live.next(), null, 'thirty days are the end');
  },
);

t.test('a reader that takes nothing is cut off, and the others hear everything', async (t) => {
  const rig = await openDashboardRig(t, { maxWaitingBytes: 20_000 });
  const browser = rig.browser();
  await browser.setUp();
  const live = await follow(t, rig.url, browser);
  await live.next();
  const slow = await openUnread(t, rig.url, browser);
  const one = call(rig.orgId);
  rig.feed.observer.changed?.(one);
  await live.next();
  const long = 'word '.repeat(2_000);
  let heard = 0;
  // Far more than sockets hold of themselves.
  for (let i = 0; i < 2_000; i++) {
    rig.feed.observer.words?.(one.id, [item(one.id, `i${i}`, i, long)]);
    if ((await live.next())?.event === 'words') heard++;
  }
  t.equal(heard, 2_000);
  await t.rejects(slow.over(), 'its stream broke off');
});

t.test('a stream that ends while its reader takes nothing hears nothing more', async (t) => {
  const rig = await openDashboardRig(t, { maxWaitingBytes: 100 * 1024 * 1024 });
  const browser = rig.browser();
  await browser.setUp();
  const slow = await openUnread(t, rig.url, browser);
  const one = call(rig.orgId);
  rig.feed.observer.changed?.(one);
  const long = 'word '.repeat(20_000);
  // More than sockets hold of themselves, so that the end of the stream cannot be sent yet.
  const say = (from: number) => {
    for (let i = from; i < from + 200; i++)
      rig.feed.observer.words?.(one.id, [item(one.id, `i${i}`, i, long)]);
  };
  say(0);
  const thrown: unknown[] = [];
  const note = (error: unknown) => void thrown.push(error);
  process.on('uncaughtException', note);
  t.teardown(() => process.off('uncaughtException', note));
  await browser.ask('POST', '/logout');
  say(200);
  await new Promise((later) => setImmediate(later));
  t.same(thrown, [], 'what happens on calls meanwhile does no harm');
  await t.rejects(slow.over(), 'its stream broke off');
});

t.test('closing ends every stream and lets nobody in', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const live = await follow(t, rig.url, browser);
  await live.next();
  await rig.dashboard.close();
  t.equal(await live.next(), null);
  await rig.dashboard.close();
  t.equal((await follow(t, rig.url, browser)).response.status, 503);
});

t.test('an agent that cannot be read leaves a call without its name', async (t) => {
  const warned: unknown[] = [];
  const feed = openLiveFeed({
    store: { getAgent: async () => Promise.reject(new Error('the disk')) },
    log: { warn: (...said: unknown[]) => void warned.push(said) },
  });
  const one = call('o', { agent_id: 'a' });
  feed.observer.changed?.(one);
  await new Promise((settled) => setImmediate(settled));
  t.same([feed.calls('o')[0]?.agent_name, warned.length], [null, 1]);
});
