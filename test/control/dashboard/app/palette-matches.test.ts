// What a few typed letters find, in which order; and when a key is meant for a field.
import t from 'tap';
import {
  callById,
  fitting,
  isTyping,
  type Target,
} from '../../../../control/dashboard/app/palette-matches.ts';

const page = (label: string, also?: string): Target => ({
  label,
  href: `/${label}`,
  kind: 'page',
  ...(also === undefined ? {} : { also }),
});
const PAGES = [
  page('Overview'),
  page('Live'),
  page('Calls', 'history'),
  page('API keys'),
  page('Callers desk'),
];
const labels = (typed: string, most = 9) => fitting(typed, PAGES, most).map(({ label }) => label);

t.test('all as they stand, the best first, and none that does not fit', async (t) => {
  t.same(labels(''), ['Overview', 'Live', 'Calls', 'API keys', 'Callers desk']);
  t.same(labels('call'), ['Calls', 'Callers desk']);
  t.same(labels('CALLS'), ['Calls']);
  t.same(labels('key'), ['API keys'], 'the start of any word');
  t.same(labels('hist'), ['Calls'], 'by another word for it');
  t.same(labels('desk call'), ['Callers desk'], 'all words, in any order');
  t.same(labels('nothing like it'), []);
  t.same(labels('', 2).length, 2);
});

t.test('a call is named by its whole id alone', async (t) => {
  t.equal(callById(' 01A20961-4890-77C6-AE33-52D24B750000 '), '01a20961-4890-77c6-ae33-52d24b750000');
  for (const text of ['', '01a20961', '01a20961-4890-77c6-ae33-52d24b75000', 'x'.repeat(36)])
    t.equal(callById(text), null);
});

t.test('a key within a field is meant for it', async (t) => {
  for (const place of [
    { tagName: 'INPUT' },
    { tagName: 'INPUT', type: 'search' },
    { tagName: 'TEXTAREA' },
    { tagName: 'SELECT' },
    { tagName: 'DIV', isContentEditable: true },
  ])
    t.ok(isTyping(place), JSON.stringify(place));
  for (const place of [null, { tagName: 'BODY' }, { tagName: 'INPUT', type: 'checkbox' }, { tagName: 'A' }])
    t.notOk(isTyping(place), JSON.stringify(place));
});
