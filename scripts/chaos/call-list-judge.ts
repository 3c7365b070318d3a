// What must be true after a campaign of calls, whatever was killed: read from the daemon's database and the carrier's own list
// of calls. Reads only; hours are worked out anew, by the zone's distance from UTC.
import Database from 'better-sqlite3';
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Check } from './judge.ts';

/** A contact of the list, and when he may be called. */
export interface Listed {
  to: string;
  zone: string;
  /** Hours before UTC. */
  offsetHours: number;
}

export interface Hours {
  from: string;
  to: string;
}

export interface CallListEvidence {
  databasePath: string;
  campaignId: string;
  list: readonly Listed[];
  hours: readonly Hours[];
  perMinute: number;
  atOnce: number;
  carrierCalls: readonly Pick<CallReport, 'sid' | 'to' | 'createdAt'>[];
  /** How long its page waited for what it shows, in milliseconds. */
  pollsMs: readonly number[];
}

interface ContactRow {
  id: string;
  to_number: string;
  status: string;
  outcome: string | null;
  attempts: number;
}
interface AttemptRow {
  contact_id: string;
  attempt: number;
  call_id: string;
  started_at: string;
  ended_at: string | null;
  outcome: string | null;
  carrier_call_id: string | null;
  call_contact: string | null;
  call_attempt: number | null;
}

const MINUTE_MS = 60_000;

export function judgeCallList(e: CallListEvidence): { checks: Check[]; rows: [string, string][] } {
  const db = new Database(e.databasePath, { readonly: true });
  const contacts = db
    .prepare('SELECT id, to_number, status, outcome, attempts FROM campaign_contacts WHERE campaign_id = ?')
    .all(e.campaignId) as ContactRow[];
  const attempts = db
    .prepare(
      `SELECT a.contact_id, a.attempt, a.call_id, a.started_at, a.ended_at, a.outcome, calls.carrier_call_id,
         calls.contact_id AS call_contact, calls.attempt AS call_attempt
       FROM campaign_attempts AS a LEFT JOIN calls ON calls.id = a.call_id
       WHERE a.campaign_id = ? ORDER BY a.started_at, a.seq`,
    )
    .all(e.campaignId) as AttemptRow[];
  const tallies = db
    .prepare('SELECT kind, hour, value, count FROM campaign_tallies WHERE campaign_id = ? AND count <> 0')
    .all(e.campaignId) as { kind: string; hour: string; value: string; count: number }[];
  const calls = db.prepare('SELECT count(*) AS count FROM calls WHERE campaign_id = ?').get(e.campaignId) as {
    count: number;
  };
  db.close();

  const byContact = Map.groupBy(attempts, ({ contact_id }) => contact_id);
  const dialled = Map.groupBy(e.carrierCalls, ({ to }) => to);
  const starts = attempts.map(({ started_at }) => Date.parse(started_at));
  const carrierStarts = e.carrierCalls.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b);
  const outcomes = Map.groupBy(contacts, ({ outcome }) => outcome ?? 'none');
  const counted = (kind: string) =>
    Object.fromEntries(tallies.filter((one) => one.kind === kind).map(({ value, count }) => [value, count]));
  const perMinute = busiestMinute(starts);
  const checks: Check[] = [
    {
      name: 'contacts with one outcome',
      value: contacts.filter(({ outcome }) => outcome !== null).length,
      violations: [
        ...contacts.flatMap(({ to_number, status, outcome }) =>
          outcome === null || status === 'waiting' || status === 'calling'
            ? [`${to_number} is ${status}`]
            : [],
        ),
        ...(contacts.length === e.list.length ? [] : [`${contacts.length} contacts, not ${e.list.length}`]),
      ],
    },
    {
      name: 'attempts, none of them twice',
      value: attempts.length,
      violations: contacts.flatMap((contact) => {
        const own = byContact.get(contact.id) ?? [];
        const faults: string[] = [];
        if (own.length !== contact.attempts)
          faults.push(`${contact.to_number}: ${own.length} of ${contact.attempts}`);
        own.forEach((one, at) => {
          if (one.attempt !== at + 1)
            faults.push(`${contact.to_number}: attempt ${one.attempt} at place ${at + 1}`);
          if (one.outcome === null) faults.push(`${contact.to_number}: attempt ${one.attempt} has no end`);
          if (one.call_contact !== contact.id || one.call_attempt !== one.attempt)
            faults.push(`${contact.to_number}: its call ${one.call_id} says otherwise`);
        });
        return faults;
      }),
    },
    {
      name: 'calls of the campaign, one an attempt',
      value: calls.count,
      violations:
        calls.count === attempts.length ? [] : [`${calls.count} calls for ${attempts.length} attempts`],
    },
    {
      name: 'calls at the carrier, at most one an attempt',
      value: e.carrierCalls.length,
      violations: contacts.flatMap(({ id, to_number }) => {
        const [made, wanted] = [dialled.get(to_number)?.length ?? 0, byContact.get(id)?.length ?? 0];
        return made > wanted ? [`${to_number} was dialled ${made} times for ${wanted} attempts`] : [];
      }),
    },
    {
      name: 'calls in the busiest minute, as they were begun',
      value: `${perMinute} of ${e.perMinute}`,
      violations: [
        ...(perMinute > e.perMinute ? [`${perMinute} in a minute`] : []),
        ...starts.flatMap((ms, at) => {
          const gap = at === 0 ? Infinity : ms - (starts[at - 1] ?? 0);
          return gap < Math.floor(MINUTE_MS / e.perMinute)
            ? [`${gap} ms apart at ${new Date(ms).toISOString()}`]
            : [];
        }),
      ],
    },
    {
      name: 'calls at once, at most',
      value: `${mostAtOnce(attempts)} of ${e.atOnce}`,
      violations: mostAtOnce(attempts) > e.atOnce ? ['more than may be'] : [],
    },
    {
      name: 'calls outside of their hours',
      value: 0,
      violations: outside(e, contacts, attempts),
    },
    {
      name: 'counts that differ from their rows',
      value: 0,
      violations: [
        ...differences(
          counted('outcome'),
          countBy(contacts, ({ outcome }) => outcome),
        ),
        ...differences(
          counted('status'),
          countBy(contacts, ({ status }) => status),
        ),
      ],
    },
  ];
  checks[6] = { ...(checks[6] as Check), value: checks[6]?.violations.length ?? 0 };
  const polls = [...e.pollsMs].sort((a, b) => a - b);
  const share = (part: number) => Math.round(polls[Math.floor((polls.length - 1) * part)] ?? 0);
  return {
    checks,
    rows: [
      ['outcomes', [...outcomes].map(([name, of]) => `${name} ${of.length}`).join(', ')],
      [
        'attempts by number',
        [1, 2, 3].map((n) => attempts.filter((one) => one.attempt === n).length).join(', '),
      ],
      ['dialled in the busiest minute, as the carrier saw', String(busiestMinute(carrierStarts))],
      ['what its page asks for', `${polls.length} times: p50 ${share(0.5)} ms, p95 ${share(0.95)} ms`],
    ],
  };
}

/** The most in any minute, its end not among it. */
function busiestMinute(sorted: readonly number[]): number {
  let most = 0;
  let from = 0;
  sorted.forEach((ms, at) => {
    while (ms - (sorted[from] ?? 0) >= MINUTE_MS) from += 1;
    most = Math.max(most, at - from + 1);
  });
  return most;
}

function mostAtOnce(attempts: readonly AttemptRow[]): number {
  const moments = attempts.flatMap(({ started_at, ended_at }) => [
    { at: started_at, by: 1 },
    { at: ended_at ?? '9', by: -1 },
  ]);
  // One that ends in the moment in which another begins has made room for it.
  moments.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.by - b.by));
  let [now, most] = [0, 0];
  for (const { by } of moments) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

function outside(
  e: CallListEvidence,
  contacts: readonly ContactRow[],
  attempts: readonly AttemptRow[],
): string[] {
  const offsets = new Map(e.list.map(({ to, offsetHours }) => [to, offsetHours]));
  const numbers = new Map(contacts.map(({ id, to_number }) => [id, to_number]));
  return attempts.flatMap(({ contact_id, started_at }) => {
    const to = numbers.get(contact_id) ?? '';
    const local = new Date(Date.parse(started_at) + (offsets.get(to) ?? 0) * 3_600_000)
      .toISOString()
      .slice(11, 16);
    return e.hours.some(({ from, to: end }) => local >= from && local < end) ? [] : [`${to} at ${local}`];
  });
}

function countBy<T>(all: readonly T[], key: (one: T) => string | null): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of all) {
    const name = key(one);
    if (name !== null) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function differences(told: Record<string, number>, found: Record<string, number>): string[] {
  return [...new Set([...Object.keys(told), ...Object.keys(found)])].flatMap((name) =>
    told[name] === found[name] ? [] : [`${name}: ${told[name]} are told, ${found[name]} are there`],
  );
}
