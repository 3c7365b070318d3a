// Writes that share commits, drawn at random: requests and facts, patient and not, long by themselves, refused, broken; a disk
// that is full in the middle of a commit, or takes none for a while; a close with all of it open. What must hold of each is
// held to what another process would see.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openConnection, Refusal } from '../../../storage/sqlite/connection.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import type { News } from '../../../storage/sqlite/subscribers.ts';
import { RUNS, SEED } from '../../bridge/seed.ts';
import { type Random, seeded } from '../../random.ts';

const WRITES = 120;
const LARGE = 'x'.repeat(2_500);

/** What became of a write: what it was answered with, and what it came to. */
interface Asked {
  word: string;
  isFact: boolean;
  /** What its own work does with it. */
  goes: 'well' | 'refused' | 'wrong';
  answer: 'none' | 'stored' | 'kept' | 'refused' | 'failed';
}

const oneOf = <T>(random: Random, ...of: T[]): T => of[Math.floor(random() * of.length)] as T;
const turn = () => new Promise((next) => setImmediate(next));

/** One history; answers what did not hold. */
async function run(t: Test, seed: number): Promise<string[]> {
  const random = seeded(seed);
  const wrong: string[] = [];
  const path = join(t.testdir(), 'offhook.db');
  const database = openDatabase({ path });
  const { db } = database;
  db.exec('CREATE TABLE noted (word TEXT PRIMARY KEY, sound TEXT)');
  const pages = Number(db.pragma('page_count', { simple: true }));
  const disk = { fails: null as string | null, ms: 0 };
  const connection = openConnection({
    db,
    owner: database.daemon.epoch,
    clock: () => new Date(0),
    monotonicMs: () => disk.ms,
    onWrite() {
      if (disk.fails !== null) throw new Database.SqliteError('not taken', disk.fails);
    },
  });
  const shell = new Database(path, { readonly: true });
  const found = shell.prepare('SELECT count(*) FROM noted WHERE word = ?').pluck();
  const isThere = (word: string) => found.get(word) === 1;
  const told: string[] = [];
  connection.subscribe({
    event({ id }) {
      told.push(id);
      if (!isThere(id)) wrong.push(`${id} was told before it was there`);
      if (random() < 0.05) throw new Error('a listener that fails');
    },
  });

  function ask(word: string): { asked: Asked; over: Promise<void> } {
    const asked: Asked = { word, isFact: random() < 0.5, goes: 'well', answer: 'none' };
    if (random() < 0.3) asked.goes = oneOf(random, 'refused', 'wrong');
    const sound = random() < 0.2 ? LARGE : '';
    const takesMs = random() < 0.1 ? 8 : 0;
    const work = (news: News) => {
      disk.ms += takesMs;
      db.prepare('INSERT INTO noted VALUES (?, ?)').run(word, sound);
      news.events.push({ id: word } as never);
      if (asked.goes === 'refused') throw new Refusal('refused');
      if (asked.goes === 'wrong') db.prepare('INSERT INTO noted VALUES (?, ?)').run(word, sound);
      return 'stored' as const;
    };
    const sharing = { patient: random() < 0.4, alone: random() < 0.1 };
    const callId = oneOf(random, 'call', null);
    const answer = !asked.isFact
      ? connection.tryWrite(work, sharing)
      : connection.tryWriteFact<'stored' | 'kept'>({ callId, work, meanwhile: () => 'kept' }, sharing);
    const over = answer.then(
      (given) => {
        asked.answer = typeof given === 'string' ? given : 'refused';
        if (given === 'stored' && db.open && !isThere(word)) wrong.push(`${word} was told before its commit`);
      },
      () => {
        asked.answer = 'failed';
      },
    );
    return { asked, over };
  }

  const all: ReturnType<typeof ask>[] = [];
  for (let n = 0; n < WRITES; n++) {
    all.push(ask(`${n}`));
    if (random() < 0.3) await turn();
    if (random() < 0.02) await connection.flush();
    if (random() < 0.06)
      disk.fails = disk.fails === null ? oneOf(random, 'SQLITE_FULL', 'SQLITE_IOERR_WRITE') : null;
    if (random() < 0.05)
      db.pragma(`max_page_count = ${oneOf(random, pages + 1, pages + 4, pages + 8, 1_000_000)}`);
  }
  disk.fails = null;
  db.pragma('max_page_count = 1000000');
  connection.close();
  await Promise.all(all.map(({ over }) => over));
  const rows = shell.prepare('SELECT word FROM noted ORDER BY rowid').pluck().all() as string[];
  const there = new Set(rows);
  for (const { word, isFact, goes, answer } of all.map(({ asked }) => asked)) {
    if (isFact && goes === 'well' && answer === 'failed')
      wrong.push(`${word} has happened, and was not taken`);
    if (answer === 'none') wrong.push(`${word} was never answered`);
    const should = goes === 'well' && (answer === 'stored' || answer === 'kept');
    if (there.has(word) !== should)
      wrong.push(`${word} (${goes}, ${answer}) is ${should ? 'lost' : 'there'}`);
    if (goes !== 'well' && answer === 'stored') wrong.push(`${word} (${goes}) counts as stored`);
  }
  if (rows.some((word, at) => at > 0 && Number(word) < Number(rows[at - 1]))) wrong.push('another order');
  if (told.join() !== rows.join()) wrong.push('told otherwise than stored');
  shell.close();
  database.close();
  return wrong;
}

t.test('each is there whole or not at all, in its order, and before anybody hears of it', async (t) => {
  for (let seed = SEED; seed < SEED + 6 * RUNS; seed++)
    await t.test(`seed ${seed}`, async (t) => t.same(await run(t, seed), []));
});
