// What a statement's plan may not have: a walk through a table that grows with the calls, or a sort of as many rows.
import type Database from 'better-sqlite3';

/** These grow with every call. */
const LARGE: ReadonlySet<string> = new Set([
  'calls',
  'transcript_items',
  'turns',
  'interruptions',
  'events',
  'deliveries',
  'attempts',
  'ledger',
  'idempotency_keys',
  'campaign_contacts',
  'campaign_attempts',
  'campaign_tallies',
  'audit_log',
]);
/** What an organization sets up, or a query makes for itself out of what it has found. */
const SMALL: ReadonlySet<string> = new Set([
  'organizations',
  'api_keys',
  'operators',
  'users',
  'user_sessions',
  'invitations',
  'numbers',
  'agents',
  'agent_numbers',
  'endpoints',
  'campaigns',
  'alert_settings',
  'alert_states',
  'alert_messages',
  'notes',
  'retention',
  'own',
  'daemons',
  'owed',
  'place',
  'hit',
  'CONSTANT',
]);

export interface Plan {
  steps: string[];
  /** Why it may not be so; empty where it may. */
  faults: string[];
}

/** The plan of a statement, its values unknown. */
export function planOf(db: Database.Database, sql: string): Plan {
  const rows = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const names = [...sql.matchAll(/[@](\w+)/g)].map(([, name]) => [name, null]);
  const questions = sql.split('?').length - 1;
  const values = [
    ...Array.from({ length: questions }, () => null),
    ...(names.length > 0 ? [Object.fromEntries(names)] : []),
  ];
  const steps = rows.all(...values).map(({ detail }) => detail);
  const partial = new Set(
    db
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'`)
      .pluck()
      .all(),
  );
  return { steps, faults: faultsOf(sql, steps, partial) };
}

function faultsOf(sql: string, steps: readonly string[], partial: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  const large = steps.some((step) => LARGE.has(/^(?:SCAN|SEARCH) (\S+)/.exec(step)?.[1] ?? ''));
  // A statement says itself why there is little to sort.
  const bounded = !large || /\/\* sorts: [^*]+\*\//.test(sql);
  // Likewise where a walk is rare, and through little.
  const walks = /\/\* walks: [^*]+\*\//.test(sql);
  for (const step of steps) {
    const scan = /^SCAN (\S+)(?: USING (?:COVERING )?INDEX (\S+))?/.exec(step);
    const [, table = '', index] = scan ?? [];
    // A partial index holds what waits, and not what is done.
    if (scan !== null && !partial.has(index ?? '')) {
      if (LARGE.has(table)) {
        if (!walks) faults.push(step);
      } else if (!SMALL.has(table) && /VIRTUAL TABLE INDEX \d+:$/.test(step)) faults.push(step);
      else if (!SMALL.has(table) && !table.startsWith('(') && !/VIRTUAL TABLE/.test(step)) faults.push(step);
    }
    if (/AUTOMATIC/.test(step)) faults.push(step);
    if (/TEMP B-TREE/.test(step) && !bounded) faults.push(step);
  }
  return faults;
}
