// The form of the alerts, by table: what is typed, what is wrong with it, and the change it means.
import t from 'tap';
import {
  changedRules,
  KIND_WORDS,
  readEmails,
  ruleFaults,
  ruleForm,
  standing,
  wayFaults,
} from '../../../../control/dashboard/app/forms/alert-form.ts';
import type { Alerts } from '../../../../control/sdk/index.ts';
import { ALERT_KINDS } from '../../../../storage/alert-records.ts';

type Rule = Alerts['rules'][number];

const rule = (fields: Partial<Rule> = {}): Rule => ({
  kind: 'failure_rate',
  title: 'Calls fail',
  unit: 'percent',
  enabled: false,
  threshold: 20,
  window_minutes: 60,
  hold_minutes: 0,
  status: 'ok',
  since: null,
  value: null,
  text: null,
  ...fields,
});

t.test('every kind has its words', async (t) => t.same(Object.keys(KIND_WORDS), ALERT_KINDS));

t.test('what is changed is sent, and nothing else', async (t) => {
  const off = rule();
  const disk = rule({
    kind: 'disk_low',
    enabled: true,
    threshold: 500,
    window_minutes: null,
    hold_minutes: 1,
  });
  const forms = [off, disk].map(ruleForm);
  const [first, second] = forms as [(typeof forms)[number], (typeof forms)[number]];
  t.same(changedRules(forms, [off, disk]), []);
  t.same(changedRules([{ ...first, threshold: '99' }, second], [off, disk]), [], 'of one that is off');
  t.same(changedRules([{ ...first, enabled: true, threshold: ' 12,5 ' }, second], [off, disk]), [
    { kind: 'failure_rate', enabled: true, threshold: 12.5, window_minutes: 60, hold_minutes: 0 },
  ]);
  t.same(changedRules([first, { ...second, hold: '5' }], [off, disk]), [
    { kind: 'disk_low', enabled: true, threshold: 500, window_minutes: null, hold_minutes: 5 },
  ]);
  t.same(changedRules([first, { ...second, enabled: false }], [off, disk]), [
    { kind: 'disk_low', enabled: false },
  ]);
});

t.test('numbers that are none', async (t) => {
  const form = { ...ruleForm(rule({ enabled: true })), threshold: 'many', window: '1.5', hold: '-1' };
  t.same(Object.keys(ruleFaults(form)), ['threshold', 'window', 'hold']);
  t.same(ruleFaults({ ...form, enabled: false }), {}, 'of one that is off nothing is asked');
  const down = { ...form, kind: 'carrier_down' as const, hold: '' };
  t.same(Object.keys(ruleFaults(down)), ['hold'], 'nor what its kind has not');
});

t.test('who is told', async (t) => {
  t.same(readEmails(' a@example.com, b@example.com\n\na@example.com;'), ['a@example.com', 'b@example.com']);
  t.same(wayFaults('', ''), {});
  t.same(wayFaults('https://example.com/x', 'a@example.com'), {});
  t.same(Object.keys(wayFaults('example.com', 'nobody')), ['webhook', 'emails']);
});

t.test('a rule in words', async (t) => {
  t.equal(standing(rule({ status: 'firing' })).label, 'Off');
  for (const [status, label, tone] of [
    ['ok', 'Well', 'ok'],
    ['pending', 'Wrong, not for long', 'warn'],
    ['firing', 'Firing', 'bad'],
    ['recovering', 'Well again, not for long', 'warn'],
  ] as const)
    t.same(standing(rule({ enabled: true, status })), { label, tone });
});
