// A call in words: whom it was with, why it ended, what its result says.
import t from 'tap';
import { FAULT_CODES, HANGUP_CAUSES } from '../../../../bridge/protocol/call-reasons.ts';
import {
  broughtBy,
  callTitle,
  causeInWords,
  disclosureInWords,
  fieldOf,
  isOver,
  otherSide,
  outcomeOf,
  summaryOf,
  valueInWords,
} from '../../../../control/dashboard/app/call-words.ts';
import { words } from '../../../../control/dashboard/app/format.ts';
import { TERMINAL_STATUSES } from '../../../../storage/records.ts';

t.test('the other side is whom a person looks for', async (t) => {
  const numbers = { from_number: '+1', to_number: '+2' };
  t.equal(otherSide({ ...numbers, direction: 'inbound' }), '+1');
  t.equal(otherSide({ ...numbers, direction: 'outbound' }), '+2');
});

t.test('each of our reasons has words of its own', async (t) => {
  for (const reason of [...Object.keys(HANGUP_CAUSES), ...Object.keys(FAULT_CODES)]) {
    t.not(causeInWords(reason), words(reason), reason);
  }
});

t.test('a call is over in the statuses that storage calls final, in no other', async (t) => {
  for (const status of TERMINAL_STATUSES) t.ok(isOver({ status }), status);
  for (const status of ['queued', 'initiated', 'ringing', 'in_progress'] as const)
    t.notOk(isOver({ status }));
});

t.test('causes in words; unknown ones stay readable', async (t) => {
  t.equal(causeInWords('remote_hangup'), 'The other side hung up');
  t.equal(causeInWords('SIP 486'), 'The line was busy (SIP 486)');
  t.equal(causeInWords('SIP 499'), 'SIP 499');
  t.equal(causeInWords('some_new_cause'), 'Some new cause');
});

t.test('fields and values of a result', async (t) => {
  t.same(fieldOf('boolean'), { type: 'boolean', description: '' });
  t.same(fieldOf({ type: 'string', description: 'Whose', enum: ['a', 'b'] }), {
    type: 'string (a, b)',
    description: 'Whose',
  });
  const cases: [unknown, string | null][] = [
    [null, null],
    [undefined, null],
    [true, 'yes'],
    [false, 'no'],
    [0, '0'],
    ['', ''],
    [['a', null, 2], 'a, –, 2'],
    [[], ''],
    [{ a: 1 }, '{"a":1}'],
  ];
  for (const [value, text] of cases) t.equal(valueInWords(value), text, JSON.stringify(value));
});

t.test('a call is named by its other side, with a number or without', async (t) => {
  const cases: [string, string, 'inbound' | 'outbound', string][] = [
    ['+14155550123', '+14155550100', 'inbound', 'Call from +1 415 555 0123'],
    ['+14155550100', '+14155550123', 'outbound', 'Call to +1 415 555 0123'],
    ['anonymous', '+14155550100', 'inbound', 'Call from a withheld number'],
    ['browser', '+14155550100', 'inbound', 'Call in the browser'],
    ['+14155550100', 'browser', 'outbound', 'Call in the browser'],
  ];
  for (const [from_number, to_number, direction, title] of cases) {
    t.equal(callTitle({ from_number, to_number, direction }), title);
  }
});

t.test('how a call ended, in plain words, with the code for those who want it', async (t) => {
  const cases: [Parameters<typeof outcomeOf>[0], string, string][] = [
    [{ status: 'queued', hangup_cause: null, error_code: null }, 'Waits to be dialled', 'queued'],
    [{ status: 'in_progress', hangup_cause: null, error_code: null }, 'On the line', 'in_progress'],
    [
      { status: 'completed', hangup_cause: 'remote_hangup', error_code: null },
      'The other side hung up',
      'completed, remote_hangup',
    ],
    [{ status: 'busy', hangup_cause: 'SIP 486', error_code: null }, 'The line was busy', 'busy, SIP 486'],
    [{ status: 'no_answer', hangup_cause: null, error_code: null }, 'Nobody answered', 'no_answer'],
    [
      { status: 'failed', hangup_cause: 'failed', error_code: 'model_silent' },
      'It could not be connected',
      'failed, model_silent',
    ],
  ];
  for (const [call, words, code] of cases) t.same(outcomeOf(call), { words, code });
});

t.test('what a call brought: the result first, else the summary, else why there is nothing', async (t) => {
  const call = {
    status: 'completed',
    returns: { day: 'string', people: 'number' },
    result: { day: 'Monday', people: null },
    result_status: 'completed',
    summary: null,
    error_message: null,
  } as Parameters<typeof broughtBy>[0];
  t.same(broughtBy(call), { fields: [['Day', 'Monday']], text: null });
  t.same(broughtBy({ ...call, result: { day: null, people: 0 } }).fields, [['People', '0']]);
  const nothing = { ...call, result: { day: null, people: null } };
  t.equal(broughtBy(nothing).text, 'Nothing of it was said');
  t.equal(broughtBy({ ...nothing, summary: 'They asked for Monday.' }).text, 'They asked for Monday.');
  t.equal(broughtBy({ ...nothing, error_message: 'The model was away.' }).text, 'The model was away.');
  t.equal(broughtBy({ ...call, result: null, result_status: 'failed' }).text, 'There is no result');
  t.equal(broughtBy({ ...call, result: null, result_status: 'pending' }).text, 'Being taken from the words');
  t.equal(broughtBy({ ...call, result: null, status: 'in_progress', result_status: 'pending' }).text, null);
  t.equal(broughtBy({ ...call, returns: {}, result: null }).text, null);
  t.equal(summaryOf({ summary: ' ' }), null);
});

t.test('how much was heard of what is said before all else', async (t) => {
  const whole = {
    text: 'An AI calls.',
    heard_text: 'An AI calls.',
    heard_ms: 900,
    started_ms: 10,
    ended_ms: 910,
    complete: true,
  };
  for (const [disclosure, words] of [
    [null, null],
    [whole, 'Heard in full'],
    [{ ...whole, heard_text: 'An AI', complete: false }, 'Heard: “An AI”'],
    [{ ...whole, heard_text: '', complete: false }, 'Nothing of it was heard'],
    [{ ...whole, heard_text: '', started_ms: null, ended_ms: null, complete: false }, 'Not said'],
  ] as const)
    t.equal(disclosureInWords({ disclosure }), words);
});
