// A search among calls, from outside.

import t from 'tap';
import { GATE_CODES } from '../../../storage/outbound/outbound-records.ts';
import { wordsQuery } from '../../../storage/sqlite/search.ts';
import { makeCall, makeItem } from '../../storage/makers.ts';
import { openRig } from '../rig.ts';

t.test("a search finds calls by number, by agent and by what was said, and nobody else's", async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ name: 'Bluebird 100% front_desk' });
  const make = async (orgId: string, fields: Parameters<typeof makeCall>[1]) => {
    rig.advance(1000);
    const created_at = rig.now().toISOString();
    const call = makeCall(orgId, { agent_id: null, carrier_call_id: null, created_at, ...fields });
    // Wherever they went: rules of outbound calls are no matter of a search.
    const made = await rig.store.createCall(call, {
      events: [],
      reserve: 0,
      override: { by: { kind: 'user', id: 'u', name: 'Test' }, codes: [...GATE_CODES], reason: 'a test' },
    });
    t.notOk('conflict' in made);
    return call.id;
  };
  const say = (callId: string, text: string, fields: Parameters<typeof makeItem>[1] = {}) =>
    rig.store.saveTranscript([makeItem(callId, { text, heard_text: text, role: 'caller', ...fields })]);

  const one = await make(rig.orgId, { to_number: '+14155550123', from_number: '+14155559999' });
  const two = await make(rig.orgId, {
    to_number: '+442079460000',
    from_number: 'anonymous',
    agent_id: agent.id,
  });
  const three = await make(rig.orgId, { to_number: '+4930123456', from_number: '+14155559999' });
  const foreign = await make(rig.other.orgId, { to_number: '+14155550123' });
  await say(one, 'My glasses are broken, could you send the café bill?');
  await say(two, 'Guten Morgen, die Brille ist da.', { role: 'agent', id: 'x' });
  await say(two, '{"ok":true,"output":"glasses"}', { role: 'tool', id: 'y' });
  await say(foreign, 'My glasses are broken.');

  const find = async (search: string, more = '') => {
    rig.advance(1000);
    const { status, body } = await rig.api('GET', `/v1/calls?search=${encodeURIComponent(search)}${more}`);
    return status === 200 ? body.map((call: { id: string }) => call.id) : body.error.param;
  };
  for (const [search, wanted, what] of [
    ['5550123', [one], 'part of a number'],
    ['(415) 555-0123', [one], 'as people write it'],
    ['+4415', [], 'not what no number has'],
    ['415555', [three, one], 'the newest first'],
    ['41', [], 'two digits are too few'],
    ['bluebird', [two], "an agent's name"],
    ['100%', [two], 'and nothing in it is a pattern'],
    ['100_', [], 'nor a blank'],
    ['glasses', [one], 'a word; not what a tool answered'],
    ['broken glasses', [one], 'all words, in any order'],
    ['broken teeth', [], 'all of them'],
    ['GLAS', [one], 'the start of the last one, in any case'],
    ['las', [], 'not its middle'],
    ['cafe', [one], 'without its accents'],
    ['Brille', [two], "the agent's words too"],
    ['"glasses" OR NOT (*', [], 'no syntax of its own'],
    ['!?', [], 'no word at all'],
  ] as const) {
    t.same(await find(search), wanted, `${search}: ${what}`);
  }
  t.same(await find('415555', '&limit=1'), [three]);
  t.same(await find('415555', `&limit=1&starting_after=${three}`), [one], 'in pages');
  t.same(await find('415555', '&to_number=%2B14155550123'), [one], 'with other filters');
  t.equal(await find(' '), 'search');
  t.equal(await find('x'.repeat(101)), 'search');

  await rig.store.saveCall(two, { from: ['queued'], change: { status: 'completed' } });
  await rig.store.saveCall(three, { from: ['queued'], change: { status: 'no_answer' } });
  await rig.store.saveCall(foreign, { from: ['queued'], change: { status: 'completed' } });
  await say(two, 'Naïve questions about 5550 things, in the end.', { id: 'late' });
  for (const [search, more, wanted, what] of [
    ['bluebird', '', [two], 'an ended call by its agent'],
    ['morgen brille', '', [two], 'by its words, whoever said them in whichever stretch'],
    ['MORGEN naive', '', [two], 'also those that came after its end'],
    ['bri', '', [two], 'by the start of a word'],
    ['rille', '', [], 'and not its middle'],
    ['glasses', '', [one], "nobody else's, and not what tools answered"],
    ['9302', '', [], 'three digits in a row and the next three are not these four'],
    ['4930', '', [three], 'by its number'],
    ['555', '', [three, two, one], 'by number or words, ended or not, the newest first'],
    ['555', '&limit=2', [three, two], 'a page'],
    ['555', `&limit=2&starting_after=${two}`, [one], 'and the next one'],
    ['555', '&status=completed', [two], 'with a status'],
    ['555', '&status=no_answer', [three], 'of two words'],
    ['555', '&direction=inbound', [], 'with a direction'],
    ['555', `&agent_id=${agent.id}`, [two], 'with an agent'],
    ['555', '&from_number=anonymous', [two], 'with a number'],
    ['555', '&created_before=2026-03-01T12:00:02.500Z', [two, one], 'until a time'],
    ['555', '&created_after=2026-03-01T12:00:02.500Z', [three], 'from a time on'],
    ['facts : o1', '', [], 'nothing of it is a column'],
    ['completed', '', [], 'and no fact a word'],
  ] as const) {
    t.same(await find(search, more), wanted, `${search}${more}: ${what}`);
  }

  await say(one, 'My spectacles are broken.', { id: 'same' });
  await say(one, 'My monocle is broken.', { id: 'same' });
  t.same([await find('spectacles'), await find('monocle')], [[], [one]], 'words that were corrected');
});

t.test('five searches per second and organization; other lists and other organizations go on', async (t) => {
  const rig = await openRig(t);
  const get = (query: string, key = rig.key) => rig.api('GET', `/v1/calls${query}`, { key });
  for (let at = 0; at < 5; at++) t.equal((await get('?search=bill')).status, 200);
  const sixth = await get('?search=bill');
  t.same([sixth.status, sixth.body.error.code], [429, 'rate_limited']);
  t.equal(sixth.headers.get('retry-after'), '1');
  t.equal((await get('')).status, 200, 'a list without a search is not counted');
  t.equal((await get('?search=bill', rig.other.key)).status, 200);
  rig.advance(200);
  t.equal((await get('?search=bill')).status, 200, 'one more after a fifth of a second');
  t.equal((await get('?search=bill')).status, 429);
});

t.test('what people type is words and never syntax', async (t) => {
  t.equal(wordsQuery('a "b" -c*'), '"a" "b" "c" *');
  t.equal(wordsQuery('Zoë, ok?'), '"Zoë" "ok" *');
  t.equal(wordsQuery('…'), null);
});
