// What the calls of a list add up to: all of them over whole hours, else the newest; and the list as a file for a signed-in browser.
import t from 'tap';
import { hoursBetween } from '../../../control/dashboard/call-totals.ts';
import { makeCall } from '../../storage/makers.ts';
import { openDashboardRig } from './rig.ts';

t.test('whole hours between two moments that are outside', async (t) => {
  t.same(hoursBetween('2026-03-01T11:59:59.999Z', '2026-03-02T12:00:00.000Z'), {
    from: '2026-03-01T12:00:00.000Z',
    to: '2026-03-02T12:00:00.000Z',
  });
  t.match(hoursBetween(undefined, '2026-03-02T12:00:00.000Z'), { from: /^0000/ });
  t.match(hoursBetween(undefined, undefined), { from: /^0000/, to: /^9999/ });
  // Where the clock is half an hour apart from others.
  t.equal(hoursBetween('2026-03-01T18:29:59.999Z', undefined), null);
  t.equal(hoursBetween(undefined, '2026-03-01T18:30:00.000Z'), null);
});

t.test('by hours, by filters, of this organization; the newest where there are many', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  t.equal((await rig.browser().ask('GET', '/call_totals')).status, 401);
  await browser.setUp();
  const add = (at: number, change: Parameters<typeof makeCall>[1] = {}) => {
    const created_at = new Date(rig.now().getTime() + at * 60_000).toISOString();
    const call = makeCall(rig.orgId, { agent_id: null, carrier_call_id: null, created_at, ...change });
    return rig.store.createCall(call, { events: [], reserve: 0 });
  };
  for (let at = 0; at < 3; at++) await add(at * 60, { status: 'completed', billed_duration_seconds: 10 });
  await add(1, { direction: 'inbound' });
  await rig.store.createCall(makeCall(rig.other.orgId, { agent_id: null }), { events: [], reserve: 0 });
  const totals = async (query = '') => (await browser.ask('GET', `/call_totals${query}`)).body;
  const none = { billed_milli_cents: 0, cost_milli_cents: null, newest: null };
  t.same(await totals(), { ...none, calls: 4, completed: 3, talk_seconds: 30 });
  t.match(await totals('?created_before=2026-03-01T13:00:00.000Z'), { calls: 2, completed: 1 });
  t.match(await totals('?created_before=2026-03-01T13:00:00.001Z'), { calls: 3, completed: 2 });
  t.match(await totals('?direction=inbound'), { calls: 1, completed: 0, talk_seconds: 0 });
  t.equal((await browser.ask('GET', '/call_totals?search=x')).status, 400, 'a search is not added up');
  for (let at = 0; at < 1_000; at++) await add(at, { direction: 'inbound' });
  rig.advance(6_000);
  t.match(await totals('?direction=inbound'), { calls: 1_000, newest: 1_000 });
  t.match(await totals(), { calls: 1_004, newest: null });

  const file = await browser.ask('GET', '/v1/calls.csv?direction=outbound&columns=id,direction');
  t.match(file.headers.get('content-disposition'), /^attachment/);
  t.equal(file.text.trim().split('\r\n').length, 4);
});
