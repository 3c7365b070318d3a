// The live stream of the real daemon: the printed link opens the dashboard, and a simulated call is seen there from its
// first ring to its end, words and floor and latency in between.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import t from 'tap';
import { openRig } from './rig.ts';

interface Told {
  event: string;
  data: ReturnType<typeof JSON.parse>;
}

t.test('a call is seen live, from its first status to its end', async (t) => {
  const rig = await openRig(t);
  const base = rig.lab.daemon.url;
  const page = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  // Beside the running daemon, as an operator does who has no password.
  const printed = execFileSync(process.execPath, [resolve('main.js'), 'reset-password'], {
    env: { DATA_DIR: join(rig.folder, 'data') },
    encoding: 'utf8',
  });
  const [, link] = /\/setup#(\S+)/.exec(printed) ?? [];
  const setUp = await fetch(`${base}/dashboard/api/setup`, {
    method: 'POST',
    headers: page,
    body: JSON.stringify({ token: link, password: 'a quiet line of bluebirds' }),
  });
  t.equal(setUp.status, 200);
  const cookie = setUp.headers.getSetCookie()[0]?.split(';')[0] ?? '';

  const told: Told[] = [];
  const gone = new AbortController();
  t.teardown(() => gone.abort());
  const live = await fetch(`${base}/dashboard/api/live`, { headers: { cookie }, signal: gone.signal });
  t.equal(live.status, 200);
  const following = (async () => {
    let text = '';
    for await (const chunk of live.body ?? []) {
      text += new TextDecoder().decode(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event !== undefined) told.push({ event, data: JSON.parse(data ?? 'null') });
        if (event === 'ended') return;
      }
    }
  })();

  const agent = await rig.agent({
    name: 'Front desk',
    instructions: 'TEST-BRIEF Talk shortly.',
    type: 'outbound',
  });
  const { id } = await rig.dial(agent.id, '+14155550123');
  await following;
  gone.abort();
  const call = await rig.ended(id);

  const of = (event: string) => told.filter((one) => one.event === event).map(({ data }) => data);
  t.same(of('snapshot'), [{ calls: [] }]);
  const statuses = [...new Set(of('call').map((one) => one.status))];
  t.same(
    statuses,
    ['queued', 'initiated', 'ringing', 'in_progress'].filter((one) => statuses.includes(one)),
  );
  t.ok(statuses.includes('queued') && statuses.includes('in_progress'), statuses.join());
  t.equal(of('call').at(-1)?.agent_name, 'Front desk');
  t.ok(
    of('floor').some(({ floor }) => floor === 'agent'),
    'the agent had the floor',
  );
  const transcript = await rig.transcript(id);
  const words = new Map(of('words').map(({ item }) => [item.id, item]));
  for (const line of transcript.filter(({ role }) => role === 'agent' || role === 'caller')) {
    // The last words may be known only once the call has ended.
    const shown = words.get(line.id);
    if (shown !== undefined) t.equal(shown.role, line.role);
  }
  t.ok(
    transcript.some(({ id, role }) => role === 'agent' && words.has(id)),
    'its words came as they were said',
  );
  t.ok(
    of('turn').every(({ call_id }) => call_id === id) && of('turn').length > 0,
    'with the times of its turns',
  );
  t.same(
    of('ended').map((one) => [one.call.id, one.call.status]),
    [[id, call.status]],
  );
});
