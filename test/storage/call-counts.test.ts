// What a change of a call adds to the overview of its hour, by table.
import t from 'tap';
import { type CallCounts, countsAdded } from '../../storage/call-counts.ts';
import type { CallRecord } from '../../storage/records.ts';
import { makeCall } from './makers.ts';

const part = { name: 'x', milli_cents: 1, used: {} };
const parts = { model: part, transcription: part, extraction: part, carrier: part };
const cost = (total: number | null): CallRecord['cost'] => ({
  estimate: true,
  total_milli_cents: total,
  ...parts,
  as_of: '2026-01-01',
});
const base = makeCall('org', { direction: 'outbound', cost: null, error_code: null, hangup_cause: null });
const call = (fields: Partial<CallRecord> = {}): CallRecord => ({ ...base, ...fields });
const failed = (fields: Partial<CallRecord> = {}) => call({ status: 'failed', ...fields });
const BILLED = { billed_duration_seconds: 60, billing_amount_milli_cents: 500, cost: cost(7) };

const CASES: [
  name: string,
  before: CallRecord | null,
  after: CallRecord,
  counts: Partial<CallCounts>,
  failures?: [reason: string, calls: number][],
][] = [
  ['a new one -> a call', null, call(), { calls: 1 }],
  ['a new inbound one', null, call({ direction: 'inbound' }), { calls: 1, inbound: 1 }],
  ['a new one of a page -> nothing', null, call({ telephone: false }), {}],
  ['it rings -> nothing', call(), call({ status: 'ringing' }), {}],
  [
    'completed -> ended, with its time and money',
    call({ status: 'in_progress' }),
    call({ status: 'completed', ...BILLED }),
    {
      ended: 1,
      completed: 1,
      talk_seconds: 60,
      billed_milli_cents: 500,
      cost_milli_cents: 7,
      costs_known: 1,
    },
  ],
  [
    'completed on a page -> time and money alone',
    call({ telephone: false, status: 'in_progress' }),
    call({ telephone: false, status: 'completed', ...BILLED }),
    { talk_seconds: 60, billed_milli_cents: 500, cost_milli_cents: 7, costs_known: 1 },
  ],
  ['busy -> ended', call(), call({ status: 'busy' }), { ended: 1 }],
  ['a cost that is not known -> nothing', call(), call({ cost: cost(null) }), {}],
  ['a cost that is free', call(), call({ cost: cost(0) }), { costs_known: 1 }],
  ['a cost that changes', call({ cost: cost(7) }), call({ cost: cost(5) }), { cost_milli_cents: -2 }],
  [
    'a cost that is unknown after all',
    call({ cost: cost(7) }),
    call({ cost: cost(null) }),
    { cost_milli_cents: -7, costs_known: -1 },
  ],
  [
    'failed, by its error',
    call(),
    failed({ error_code: 'model_error', hangup_cause: 'stream_lost' }),
    { ended: 1, failed: 1 },
    [['model_error', 1]],
  ],
  [
    'failed, by what ended it',
    call(),
    failed({ hangup_cause: 'lost' }),
    { ended: 1, failed: 1 },
    [['lost', 1]],
  ],
  ['failed, nobody knows why', call(), failed(), { ended: 1, failed: 1 }, [['unknown', 1]]],
  ['failed on a page -> nothing', call({ telephone: false }), failed({ telephone: false }), {}],
  [
    'the reason is known later',
    failed(),
    failed({ error_code: 'model_error' }),
    {},
    [
      ['unknown', -1],
      ['model_error', 1],
    ],
  ],
];

for (const [name, before, after, counts, failures = []] of CASES) {
  t.test(name, async (t) => {
    const added = countsAdded(before, after);
    if (Object.keys(counts).length === 0 && failures.length === 0) {
      t.equal(added, null);
      return;
    }
    const nothing = Object.fromEntries(Object.keys(added?.counts ?? {}).map((key) => [key, 0]));
    t.same(added?.counts, { ...nothing, ...counts });
    t.same(
      added?.failures.map(({ reason, calls }) => [reason, calls]),
      failures,
    );
  });
}
