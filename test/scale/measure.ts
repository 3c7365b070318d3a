// `npm run measure-queries -- PATH`: every question that lists, searches, follows or sums, asked of a filled database through
// the store's verbs; writes docs/queries.md. Fails where a plan walks through what grows, or sorts it.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openStore } from '../../storage/sqlite/store.ts';
import type { Store } from '../../storage/store.ts';
import { planOf } from './plans.ts';

const RUNS = 40;
const PAGE = { limit: 51 };
const HOUR_MS = 3_600_000;

interface Sample {
  org: string;
  other: string;
  agent: string;
  call: string;
  own: string;
  customer: string;
  endpoint: string;
  down: string;
  oldEvent: string;
  lastEvent: string;
  middle: { id: string; at: string };
  /** Of the first organization. */
  calls: number;
  count: Record<string, number>;
}

type Question = [name: string, ask: (store: Store, of: Sample) => Promise<unknown>];

const month = (of: Sample): [string, string] => {
  const to = Date.parse(of.middle.at) + 15 * 24 * HOUR_MS;
  return [new Date(to - 30 * 24 * HOUR_MS).toISOString(), new Date(to).toISOString()];
};

const QUESTIONS: readonly Question[] = [
  ['calls, newest', (store, of) => store.listCalls(of.org, {}, PAGE)],
  [
    'calls, a page in the middle',
    (store, of) => store.listCalls(of.org, {}, { ...PAGE, startingAfter: of.middle.id }),
  ],
  ['calls of a status', (store, of) => store.listCalls(of.org, { status: 'completed' }, PAGE)],
  ['calls of a rare status', (store, of) => store.listCalls(of.org, { status: 'canceled' }, PAGE)],
  ['calls of a status that none has', (store, of) => store.listCalls(of.org, { status: 'ringing' }, PAGE)],
  [
    'calls of a direction and a status',
    (store, of) => store.listCalls(of.org, { direction: 'inbound', status: 'failed' }, PAGE),
  ],
  ['calls of an agent', (store, of) => store.listCalls(of.org, { agentId: of.agent }, PAGE)],
  [
    'calls of an agent in a direction it has none',
    (store, of) => store.listCalls(of.org, { agentId: of.agent, direction: 'inbound' }, PAGE),
  ],
  ['calls to a customer', (store, of) => store.listCalls(of.org, { toNumber: of.customer }, PAGE)],
  [
    'calls from an own number, a rare status',
    (store, of) => store.listCalls(of.org, { fromNumber: of.own, status: 'canceled' }, PAGE),
  ],
  [
    'calls from an own number of an agent',
    (store, of) => store.listCalls(of.org, { fromNumber: of.own, agentId: of.agent }, PAGE),
  ],
  [
    'calls of a day, failed',
    (store, of) =>
      store.listCalls(
        of.org,
        {
          status: 'failed',
          createdAfter: new Date(Date.parse(of.middle.at) - 24 * HOUR_MS).toISOString(),
          createdBefore: of.middle.at,
        },
        PAGE,
      ),
  ],
  ['search: a word in most calls', (store, of) => store.listCalls(of.org, { search: 'the' }, PAGE)],
  ['search: one letter', (store, of) => store.listCalls(of.org, { search: 't' }, PAGE)],
  [
    'search: two frequent words',
    (store, of) => store.listCalls(of.org, { search: 'tomorrow appointment' }, PAGE),
  ],
  [
    'search: a word of another organization alone',
    (store, of) => store.listCalls(of.other, { search: 'wednesday morning' }, PAGE),
  ],
  ['search: a word in no call', (store, of) => store.listCalls(of.org, { search: 'xylophone' }, PAGE)],
  ['search: the start of a word', (store, of) => store.listCalls(of.org, { search: 'appo' }, PAGE)],
  ['search: an own number', (store, of) => store.listCalls(of.org, { search: of.own.slice(2) }, PAGE)],
  [
    "search: a customer's number",
    (store, of) => store.listCalls(of.org, { search: of.customer.slice(2) }, PAGE),
  ],
  ['search: three digits', (store, of) => store.listCalls(of.org, { search: '415' }, PAGE)],
  ["search: agents' names", (store, of) => store.listCalls(of.org, { search: 'reminder' }, PAGE)],
  [
    'search: a frequent word, a rare status',
    (store, of) => store.listCalls(of.org, { search: 'please', status: 'failed' }, PAGE),
  ],
  [
    'search: a frequent word, half a year ago',
    (store, of) => store.listCalls(of.org, { search: 'please', createdBefore: of.middle.at }, PAGE),
  ],
  ['events, newest', (store, of) => store.listOrgEvents(of.org, {}, PAGE)],
  ['events of a rare type', (store, of) => store.listOrgEvents(of.org, { type: 'call.canceled' }, PAGE)],
  ['events of a call', (store, of) => store.listOrgEvents(of.org, { callId: of.call }, PAGE)],
  [
    'events of a call and a type',
    (store, of) => store.listOrgEvents(of.org, { callId: of.call, type: 'call.queued' }, PAGE),
  ],
  ['follow: nothing new', (store, of) => store.eventsAfter(of.org, of.lastEvent, 50)],
  ['follow: from the first', (store, of) => store.eventsAfter(of.org, null, 50)],
  ['follow: from long ago', (store, of) => store.eventsAfter(of.org, of.oldEvent, 50)],
  ['deliveries, newest', (store, of) => store.listDeliveries(of.org, {}, PAGE)],
  ['deliveries of a status', (store, of) => store.listDeliveries(of.org, { status: 'exhausted' }, PAGE)],
  [
    'deliveries of a rare type',
    (store, of) => store.listDeliveries(of.org, { eventType: 'call.canceled' }, PAGE),
  ],
  [
    'deliveries of a rare type and status',
    (store, of) => store.listDeliveries(of.org, { eventType: 'call.canceled', status: 'exhausted' }, PAGE),
  ],
  [
    'deliveries of an endpoint',
    (store, of) => store.listDeliveries(of.org, { endpointId: of.endpoint }, PAGE),
  ],
  [
    'deliveries of an endpoint, a status',
    (store, of) => store.listDeliveries(of.org, { endpointId: of.endpoint, status: 'exhausted' }, PAGE),
  ],
  ['deliveries of a call', (store, of) => store.listDeliveries(of.org, { callId: of.call }, PAGE)],
  ['due deliveries', (store) => store.dueDeliveries(new Date(Date.now() + HOUR_MS).toISOString(), 500)],
  ['overview: calls of 30 days', (store, of) => store.callHours(of.org, ...month(of))],
  ['overview: failures of 30 days', (store, of) => store.failureReasons(of.org, ...month(of))],
  ['overview: latencies of 30 days', (store, of) => store.answerLatencies(of.org, ...month(of), 24)],
  ['health, metrics: what waits', (store) => store.stats()],
  ['start: unfinished calls', (store) => store.unfinishedCalls()],
  ['start: results that are due', (store) => store.pendingResults()],
  ['start: what others have left', (store) => store.takeOver()],
  ['credit', (store, of) => store.getCredit(of.org)],
  ['a call by its id', (store, of) => store.getCall(of.org, of.call)],
  ['the transcript of a call', (store, of) => store.listTranscript(of.call)],
  ['the turns of a call', (store, of) => store.listTurns(of.call)],
  [
    'a request made once',
    (store, of) => store.beginIdempotent(of.org, `measure ${Math.random()}`, 'x', new Date().toISOString()),
  ],
];

function sampleOf(db: Database.Database): Sample {
  const one = (sql: string, ...values: unknown[]) =>
    db
      .prepare(sql)
      .pluck()
      .get(...values) as string;
  const org = one('SELECT id FROM organizations ORDER BY seq LIMIT 1');
  const middle = db
    .prepare(
      'SELECT id, created_at AS at FROM calls WHERE seq >= (SELECT max(seq) / 2 FROM calls) AND org_id = ? LIMIT 1',
    )
    .get(org) as Sample['middle'];
  const call = one(
    `SELECT id FROM calls WHERE seq >= (SELECT max(seq) * 3 / 4 FROM calls) AND org_id = ? AND direction = 'outbound' AND status = 'completed' LIMIT 1`,
    org,
  );
  const count = (table: string) => Number(one(`SELECT max(seq) FROM ${table}`));
  return {
    org,
    other: one('SELECT id FROM organizations ORDER BY seq LIMIT 1 OFFSET 3'),
    agent: one('SELECT agent_id FROM calls WHERE id = ?', call),
    call,
    own: one('SELECT from_number FROM calls WHERE id = ?', call),
    customer: one('SELECT to_number FROM calls WHERE id = ?', call),
    endpoint: one('SELECT id FROM endpoints WHERE org_id = ? ORDER BY seq LIMIT 1', org),
    down: one('SELECT id FROM endpoints WHERE org_id = ? ORDER BY seq LIMIT 1 OFFSET 1', org),
    oldEvent: one('SELECT id FROM events WHERE org_id = ? AND seq > 1000 ORDER BY seq LIMIT 1', org),
    lastEvent: one('SELECT id FROM events WHERE org_id = ? ORDER BY seq DESC LIMIT 1', org),
    middle,
    calls: Number(one('SELECT count(*) FROM calls WHERE org_id = ?', org)),
    count: {
      'calls of all organizations': count('calls'),
      events: count('events'),
      deliveries: count('deliveries'),
      attempts: count('attempts'),
      'stretches of speech': count('transcript_items'),
      turns: count('turns'),
    },
  };
}

/** Makes the system forget what it has read of the file; true where it could. */
function forget(path: string): boolean {
  try {
    execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
    return true;
  } catch {
    return false;
  }
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
const shown = (ms: number) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));

/** Steps of a plan in few words: each index with what it is searched by, and how many times. */
function inShort(steps: readonly string[]): string {
  const uses = new Map<string, number>();
  for (const step of steps) {
    if (!/^(SEARCH|SCAN)|TEMP B-TREE/.test(step)) continue;
    const words = step
      .replace(/USING (COVERING )?INDEX /, '')
      .replace(/USING INTEGER PRIMARY KEY/, 'by rowid');
    uses.set(words, (uses.get(words) ?? 0) + 1);
  }
  return [...uses].map(([step, times]) => (times > 1 ? `${times} × ${step}` : step)).join('; ');
}

const paths = process.argv.slice(2);
if (paths.length === 0) throw new Error('say which: npm run measure-queries -- PATH... of filled databases');
const faults: string[] = [];
const slow: string[] = [];

async function measure(path: string): Promise<string> {
  const shell = new Database(path, { readonly: true });
  const of = sampleOf(shell);
  const rows: string[] = [];
  const searchable = shell.prepare('SELECT 1 FROM call_words LIMIT 1').get() !== undefined;
  for (const [name, ask] of QUESTIONS) {
    if (name.startsWith('search') && !searchable) continue;
    const statements = new Set<string>();
    const store = await openStore({
      path,
      onPrepare: (sql) => statements.add(sql),
      onTimed: (_what, _ms, sql) => sql !== undefined && statements.add(sql),
    });
    // The reader's thread is up before it is measured.
    await store.stats();
    statements.clear();
    const cold = forget(path);
    const first = performance.now();
    await ask(store, of);
    const coldMs = performance.now() - first;
    const times: number[] = [];
    let held = 0;
    for (let run = 0; run < RUNS; run++) {
      const before = performance.eventLoopUtilization();
      const begun = performance.now();
      await ask(store, of);
      times.push(performance.now() - begun);
      held = Math.max(held, performance.eventLoopUtilization(before).active);
    }
    await store.close();
    times.sort((a, b) => a - b);
    const plans = [...statements].map((sql) => planOf(shell, sql));
    for (const { faults: found } of plans) faults.push(...found.map((fault) => `${name}: ${fault}`));
    const [p50, p95, max] = [at(times, 0.5), at(times, 0.95), times.at(-1) ?? 0];
    if (p95 > 50 || held > 20) slow.push(`${name}: p95 ${shown(p95)} ms, held ${shown(held)} ms`);
    const plan = plans
      .map(({ steps }) => inShort(steps))
      .filter((text) => text !== '')
      .join(' **then** ');
    rows.push(
      `| ${name} | ${shown(p50)} | ${shown(p95)} | ${shown(max)} | ${cold ? shown(coldMs) : ''} | ${shown(held)} | ${plan} |`,
    );
    console.log(rows.at(-1)?.slice(0, 200));
  }
  shell.close();
  const counts = Object.entries(of.count).map(([what, count]) => `${count.toLocaleString('en')} ${what}`);
  return `## ${of.calls.toLocaleString('en')} calls of one organization

In all ${counts.join(', ')}.

| question | p50 | p95 | max | cold | held | plan |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

const tables: string[] = [];
for (const path of paths) tables.push(await measure(path));
writeFileSync(
  join(import.meta.dirname, '../../docs/queries.md'),
  `# Queries, their plans and their times

Every question that lists, searches, follows or sums, asked of databases as half a year of a busy line leaves them. Made by a script, from a database made by another:

\`\`\`
npm run fill-database -- /var/tmp/filled.db
npm run measure-queries -- /var/tmp/filled.db
\`\`\`

Milliseconds of ${RUNS} runs of a verb of storage, on ${availableParallelism()} cores; *cold* is the first one, with nothing of the file in memory; *held* is the most that the control thread was busy with it. Reads that may be long run in a thread beside it (\`storage/sqlite/reader.ts\`). The script fails when a plan walks through a table that grows or sorts what is not bounded, and \`test/storage/sqlite/query-plans.test.ts\` holds every statement to the same. A plan names the index, what it is searched by, and how often it is. *start: what others have left* finds, cold, the forty and more daemons that the questions before it were; then nothing, as every two seconds in service.

${tables.join('\n')}`,
);
for (const line of slow) console.log(`slow: ${line}`);
for (const fault of faults) console.error(`plan: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);
