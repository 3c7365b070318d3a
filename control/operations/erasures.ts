// Carries out erasures: one at a time, a call at a time, its files before its rows. What is under way is in the database, so that
// one that a crash has cut off goes on with the next start, or in another daemon of the folder.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { BackupCopy, ErasedFile, ErasureRecord, SweptCall } from '../../storage/kept-records.ts';
import type { Store } from '../../storage/store.ts';
import { readBackups } from './backup-list.ts';

/** Below the data folder. */
const RECORDINGS = 'recordings';
const LOOK_MS = 2_000;
const AGAIN_MS = 200;
/** A file that could not be written anew is tried again so often. */
const REWRITE_MS = 600_000;
/** What a repeat of a request gets whose call was erased; the request is not made again. */
const GONE_ANSWER = {
  status: 409,
  body: JSON.stringify({
    error: {
      code: 'conflict',
      message: 'What this request made has been erased; it is not made again.',
      request_id: 'erased',
    },
  }),
};

export interface ErasuresOptions {
  store: Store;
  dataDir: string;
  log: Log;
  /** Looks through the recordings; answers which files one is, by its path. */
  recordings: () => Promise<(recordingPath: string) => string[]>;
  /** Whether something here may still write of a call that is over. */
  isOn: (callId: string) => boolean;
  /** For tests. */
  lookMs?: number;
}

export class Erasures {
  readonly #o: ErasuresOptions;
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, (() => void)[]>();
  #timer: NodeJS.Timeout | undefined;
  #rewriting: NodeJS.Timeout | undefined;
  #working: Promise<void> | null = null;
  #again = false;

  /** Nothing is looked for until it is started. */
  constructor(o: ErasuresOptions) {
    this.#o = o;
  }

  /** Goes on with what was begun, and looks for more now and then. */
  start(): void {
    this.look();
    this.#timer = setInterval(() => this.look(), this.#o.lookMs ?? LOOK_MS);
    this.#timer.unref();
    this.#rewriting = setInterval(() => void this.#rewrite(), REWRITE_MS);
    this.#rewriting.unref();
  }

  /** One was begun. */
  look(): void {
    if (this.#closing.signal.aborted) return;
    if (this.#working !== null) {
      this.#again = true;
      return;
    }
    this.#working = this.#work()
      .catch((error: unknown) => this.#o.log.error({ err: error }, 'erasure.failed'))
      .finally(() => {
        this.#working = null;
        if (this.#again) {
          this.#again = false;
          this.look();
        }
      });
  }

  /** Resolves when an erasure is done, or the time is over. */
  async done(id: string, forMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]);
    const timer = setTimeout(resolve, forMs);
    this.look();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
  }

  /** What is under way stays so, for the next start. Safe to call twice. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    clearInterval(this.#rewriting);
    await this.#working;
  }

  async #work(): Promise<void> {
    const { store, log } = this.#o;
    for (;;) {
      const erasure = await store.takeErasure();
      if (erasure === null || this.#closing.signal.aborted) return;
      await this.#carryOut(erasure);
      if (this.#closing.signal.aborted) return;
      const { counts } = (await store.getErasure(null, erasure.id)) ?? erasure;
      log.info(
        { erasure_id: erasure.id, org_id: erasure.org_id, subject: erasure.subject, counts },
        'erasure.done',
      );
      for (const resolve of this.#waiting.get(erasure.id) ?? []) resolve();
    }
  }

  async #carryOut(erasure: ErasureRecord): Promise<void> {
    const { store } = this.#o;
    const { signal } = this.#closing;
    if (erasure.state === 'running') {
      const ids = await this.#eraseCalls(erasure);
      if (signal.aborted) return;
      await this.#replaceAnswers(erasure, ids);
      while (await store.eraseRest(erasure.id)) if (signal.aborted) return;
      failpoint('erasure_before_clearing');
      await store.advanceErasure(erasure.id, { state: 'clearing' });
    }
    while (await store.clearIndex()) {
      if (signal.aborted) return;
      await breath();
    }
    failpoint('erasure_before_log');
    while (!(await store.emptyLog())) {
      if (signal.aborted) return;
      await pause(AGAIN_MS);
    }
    await store.advanceErasure(erasure.id, { state: 'done', backups: await this.#backupsBefore(erasure) });
    await this.#rewrite();
  }

  /** @returns the calls, as far as they were erased in this run */
  async #eraseCalls(erasure: ErasureRecord): Promise<Set<string>> {
    const { store, isOn } = this.#o;
    const ids = new Set<string>();
    if (erasure.call_id !== null) ids.add(erasure.call_id);
    const filesOf = await this.#o.recordings();
    let after: string | null = null;
    for (;;) {
      const call: SweptCall | null = await store.nextToErase(erasure.id, after);
      if (call === null || this.#closing.signal.aborted) return ids;
      // Its last words are being written.
      while (isOn(call.id) && !this.#closing.signal.aborted) await pause(AGAIN_MS);
      await store.stored(call.id);
      const files = await this.#filesOf(call, filesOf);
      await store.noteErasedFiles(erasure.id, files);
      failpoint('erasure_before_files');
      await this.deleteFiles(files.map(({ path }) => path));
      failpoint('erasure_before_rows');
      await store.eraseCall(erasure.id, call.id);
      ids.add(call.id);
      after = call.id;
      await breath();
    }
  }

  /** Answers that are kept for a repeat hold the call as it was. */
  async #replaceAnswers(
    { id, org_id, subject, number }: ErasureRecord,
    calls: ReadonlySet<string>,
  ): Promise<void> {
    if (subject === 'organization') return;
    const { store } = this.#o;
    for (let after: string | null = null; ; ) {
      const answers = await store.keptAnswers(org_id, after);
      for (const { key, body } of answers) {
        const has =
          (number !== null && body.includes(number)) || [...calls].some((call) => body.includes(call));
        if (has) await store.replaceAnswer(id, { orgId: org_id, key, ...GONE_ANSWER });
      }
      const last = answers.at(-1);
      if (last === undefined || this.#closing.signal.aborted) return;
      after = last.key;
      await breath();
    }
  }

  async #filesOf(call: SweptCall, filesOf: (path: string) => string[]): Promise<ErasedFile[]> {
    const files: ErasedFile[] = [];
    for (const file of filesOf(recordingOf(call))) {
      const found = await digestOf(join(this.#o.dataDir, file));
      if (found !== null) files.push({ path: file, ...found });
    }
    return files;
  }

  /** @param paths below the data folder; those that are gone already are no fault */
  async deleteFiles(paths: readonly string[]): Promise<void> {
    const { dataDir } = this.#o;
    for (const path of paths) await rm(join(dataDir, path), { force: true });
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      const handle = await open(join(dataDir, folder), 'r');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }

  /** Copies that were made before, and are there: what is in them is erased by nobody. */
  async #backupsBefore({ created_at }: ErasureRecord): Promise<BackupCopy[]> {
    const { dataDir } = this.#o;
    const beside = (await readdir(dataDir)).filter((name) =>
      /^offhook\.db\.(schema-.*\.bak|replaced-[^-]*)$/.test(name),
    );
    const copies: BackupCopy[] = [];
    for (const name of beside) {
      const { mtime } = await stat(join(dataDir, name));
      copies.push({ path: name, made_at: mtime.toISOString() });
    }
    for (const copy of await readBackups(dataDir)) {
      if (copy.made_at > created_at) continue;
      if (await stat(copy.path).catch(() => null)) copies.push(copy);
    }
    return copies.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #rewrite(): Promise<void> {
    const { store, log } = this.#o;
    try {
      if ((await store.awaitsRewriting()) && !this.#closing.signal.aborted) await store.rewriteFile();
    } catch (error) {
      // Most likely there is no room for a second copy: it is tried again.
      log.warn({ err: error }, 'erasure.file_not_rewritten');
    }
  }
}

/** One whose path was lost with a crash has its call's name. */
export const recordingOf = ({ id, recording_path }: SweptCall) =>
  recording_path ?? join(RECORDINGS, `${id}.wav`);

/** Other work comes in between. */
const breath = () => new Promise<void>((resolve) => setImmediate(resolve));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Null where there is no such file. */
async function digestOf(path: string): Promise<{ bytes: number; sha256: string } | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
