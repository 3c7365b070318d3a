// The newest lines of the log over the API: whose they are, how they are followed, and that none of another organization's is seen.
import t from 'tap';
import { openLog } from '../../../log.ts';
import { RecentLog } from '../../../recent-log.ts';
import { makeCall } from '../../storage/makers.ts';
import { openRig } from '../rig.ts';

const OPERATOR = 'the-operators-own-key';

async function open(t: Parameters<typeof openRig>[0]) {
  const rig = await openRig(t, { env: { OPERATOR_KEY: OPERATOR } });
  const log = openLog('debug', [], { write() {} }, rig.recentLog.take);
  const read = async (query = '', headers: Record<string, string> = {}) => {
    const { status, body } = await rig.api('GET', `/v1/logs${query}`, { headers });
    return {
      status,
      body,
      events: status === 200 ? body.data.map(({ event }: { event: string }) => event) : [],
    };
  };
  return { rig, log, read };
}

t.test('an organization sees its own lines and those of its calls, the operator all', async (t) => {
  const { rig, log, read } = await open(t);
  const own = makeCall(rig.orgId);
  const others = makeCall(rig.other.orgId);
  for (const call of [own, others]) await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
  log.info({ org_id: rig.orgId }, 'own.line');
  log.warn({ call_id: own.id, to: '+14155550123' }, 'own.call');
  log.info({ org_id: rig.other.orgId }, 'other.line');
  log.info({ call_id: others.id }, 'other.call');
  log.info({}, 'nobodys');
  log.error({ call_id: '0199a000-0000-7000-8000-00000000dead' }, 'of.no.call');
  t.same((await read()).events, ['own.line', 'own.call']);
  t.match((await read()).body.data[1], { level: 'warn', fields: { call_id: own.id, to: '+14***23' } });
  t.same((await read('?level=warn')).events, ['own.call']);
  t.same((await read(`?call_id=${own.id}`)).events, ['own.call']);
  t.same((await read(`?call_id=${others.id}`)).events, []);
  t.equal((await read('', { 'operator-key': OPERATOR })).events.length, 6);
  t.match(await read('', { 'operator-key': 'another' }), { status: 403 });
});

t.test(
  'the newest come first where there are more, and those after a number are followed without a gap',
  async (t) => {
    const { rig, log, read } = await open(t);
    for (let n = 1; n <= 10; n++) {
      log.info({ org_id: rig.orgId }, `line.${n}`);
      log.info({ org_id: rig.other.orgId }, 'between');
    }
    const newest = await read('?limit=3');
    t.same(newest.events, ['line.8', 'line.9', 'line.10']);
    let after = 0;
    const seen: string[] = [];
    for (;;) {
      const { events, body } = await read(`?limit=4&after=${after}`);
      if (events.length === 0) break;
      seen.push(...events);
      after = body.next;
    }
    t.same(
      seen,
      Array.from({ length: 10 }, (_, n) => `line.${n + 1}`),
    );
    const waiting = read(`?after=${after}&wait=20`);
    log.info({ org_id: rig.other.orgId }, 'not.this');
    log.info({ org_id: rig.orgId }, 'this');
    t.same((await waiting).events, ['this']);
    t.same((await read('?after=99999999')).events.length, 11, 'of a run that is over: from the beginning');
  },
);

t.test('so many lines are kept, and long ones without what makes them long', async (t) => {
  const recent = new RecentLog();
  const log = openLog('info', [], { write() {} }, recent.take);
  for (let n = 0; n < 5_100; n++) log.info({ n }, 'line');
  const kept = [...recent.after(0)];
  t.equal(kept.length, 5_000);
  t.match(
    [kept[0], kept.at(-1)],
    [
      { seq: 101, fields: { n: 100 } },
      { seq: 5_100, fields: { n: 5_099 } },
    ],
  );
  log.info({ org_id: 'o', long: 'x'.repeat(10_000) }, 'long');
  t.match([...recent.after(5_100)], [{ fields: { event: 'long', org_id: 'o', long: undefined } }]);
});
