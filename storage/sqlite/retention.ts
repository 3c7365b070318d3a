// How long what is kept, and which calls are older: by each rule and kind a walk through calls in the order of their starts,
// which is written down as far as it has come.
import { KEPT_KINDS, type KeptKind, type RetentionRecord } from '../kept-records.ts';
import type { KeptVerbs, SweepMark } from '../kept-verbs.ts';
import { holdsCall } from '../legal-hold.ts';
import { cutoff } from '../retention-rules.ts';
import { type Connection, Refusal } from './connection.ts';
import { eraseCallRows, sweptOf } from './erasures.ts';
import { holdsInForce } from './holds.ts';
import type { Row } from './rows.ts';
import { enterCall } from './search-index.ts';

type Verbs = 'listRetention' | 'setRetention' | 'dueToSweep' | 'sweep' | 'markSwept';

const SWEPT_AT_ONCE = 50;

function ruleOf(row: Row): RetentionRecord {
  const days = Object.fromEntries(KEPT_KINDS.map((kind) => [kind, row[kind] ?? null]));
  return {
    org_id: String(row.org_id),
    agent_id: row.agent_id === '' ? null : String(row.agent_id),
    days: days as RetentionRecord['days'],
    updated_at: String(row.updated_at),
  };
}

/** What is taken from a call by kind; the calls themselves are erased by the plan of an erasure. */
const TAKEN: Readonly<Record<Exclude<KeptKind, 'calls'>, readonly string[]>> = {
  recordings: ['UPDATE calls SET recording_path = NULL WHERE id = ?'],
  // What the other side said stands also where it asked not to be called again: that it has asked stays.
  transcripts: [
    'DELETE FROM transcript_items WHERE call_id = ?',
    "UPDATE calls SET opted_out = json_set(opted_out, '$.text', '') WHERE id = ? AND opted_out IS NOT NULL",
    'UPDATE do_not_call SET reason = NULL, item_id = NULL WHERE call_id = ?',
  ],
  events: [
    'DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE call_id = ?)',
    'DELETE FROM deliveries WHERE call_id = ?',
    'DELETE FROM events WHERE call_id = ?',
  ],
  deliveries: [
    'DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE call_id = ?)',
    'DELETE FROM deliveries WHERE call_id = ?',
  ],
};

export function retention(connection: Connection): Pick<KeptVerbs, Verbs> {
  const { statement, tryWrite, write } = connection;

  const list = (orgId: string) =>
    statement('SELECT * FROM retention WHERE org_id = ? ORDER BY agent_id').all(orgId).map(ruleOf);

  /** The next calls that a rule says of, by their starts; held ones too. */
  async function older(rule: RetentionRecord, until: string, from: { up_to: string; seq_to: number }) {
    const agent =
      rule.agent_id === null
        ? "(agent_id IS NULL OR agent_id NOT IN (SELECT own.agent_id FROM retention own WHERE own.org_id = @org AND own.agent_id <> ''))"
        : 'agent_id = @agent';
    return connection.read(
      `SELECT seq, id, org_id, created_at, recording_path, direction, to_number, from_number
       FROM calls INDEXED BY calls_by_org
       WHERE org_id = @org AND (created_at, seq) > (@up_to, @seq_to) AND created_at <= @until AND erased_at IS NULL
         AND status NOT IN ('queued', 'initiated', 'ringing', 'in_progress') AND ${agent}
       ORDER BY created_at, seq LIMIT ${SWEPT_AT_ONCE}`,
      {
        org: rule.org_id,
        until,
        up_to: from.up_to,
        seq_to: from.seq_to,
        ...(rule.agent_id === null ? {} : { agent: rule.agent_id }),
      },
    );
  }

  return {
    async listRetention(orgId) {
      return list(orgId);
    },

    async setRetention(orgId, agentId, days) {
      return tryWrite(() => {
        if (
          agentId !== null &&
          !statement('SELECT 1 FROM agents WHERE id = ? AND org_id = ?').get(agentId, orgId)
        )
          throw new Refusal('agent_not_found');
        const of = { org_id: orgId, agent_id: agentId ?? '' };
        if (days === null) {
          statement('DELETE FROM retention WHERE org_id = @org_id AND agent_id = @agent_id').run(of);
        } else {
          statement(
            `INSERT INTO retention (org_id, agent_id, ${KEPT_KINDS.join(', ')}, updated_at)
             VALUES (@org_id, @agent_id, ${KEPT_KINDS.map((kind) => `@${kind}`).join(', ')}, @updated_at)
             ON CONFLICT (org_id, agent_id) DO UPDATE SET updated_at = excluded.updated_at,
               ${KEPT_KINDS.map((kind) => `${kind} = excluded.${kind}`).join(', ')}`,
          ).run({ ...of, ...days, updated_at: connection.now() });
        }
        // Which rule a call is under may have changed: all are looked through again.
        statement('DELETE FROM retention_swept WHERE org_id = ?').run(orgId);
        return list(orgId);
      });
    },

    async dueToSweep(before) {
      const rules = statement('SELECT * FROM retention ORDER BY org_id, agent_id').all().map(ruleOf);
      for (const rule of rules) {
        for (const kind of KEPT_KINDS) {
          const until = cutoff(rule.days[kind], before);
          if (until === null) continue;
          const agentId = rule.agent_id ?? '';
          const row = statement(
            'SELECT up_to, seq_to FROM retention_swept WHERE org_id = ? AND agent_id = ? AND kind = ?',
          ).get(rule.org_id, agentId, kind);
          const from = { up_to: String(row?.up_to ?? ''), seq_to: Number(row?.seq_to ?? 0) };
          if (from.up_to >= until) continue;
          const rows = await older(rule, until, from);
          const last = rows.length < SWEPT_AT_ONCE ? undefined : rows.at(-1);
          const done: SweepMark = {
            orgId: rule.org_id,
            agentId,
            kind,
            upTo: last === undefined ? until : String(last.created_at),
            seq: last === undefined ? Number.MAX_SAFE_INTEGER : Number(last.seq),
          };
          const inForce = holdsInForce(connection, rule.org_id);
          const free = rows.filter(
            (call) =>
              !inForce.some((hold) => holdsCall(hold, call as unknown as Parameters<typeof holdsCall>[1])),
          );
          return { kind, calls: free.map(sweptOf), done };
        }
      }
      return null;
    },

    async sweep(kind, calls) {
      for (const { id, org_id } of calls) {
        await write(
          () => {
            // One that was put under a hold since it was found stays.
            const row = statement('SELECT id, direction, to_number, from_number FROM calls WHERE id = ?').get(
              id,
            );
            const call = row as unknown as Parameters<typeof holdsCall>[1];
            if (row === undefined || holdsInForce(connection, org_id).some((hold) => holdsCall(hold, call)))
              return;
            if (kind === 'calls') {
              eraseCallRows(connection, id);
              return;
            }
            for (const sql of TAKEN[kind]) statement(sql).run(id);
            if (kind === 'transcripts') enterCall(connection, id);
          },
          { alone: true },
        );
      }
    },

    async markSwept({ orgId, agentId, kind, upTo, seq }) {
      await write(() =>
        statement(
          `INSERT INTO retention_swept (org_id, agent_id, kind, up_to, seq_to) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (org_id, agent_id, kind) DO UPDATE SET up_to = excluded.up_to, seq_to = excluded.seq_to`,
        ).run(orgId, agentId, kind, upTo, seq),
      );
    },
  };
}
