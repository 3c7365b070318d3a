// Calls, failures and latencies added up by the hour, for the overview: calls by one index, latencies counted as they come.
import type { TurnRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Session } from './session.ts';

/** Neighbouring levels are 5 % apart, so that a latency is known to within half of that. */
const LEVEL = Math.log(1.05);

/** Calls that say how the line does: one from a browser is somebody trying an agent out. */
const BY_PHONE = "calls.carrier <> 'browser'";
const ENDED = "status NOT IN ('queued', 'initiated', 'ringing', 'in_progress')";

/** Counts an answer of a call among its organization's, in the hour it is stored in. Within the caller's transaction. */
export function countLatency(session: Session, turn: TurnRecord): void {
  if (turn.kind !== 'answer' || turn.speech_end_ms === null || turn.first_heard_ms === null) return;
  const latencyMs = Math.max(1, turn.first_heard_ms - turn.speech_end_ms);
  session
    .statement(
      `INSERT INTO answer_latencies (org_id, hour, level, answers)
       SELECT org_id, ?, ?, 1 FROM calls WHERE id = ? AND ${BY_PHONE}
       ON CONFLICT (org_id, hour, level) DO UPDATE SET answers = answers + 1`,
    )
    .run(session.now().slice(0, 13), Math.round(Math.log(latencyMs) / LEVEL), turn.call_id);
}

export function overview(session: Session): Pick<Store, 'callHours' | 'failureReasons' | 'answerLatencies'> {
  const { statement } = session;

  return {
    async callHours(orgId, from, to) {
      const rows = statement(
        `SELECT substr(created_at, 1, 13) AS hour, sum(${BY_PHONE}) AS calls,
           sum(${BY_PHONE} AND direction = 'inbound') AS inbound, sum(${BY_PHONE} AND ${ENDED}) AS ended,
           sum(${BY_PHONE} AND status = 'completed') AS completed,
           sum(${BY_PHONE} AND status = 'failed') AS failed, total(billed_duration_seconds) AS talk,
           total(billing_amount_milli_cents) AS billed, sum(cost_milli_cents) AS cost
         FROM calls INDEXED BY calls_overview WHERE org_id = ? AND created_at >= ? AND created_at < ?
         GROUP BY hour ORDER BY hour`,
      ).all(orgId, from, to);
      return rows.map((row) => ({
        hour: String(row.hour),
        calls: Number(row.calls),
        inbound: Number(row.inbound),
        ended: Number(row.ended),
        completed: Number(row.completed),
        failed: Number(row.failed),
        talkSeconds: Number(row.talk),
        billedMilliCents: Number(row.billed),
        costMilliCents: row.cost == null ? null : Number(row.cost),
      }));
    },

    async failureReasons(orgId, from, to) {
      const rows = statement(
        `SELECT coalesce(error_code, hangup_cause, 'unknown') AS reason, count(*) AS count
         FROM calls INDEXED BY calls_overview
         WHERE org_id = ? AND created_at >= ? AND created_at < ? AND status = 'failed' AND ${BY_PHONE}
         GROUP BY reason ORDER BY count DESC, reason LIMIT 50`,
      ).all(orgId, from, to);
      return rows.map(({ reason, count }) => ({ reason: String(reason), count: Number(count) }));
    },

    async answerLatencies(orgId, from, to) {
      const rows = statement(
        `SELECT hour, level, answers FROM answer_latencies WHERE org_id = ? AND hour >= ? AND hour < ?
         ORDER BY hour, level`,
      ).all(orgId, from.slice(0, 13), to.slice(0, 13));
      return rows.map(({ hour, level, answers }) => ({
        hour: String(hour),
        latencyMs: Math.round(Math.exp(Number(level) * LEVEL)),
        answers: Number(answers),
      }));
    },
  };
}
