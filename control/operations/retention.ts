// Carries out how long what is kept: once an hour, calls that are older than their rule says, a few at a time, their files before
// their rows. What a crash has cut off is found again: how far it has come is written down after it is done.
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import { type Erasures, type ErasuresOptions, recordingOf } from './erasures.ts';

const EVERY_MS = 3_600_000;

export interface RetentionOptions {
  store: Pick<Store, 'dueToSweep' | 'sweep' | 'markSwept' | 'clearIndex'>;
  log: Log;
  now: () => Date;
  recordings: ErasuresOptions['recordings'];
  files: Pick<Erasures, 'deleteFiles'>;
  /** For tests. */
  everyMs?: number;
}

export class Retention {
  readonly #o: RetentionOptions;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | null = null;

  /** Nothing is swept until it is started. */
  constructor(o: RetentionOptions) {
    this.#o = o;
  }

  /** Sweeps now, and every hour. */
  start(): void {
    void this.sweep();
    this.#timer = setInterval(() => void this.sweep(), this.#o.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  /** Sweeps once; while that lasts, whoever asks gets that one. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll()
      .catch((error: unknown) => this.#o.log.error({ err: error }, 'retention.failed'))
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  /** The rest is the next start's. Safe to call twice. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    const { store, log, now, recordings, files } = this.#o;
    const { signal } = this.#closing;
    const before = now().toISOString();
    const swept: Record<string, number> = {};
    let filesOf: ((path: string) => string[]) | null = null;
    while (!signal.aborted) {
      const due = await store.dueToSweep(before);
      if (due === null) break;
      const { kind, calls, done } = due;
      if (kind === 'recordings' || kind === 'calls') {
        filesOf ??= await recordings();
        await files.deleteFiles(calls.map(recordingOf).flatMap(filesOf));
      }
      await store.sweep(kind, calls);
      await store.markSwept(done);
      if (calls.length > 0) swept[kind] = (swept[kind] ?? 0) + calls.length;
    }
    if (Object.keys(swept).length === 0) return;
    log.info({ calls: swept }, 'retention.swept');
    // What was said is merged out of the index of words.
    if ('transcripts' in swept || 'calls' in swept)
      while (!signal.aborted && (await store.clearIndex())) await breath();
  }
}

const breath = () => new Promise<void>((resolve) => setImmediate(resolve));
