// Upgrades that are killed: a database of each schema there has been, opened by today's store, whose process dies at a random
// moment. After each death the file is whole, of the old schema or the new one, with every row, its secrets all clear or all
// sealed, and each copy beside it whole. `node test/storage/sqlite/upgrade.ts [kills] [seed]` kills 50 times.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import type { Tool } from '../../../storage/records.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { seeded } from '../../random.ts';
import { at, makeAgent, makeCall, makeEndpoint, makeItem, makeKey, makeOrganization } from '../makers.ts';

/** Enough for an upgrade to be killed in the middle of its steps. */
const CALLS = 1500;
const SECRET = 'canaryOfTheUpgrade';
const TOOL: Tool = {
  type: 'http',
  name: 'find',
  description: 'finds',
  parameters: { type: 'object', properties: {} },
  url: 'https://example.com/find',
  method: 'GET',
  headers: { 'X-Key': SECRET },
};
/** Schemas that were released before the one of today: by their number of steps. */
export const OLD_SCHEMAS = MIGRATIONS.slice(0, -1).map((_, index) => index + 1);
/** What sealing changes, and what an upgrade adds by itself. */
const SEALED: Record<string, readonly string[]> = {
  organizations: ['webhook_secret', 'previous_webhook_secret'],
  endpoints: ['secret', 'previous_secret'],
  agents: ['tools'],
  calls: ['tools'],
  idempotency_keys: ['body'],
};

type Row = Record<string, unknown>;
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** Makes a database of one of the old schemas, with something in every table that has to go along. */
function build(path: string, schema: number, calls: number): void {
  const { db, close } = openDatabase({ path, migrations: MIGRATIONS.slice(0, schema) });
  const insert = (table: string) => {
    const known = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    const statements = new Map<string, Database.Statement>();
    return (row: object) => {
      const given: Row = { ...row };
      const columns = Object.keys(given).filter((column) => known.includes(column));
      const text = columns.join(', ');
      const statement =
        statements.get(text) ??
        db.prepare(`INSERT INTO ${table} (${text}) VALUES (${columns.map(() => '?').join(', ')})`);
      statements.set(text, statement);
      statement.run(
        ...columns.map((column) => {
          const value = given[column];
          if (typeof value === 'boolean') return value ? 1 : 0;
          return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
        }),
      );
    };
  };
  db.transaction(() => {
    const organization = makeOrganization({
      webhook_secret: SECRET,
      previous_webhook_secret: `${SECRET}Before`,
    });
    insert('organizations')(organization);
    insert('api_keys')(makeKey(organization.id));
    const endpoint = makeEndpoint(organization.id, { secret: SECRET, previous_secret: `${SECRET}Before` });
    insert('endpoints')(endpoint);
    const agent = makeAgent(organization.id, { tools: [TOOL, { type: 'send_dtmf' }] });
    insert('agents')(agent);
    const [call, item, event, answer] = [
      insert('calls'),
      insert('transcript_items'),
      insert('events'),
      insert('idempotency_keys'),
    ];
    for (let n = 0; n < calls; n++) {
      const made = makeCall(organization.id, { agent_id: agent.id, tools: [TOOL], created_at: at(n * 1000) });
      call({ ...made, cost: { total_milli_cents: n } });
      for (const text of ['how may I help', `where is order ${n}`]) item(makeItem(made.id, { text }));
      event({
        id: `event-${n}`,
        org_id: organization.id,
        call_id: made.id,
        type: 'call.queued',
        sequence: 1,
        body: JSON.stringify(made.prompt),
        created_at: at(n * 1000),
      });
      if (n < 20) {
        answer({
          org_id: organization.id,
          key: `key-${n}`,
          request_hash: 'hash',
          state: 'done',
          begun_at: at(n),
          created_at: at(n),
          status: 201,
          body: `{"secret":"${SECRET}"}`,
        });
      }
    }
  })();
  close();
}

interface Found {
  version: number;
  /** The schema's own words. */
  schema: string;
  /** What every column says that was there before and is no secret. */
  content: string;
  /** Secrets that are readable, and that are sealed. */
  clear: number;
  sealed: number;
  /** Under which key they are noted to be sealed. */
  note: string | null;
  integrity: string;
}

/** What is in a database, by SQLite alone; `old` says which columns there were. */
function look(path: string, old: ReadonlyMap<string, readonly string[]>): Found {
  const db = new Database(path);
  try {
    const words = db
      .prepare<[], { sql: string }>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name')
      .all();
    let content = '';
    let [clear, sealed] = [0, 0];
    for (const [table, columns] of old) {
      const plain = columns.filter((column) => !SEALED[table]?.includes(column));
      const rows = db
        .prepare(`SELECT ${plain.join(', ')} FROM ${table} ORDER BY ${plain.join(', ')}`)
        .raw()
        .all();
      content = sha(content + table + JSON.stringify(rows));
      for (const column of SEALED[table] ?? []) {
        const values = db
          .prepare<[], string>(`SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL`)
          .pluck()
          .all();
        clear += values.filter((value) => value.includes(SECRET)).length;
        sealed += values.filter((value) => /sealed:[0-9a-f]{12}:/.test(value)).length;
      }
    }
    const notes = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").get() !== undefined;
    return {
      version: Number(db.pragma('user_version', { simple: true })),
      schema: sha(JSON.stringify(words)),
      content,
      clear,
      sealed,
      note: notes
        ? ((db.prepare("SELECT value FROM notes WHERE name = 'secret_key'").pluck().get() as
            | string
            | undefined) ?? null)
        : null,
      integrity: String(db.pragma('integrity_check', { simple: true })),
    };
  } finally {
    db.close();
  }
}

function isWholeCopy(path: string, columns: ReadonlyMap<string, readonly string[]>, before: Found): boolean {
  try {
    const copy = look(path, columns);
    return copy.content === before.content && copy.schema === before.schema && copy.integrity === 'ok';
  } catch {
    return false;
  }
}

function columnsOf(path: string): Map<string, readonly string[]> {
  const db = new Database(path, { readonly: true });
  try {
    const tables = db
      .prepare<[], string>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'spoken%' ORDER BY name",
      )
      .pluck()
      .all();
    return new Map(
      tables
        // A daemon that opens a database enters itself, and a note of its key.
        .filter((table) => !table.startsWith('sqlite_') && table !== 'notes' && table !== 'daemons')
        .map((table) => [
          table,
          (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name),
        ]),
    );
  } finally {
    db.close();
  }
}

/** Opens the store in a process of its own and kills it `afterMs` after it has begun; never for Infinity. @returns ms it took */
async function openAndKill(path: string, afterMs: number): Promise<{ finished: boolean; ms: number }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'upgrade-open.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((begun) => {
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (said.includes('begins')) begun();
    });
    child.on('exit', () => begun());
  });
  const begun = performance.now();
  const timer = afterMs === Infinity ? undefined : setTimeout(() => child.kill('SIGKILL'), afterMs);
  await exited;
  clearTimeout(timer);
  const finished = said.includes('is open');
  if (afterMs === Infinity && !finished) throw new Error('the store did not open');
  return { finished, ms: performance.now() - begun };
}

export interface UpgradeReport {
  seed: number;
  kills: number;
  /** What the file was found to be after a kill. */
  old: number;
  fresh: number;
  sealed: number;
  /** Kills that came when all was done. */
  late: number;
  faults: string[];
}

/** Kills upgrades from each of `schemas` in turn, `kills` times in all. */
export async function killUpgrades(o: {
  kills: number;
  seed: number;
  schemas?: readonly number[];
  /** In each database. */
  calls?: number;
  say?: (line: string) => void;
}): Promise<UpgradeReport> {
  const { kills, seed, schemas = OLD_SCHEMAS, calls = CALLS, say = () => {} } = o;
  const chance = seeded(seed);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-upgrade-'));
  const report: UpgradeReport = { seed, kills: 0, old: 0, fresh: 0, sealed: 0, late: 0, faults: [] };
  try {
    for (const [index, schema] of schemas.entries()) {
      const fixture = join(folder, `schema-${schema}`, 'offhook.db');
      build(fixture, schema, calls);
      const columns = columnsOf(fixture);
      const before = look(fixture, columns);
      const put = (name: string) => {
        const path = join(folder, `${schema}-${name}`, 'offhook.db');
        mkdirSync(join(path, '..'));
        copyFileSync(fixture, path);
        return path;
      };
      const whole = put('whole');
      const { ms } = await openAndKill(whole, Infinity);
      const after = look(whole, columns);
      const fault = (what: string) => report.faults.push(`schema ${schema}, kill ${report.kills}: ${what}`);
      if (after.content !== before.content) fault('an upgrade without a kill changes what was there');
      if (after.clear > 0 || after.sealed !== before.clear)
        fault('an upgrade without a kill seals not everything');

      const share = Math.floor(kills / schemas.length) + (index < kills % schemas.length ? 1 : 0);
      for (let n = 0; n < share; n++) {
        const path = put(String(n));
        const data = join(path, '..');
        // Once more on what the kill before has left, every third time.
        const times = n % 3 === 2 && n + 1 < share ? 2 : 1;
        if (times === 2) n++;
        for (let time = 0; time < times; time++) {
          report.kills++;
          const { finished } = await openAndKill(path, chance() * ms);
          if (finished) report.late++;
          // Its own WAL and all: what a look by SQLite alone finds is what the next start finds.
          const found = look(path, columns);
          if (found.integrity !== 'ok') fault(`damaged: ${found.integrity}`);
          if (found.content !== before.content) fault('a row is lost or changed');
          const isOld = found.version === before.version && found.schema === before.schema;
          const isNew = found.version === after.version && found.schema === after.schema;
          if (!isOld && !isNew) fault(`between schemas: user_version ${found.version}`);
          if (found.clear > 0 && found.sealed > 0) fault('some secrets are sealed, and some are not');
          if (found.sealed > 0 !== (found.note !== null)) fault('the note of the key is not what holds');
          if (isOld) report.old++;
          else if (found.sealed > 0) report.sealed++;
          else report.fresh++;
          for (const name of readdirSync(data).filter((one) => one.endsWith('.bak'))) {
            if (!isWholeCopy(join(data, name), columns, before)) fault(`the copy ${name} is not whole`);
          }
        }
        const { finished } = await openAndKill(path, Infinity);
        const found = look(path, columns);
        if (!finished || found.schema !== after.schema || found.content !== before.content) {
          fault('the next start does not complete the upgrade');
        }
        const left = readdirSync(data).filter((name) => name.includes('.partial'));
        if (left.length > 0) fault(`${left.join(', ')} is left for ever`);
        const store = await openStore({ path });
        const organization = await store.firstOrganization();
        if (organization?.webhook_secret !== SECRET) fault('a secret is not what it was');
        const [call] = await store.listCalls(organization?.id ?? '', { search: 'order' }, { limit: 1 });
        const tools = call && (await store.findCall(call.id))?.tools;
        if (JSON.stringify(tools) !== JSON.stringify([TOOL])) fault('a tool is not what it was');
        await store.close();
        for (const name of readdirSync(data).filter((one) => /^offhook\.db(-wal|-shm)?$/.test(one))) {
          if (readFileSync(join(data, name), 'latin1').includes(SECRET))
            fault(`a secret is readable in ${name}`);
        }
        rmSync(data, { recursive: true });
      }
      say(
        `schema ${schema}: upgrade takes ${Math.round(ms)} ms; ${JSON.stringify({ ...report, faults: report.faults.length })}`,
      );
    }
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
  return report;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const kills = Number(process.argv[2] ?? 50);
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const report = await killUpgrades({ kills, seed, say: console.log });
  console.log(JSON.stringify(report, null, 2));
  process.exit(report.faults.length === 0 ? 0 : 1);
}
