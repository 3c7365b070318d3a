// A thousand old events sent again while the daemon is killed ten times: each comes once more at least, with the id and the
// body it had, signed anew.
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { openStore } from '../../storage/sqlite/store.ts';
import { makeCall } from '../storage/makers.ts';
import { openRig, until } from './rig.ts';

const CALLS = 500;
const EVENTS = 2 * CALLS;
const KILLS = 10;
const LANES = 16;

t.test('a thousand replays, ten kills', async (t) => {
  /** Before the replays, every second delivery is not taken. */
  let taking = false;
  let turn = 0;
  const rig = await openRig(t, { answer: () => (taking || turn++ % 2 === 0 ? 204 : 500) });
  const { lab } = rig;
  const endpoint = await lab.api<{ id: string; secret: string }>('POST', '/v1/webhook_endpoints', {
    url: lab.receiverUrl,
  });
  t.equal(endpoint.status, 201);

  // What happened before, as a daemon would have left it.
  t.equal(await lab.daemon.stop('SIGINT'), 0);
  const store = await openStore({ path: join(rig.folder, 'data/offhook.db') });
  const organization = await store.firstOrganization();
  for (let i = 0; i < CALLS; i++) {
    const call = makeCall(organization?.id ?? '', { metadata: { i, text: `“${i}” – ünïcode\u2028` } });
    await store.createCall(call, { events: ['call.queued'], reserve: 0 });
    const ended_at = new Date().toISOString();
    await store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'failed', ended_at, result_status: 'failed', reservation_status: 'released' },
      events: ['call.failed'],
    });
  }
  await store.close();
  await lab.restartDaemon();
  const idOf = ({ headers }: (typeof lab.received)[number]) => headers['service-event-id'] ?? '';
  await until('the first attempt of each', () => new Set(lab.received.map(idOf)).size === EVENTS);
  const before = new Map(lab.received.map((one) => [idOf(one), one.body]));
  const attempts = lab.received.length;

  taking = true;
  const left = [...before.keys()];
  let asked = 0;
  let kills = 0;
  let down: Promise<unknown> = Promise.resolve();
  async function lane(): Promise<void> {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      for (;;) {
        await down;
        const answer = await lab.api('POST', `/v1/webhook_deliveries/${id}/redeliver`).catch(() => null);
        if (answer?.status === 200) break;
        // Killed under it: nobody knows whether it was done, and it may be asked again.
        if (answer !== null && answer.status < 500) throw new Error(JSON.stringify(answer.body));
        await new Promise((again) => setTimeout(again, 20));
      }
      asked += 1;
      if (kills < KILLS && asked >= ((kills + 1) * EVENTS) / (KILLS + 1)) {
        kills += 1;
        down = lab.daemon.stop('SIGKILL').then(() => lab.restartDaemon());
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane));
  t.equal(kills, KILLS);

  const replayed = () =>
    lab.received.slice(attempts).filter((one) => one.headers['service-replay'] === 'true');
  await until('each to come again', () => new Set(replayed().map(idOf)).size === EVENTS);
  for (const status of ['pending', 'exhausted']) {
    const path = `/v1/webhook_deliveries?endpoint_id=${endpoint.body.id}&status=${status}&limit=1`;
    await until(`no delivery to be ${status}`, async () => {
      const { body } = await lab.api<{ data: unknown[] }>('GET', path);
      return body.data.length === 0;
    });
  }
  const webhook = new Webhook(endpoint.body.secret);
  const wrong: string[] = [];
  for (const one of lab.received.slice(attempts)) {
    const id = idOf(one);
    if (before.get(id) !== one.body) wrong.push(`${id} came with another body, or is new`);
    if (one.headers['webhook-id'] !== id) wrong.push(`${id} has two ids`);
    try {
      // Refuses what is older than five minutes.
      webhook.verify(one.body, one.headers);
    } catch (error) {
      wrong.push(`${id}: ${String(error)}`);
    }
  }
  t.same(wrong, [], 'ids and bodies as they were, signatures fresh');
  t.comment(
    `${EVENTS} events, ${kills} kills, ${lab.received.length - attempts} requests after the first ones`,
  );
});
