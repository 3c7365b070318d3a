// Calls of other daemons on the folder, of which nobody tells this one: read where they are stored, every two seconds, so that
// the live view and its counts have all calls that are on. Who has the floor there is not known here.
import type { CallObserver } from '../../bridge/calls/call-observers.ts';
import type { Log } from '../../log.ts';
import type { CallRecord, TranscriptItemRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

export interface OthersCallsOptions {
  store: Pick<Store, 'self' | 'daemons' | 'ownerOf' | 'unfinishedCalls' | 'findCall' | 'listTranscript'>;
  /** Of the feed alone: what is told here is counted elsewhere. */
  observer: Pick<CallObserver, 'changed' | 'words' | 'ended'>;
  /** Whether anybody looks at the calls of an organization. */
  isWatched(orgId: string): boolean;
  log: Pick<Log, 'warn'>;
}

interface Seen {
  updatedAt: string;
  /** As they were last told, by the item's id. */
  words: Map<string, string>;
}

const EVERY_MS = 2_000;

export class OthersCalls {
  readonly #o: OthersCallsOptions;
  readonly #seen = new Map<string, Seen>();
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> | null = null;

  constructor(o: OthersCallsOptions) {
    this.#o = o;
  }

  /** Looks again and again from now on, one look at a time. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#look ??= this.look()
        .catch((error: unknown) => this.#o.log.warn({ err: error }, 'live.others_not_read'))
        .finally(() => {
          this.#look = null;
        });
    }, EVERY_MS).unref();
  }

  /** Looks no more. Safe to call twice. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#look;
  }

  /** Tells what has changed since the last look. */
  async look(): Promise<void> {
    const { store, observer } = this.#o;
    if (this.#seen.size === 0 && (await store.daemons()).length < 2) return;
    const on = new Set<string>();
    for (const call of await store.unfinishedCalls()) {
      if (!(await this.#isOthers(call.id))) continue;
      on.add(call.id);
      await this.#tell(call);
    }
    for (const id of this.#seen.keys()) {
      if (on.has(id)) continue;
      this.#seen.delete(id);
      // One that this daemon has taken over tells of itself from now on.
      const call = await store.findCall(id);
      if (call !== null && call.ended_at !== null) observer.ended?.(call);
    }
  }

  async #isOthers(callId: string): Promise<boolean> {
    const { store } = this.#o;
    const owner = await store.ownerOf(callId);
    return owner !== null && owner.epoch !== store.self().epoch;
  }

  async #tell(call: CallRecord): Promise<void> {
    const { store, observer, isWatched } = this.#o;
    const seen = this.#seen.get(call.id) ?? { updatedAt: '', words: new Map() };
    this.#seen.set(call.id, seen);
    if (seen.updatedAt !== call.updated_at) observer.changed?.(call);
    seen.updatedAt = call.updated_at;
    if (!isWatched(call.org_id)) return;
    const news = (await store.listTranscript(call.id)).filter((item) => isNew(seen, item));
    if (news.length > 0) observer.words?.(call.id, news);
  }
}

function isNew(seen: Seen, item: TranscriptItemRecord): boolean {
  const text = JSON.stringify(item);
  if (seen.words.get(item.id) === text) return false;
  seen.words.set(item.id, text);
  return true;
}
