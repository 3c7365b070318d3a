// Which number is primary, and which may be attached or released.
import t from 'tap';
import {
  agentUpdatedAt,
  attaching,
  firstPrimary,
  primaryAfterAttaching,
  primaryAfterDetaching,
  primaryChosen,
  releasing,
} from '../../storage/agent-numbers.ts';
import type { NumberView } from '../../storage/records.ts';
import { at, makeAgent, makeNumber } from './makers.ts';

const view = (fields: Partial<NumberView> = {}): NumberView => ({
  ...makeNumber('org'),
  inbound_agent_id: null,
  outbound_agent_ids: [],
  ...fields,
});
const [one, two, three] = [view({ id: 'one' }), view({ id: 'two' }), view({ id: 'three' })];

t.test('of a new agent', async (t) => {
  t.same(firstPrimary(null, ['one', 'two']), { primaryNumberId: 'one' }, 'the first');
  t.same(firstPrimary('two', ['one', 'two']), { primaryNumberId: 'two' }, 'the one that was asked for');
  t.same(firstPrimary(null, []), { primaryNumberId: null });
  t.same(firstPrimary('three', ['one']), { conflict: 'primary_number_not_attached' });
});

const outbound = makeAgent('org', { id: 'out' });
const inbound = makeAgent('org', { id: 'in', type: 'inbound' });
const ATTACHING = [
  ['a free one', outbound, one, 'attached'],
  ['none', outbound, null, { conflict: 'number_not_found' }],
  [
    'a released one',
    outbound,
    view({ status: 'released', outbound_agent_ids: ['out'] }),
    { conflict: 'number_not_found' },
  ],
  ['its own', outbound, view({ outbound_agent_ids: ['x', 'out'] }), 'kept'],
  ['its own, inbound', inbound, view({ inbound_agent_id: 'in' }), 'kept'],
  [
    'that of other outbound agents and an inbound one',
    outbound,
    view({ inbound_agent_id: 'x', outbound_agent_ids: ['y'] }),
    'attached',
  ],
  ['that of an outbound agent, inbound', inbound, view({ outbound_agent_ids: ['y'] }), 'attached'],
  [
    'that of another inbound agent, inbound',
    inbound,
    view({ inbound_agent_id: 'x' }),
    { conflict: 'number_taken' },
  ],
] as const;
for (const [name, agent, number, wanted] of ATTACHING) {
  t.test(`attaching ${name}`, async (t) => t.same(attaching(agent, number), wanted));
}

t.test('after attaching', async (t) => {
  const agent = (primary: string | null, archived: string | null = null) =>
    makeAgent('org', { primary_number_id: primary, archived_at: archived });
  t.same(primaryAfterAttaching(agent(null), 'two', false), { primaryNumberId: 'two' }, 'the first');
  t.same(primaryAfterAttaching(agent('one'), 'two', false), { primaryNumberId: 'one' });
  t.same(primaryAfterAttaching(agent('one'), 'two', true), { primaryNumberId: 'two' });
  t.same(primaryAfterAttaching(agent('one', at(0)), 'two', true), { conflict: 'agent_archived' });
});

t.test('after detaching, and by choice', async (t) => {
  const agent = { numbers: [one, two, three], primary_number_id: 'one' };
  t.same(primaryAfterDetaching(agent, 'one'), { primaryNumberId: 'two' }, 'the oldest left');
  t.same(primaryAfterDetaching({ ...agent, primary_number_id: 'two' }, 'two'), { primaryNumberId: 'one' });
  t.same(primaryAfterDetaching(agent, 'three'), { primaryNumberId: 'one' });
  t.same(primaryAfterDetaching({ ...agent, numbers: [one] }, 'one'), { primaryNumberId: null });
  t.equal(primaryAfterDetaching(agent, 'four'), null);
  t.same(primaryChosen(agent, 'three'), { primaryNumberId: 'three' });
  t.same(primaryChosen(agent, 'four'), { conflict: 'primary_number_not_attached' });
});

t.test('updated_at grows with every change', async (t) => {
  t.same(agentUpdatedAt(at(5), at(9), null), { updatedAt: at(9) });
  t.same(agentUpdatedAt(at(5), at(5), null), { updatedAt: at(6) });
  t.same(agentUpdatedAt(at(5), at(1), at(5)), { updatedAt: at(6) }, 'also where the clock was set back');
  t.same(agentUpdatedAt(at(5), at(9), at(4)), { conflict: 'changed_meanwhile' });
});

t.test('a number is released when no agent has it', async (t) => {
  t.same(releasing(one), { status: 'released' });
  t.same(releasing(view({ inbound_agent_id: 'in' })), { conflict: 'number_attached' });
  t.same(releasing(view({ outbound_agent_ids: ['out'] })), { conflict: 'number_attached' });
});
