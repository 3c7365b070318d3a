// `GET call_totals`: the calls of a list added up. Over whole hours and nothing else they are all added up, from what storage
// counts by the hour; by other filters the newest ones are.
import { Router } from 'express';
import type { CallHour, CallSums, Store } from '../../storage/store.ts';
import { listCalls } from '../api/call-query-schemas.ts';
import { parse } from '../http/schemas.ts';
import type { CallTotals } from './app/session-shapes.ts';
import { fresh } from './fresh.ts';
import { sessionOf } from './guard.ts';

const HOUR_MS = 3_600_000;
/** What is read of a list that is not counted by the hour. */
const NEWEST = 1_000;
const ALWAYS = { from: '0000-01-01T00:00:00.000Z', to: '9999-12-31T23:00:00.000Z' };

const query = listCalls.pick({
  status: true,
  direction: true,
  agent_id: true,
  created_after: true,
  created_before: true,
});

/** Whole hours between two moments that both are outside; null: these are none. */
export function hoursBetween(
  after: string | undefined,
  before: string | undefined,
): { from: string; to: string } | null {
  const from = after === undefined ? null : Date.parse(after) + 1;
  const to = before === undefined ? null : Date.parse(before);
  if ((from ?? 0) % HOUR_MS !== 0 || (to ?? 0) % HOUR_MS !== 0) return null;
  return {
    from: from === null ? ALWAYS.from : new Date(from).toISOString(),
    to: to === null ? ALWAYS.to : new Date(to).toISOString(),
  };
}

function sumOf(hours: readonly CallHour[]): CallSums {
  const sum = (key: 'calls' | 'completed' | 'talkSeconds' | 'billedMilliCents') =>
    hours.reduce((all, one) => all + one[key], 0);
  const known = hours.flatMap(({ costMilliCents }) => (costMilliCents === null ? [] : [costMilliCents]));
  return {
    calls: sum('calls'),
    completed: sum('completed'),
    talkSeconds: sum('talkSeconds'),
    billedMilliCents: sum('billedMilliCents'),
    costMilliCents: known.length === 0 ? null : known.reduce((all, one) => all + one, 0),
    more: false,
  };
}

export function callTotalsApi(o: { store: Pick<Store, 'sumCalls' | 'callHours'>; now: () => Date }): Router {
  async function read(key: string): Promise<CallTotals> {
    const [orgId, asked] = JSON.parse(key) as [string, ReturnType<typeof query.parse>];
    const { status, direction, agent_id, created_after, created_before } = asked;
    const all = status === undefined && direction === undefined && agent_id === undefined;
    const hours = all ? hoursBetween(created_after, created_before) : null;
    const sums =
      hours === null
        ? await o.store.sumCalls(
            orgId,
            {
              status,
              direction,
              agentId: agent_id,
              createdAfter: created_after,
              createdBefore: created_before,
            },
            NEWEST,
          )
        : sumOf(await o.store.callHours(orgId, hours.from, hours.to));
    return {
      calls: sums.calls,
      completed: sums.completed,
      talk_seconds: sums.talkSeconds,
      billed_milli_cents: sums.billedMilliCents,
      cost_milli_cents: sums.costMilliCents,
      newest: sums.more ? NEWEST : null,
    };
  }
  const totals = fresh(read, o.now);

  const router = Router({ caseSensitive: true });
  router.get('/call_totals', async (req, res) => {
    const asked = parse(query, req.query);
    res.json(await totals.of(JSON.stringify([sessionOf(res).orgId, asked])));
  });
  return router;
}
