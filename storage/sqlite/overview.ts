// Calls, failures and latencies by the hour, for the overview: counted as they come. What a call adds is ../call-counts.ts's.
import { type CallCounts, countsAdded } from '../call-counts.ts';
import { latencyOf, levelOf } from '../latency-levels.ts';
import { type CallRecord, TERMINAL_STATUSES, type TurnRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Row } from './rows.ts';

const hours = (...times: [from: string, to: string]) => times.map((time) => time.slice(0, 13));

const COUNTERS = [
  'calls',
  'inbound',
  'ended',
  'completed',
  'failed',
  'talk_seconds',
  'billed_milli_cents',
  'cost_milli_cents',
  'costs_known',
] as const satisfies readonly (keyof CallCounts)[];

const COUNT = `INSERT INTO call_hours (org_id, hour, ${COUNTERS.join(', ')})
  VALUES (@org_id, @hour, ${COUNTERS.map((name) => `@${name}`).join(', ')})
  ON CONFLICT (org_id, hour) DO UPDATE SET ${COUNTERS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;

const COUNT_FAILURES = `INSERT INTO failure_hours (org_id, hour, reason, calls) VALUES (@org_id, @hour, @reason, @calls)
  ON CONFLICT (org_id, hour, reason) DO UPDATE SET calls = calls + excluded.calls`;

/** Counts a change of a call, within its transaction; `before` is null for a new one. */
export function countCall({ statement }: Connection, before: CallRecord | null, after: CallRecord): void {
  const added = countsAdded(before, after);
  if (added === null) return;
  const of = { org_id: after.org_id, hour: after.created_at.slice(0, 13) };
  statement(COUNT).run({ ...of, ...added.counts });
  for (const failure of added.failures) statement(COUNT_FAILURES).run({ ...of, ...failure });
}

/** Counts an answer of a call among its organization's, in the hour it is stored in. Within the caller's transaction. */
export function countLatency({ statement, now }: Connection, turn: TurnRecord): void {
  const call = statement('SELECT org_id, telephone FROM calls WHERE id = ?').get(turn.call_id);
  const level = call === undefined ? null : levelOf(turn, { telephone: call.telephone === 1 });
  if (call === undefined || level === null) return;
  statement(
    `INSERT INTO answer_latencies (org_id, hour, level, answers) VALUES (?, ?, ?, 1)
     ON CONFLICT (org_id, hour, level) DO UPDATE SET answers = answers + 1`,
  ).run(call.org_id, now().slice(0, 13), level);
}

/** By one kind of end, the newest first. */
const ENDED = `SELECT hit.seq, hit.created_at, calls.status, calls.error_code, calls.hangup_cause, calls.telephone
  FROM (SELECT seq, call_id, created_at FROM events INDEXED BY events_by_type
    WHERE org_id = ? AND type = ? ORDER BY seq DESC LIMIT ?) AS hit
  JOIN calls ON calls.id = hit.call_id`;

const bySeq = (a: Row, b: Row) => Number(b.seq) - Number(a.seq);

export function overview(
  connection: Connection,
): Pick<Store, 'callHours' | 'failureReasons' | 'answerLatencies' | 'lastEnded'> {
  return {
    async lastEnded(orgId, limit) {
      const arms = await Promise.all(
        TERMINAL_STATUSES.map((status) => connection.read(ENDED, [orgId, `call.${status}`, limit])),
      );
      return arms
        .flat()
        .sort(bySeq)
        .slice(0, limit)
        .filter(({ telephone }) => telephone === 1)
        .map((row) => ({
          ended_at: String(row.created_at),
          failed: row.status === 'failed',
          reason: (row.error_code ?? row.hangup_cause ?? null) as string | null,
        }));
    },

    async callHours(orgId, from, to) {
      const rows = await connection.read(
        `SELECT hour, calls, inbound, ended, completed, failed, talk_seconds, billed_milli_cents, cost_milli_cents, costs_known
         FROM call_hours WHERE org_id = ? AND hour >= ? AND hour < ? ORDER BY hour`,
        [orgId, ...hours(from, to)],
      );
      return rows.map((row) => ({
        hour: String(row.hour),
        calls: Number(row.calls),
        inbound: Number(row.inbound),
        ended: Number(row.ended),
        completed: Number(row.completed),
        failed: Number(row.failed),
        talkSeconds: Number(row.talk_seconds),
        billedMilliCents: Number(row.billed_milli_cents),
        costMilliCents: Number(row.costs_known) === 0 ? null : Number(row.cost_milli_cents),
      }));
    },

    async failureReasons(orgId, from, to) {
      const rows = await connection.read(
        `SELECT reason, sum(calls) AS count FROM failure_hours WHERE org_id = ? AND hour >= ? AND hour < ?
         GROUP BY reason HAVING count > 0 ORDER BY count DESC, reason LIMIT 50`,
        [orgId, ...hours(from, to)],
      );
      return rows.map(({ reason, count }) => ({ reason: String(reason), count: Number(count) }));
    },

    async answerLatencies(orgId, from, to, stepHours = 1) {
      const rows = await connection.read(
        `/* sorts: a step's levels, of a month of hours at most */
         SELECT substr(hour, 1, 11) || printf('%02d', substr(hour, 12, 2) / cast(? AS INTEGER) * cast(? AS INTEGER)) AS hour, level, sum(answers) AS answers
         FROM answer_latencies WHERE org_id = ? AND hour >= ? AND hour < ? GROUP BY 1, level ORDER BY 1, level`,
        [stepHours, stepHours, orgId, ...hours(from, to)],
      );
      return rows.map(({ hour, level, answers }) => ({
        hour: String(hour),
        latencyMs: latencyOf(Number(level)),
        answers: Number(answers),
      }));
    },
  };
}
