// What is said on one call and how fast it is answered, as it is stored and told to whoever watches.
import type { TranscriptItemRecord } from '../../storage/records.ts';
import { UNINTELLIGIBLE } from '../protocol/agent-texts.ts';
import type { TranscriptUpdate, TurnTimes } from '../protocol/messages.ts';
import type { CallContext } from './call-context.ts';
import type { InterruptionTimes } from './turn-log.ts';

type Needs = Pick<CallContext, 'store' | 'transcripts' | 'turnLog' | 'observer' | 'now'>;

export class CallWords {
  readonly #o: Needs;
  readonly #callId: string;
  /** Words that are being stored, or are still to come. */
  readonly #awaited = new Set<Promise<unknown>>();
  /** Lines that are stored next: when those before them are, so that what is newer of a line is written last. */
  #next: { records: TranscriptItemRecord[]; stored: Promise<readonly TranscriptItemRecord[]> } | null = null;
  #before: Promise<unknown> = Promise.resolve();
  /** Writes that are on their way, or wait for one that is. */
  #storing = 0;
  /** Somebody waits for all of it. */
  #hurried = false;
  /** Lines of the agent's of which nobody has said yet what was heard, and turns of the caller's without their words, by their id. */
  readonly #open = new Map<string, TranscriptItemRecord>();

  constructor(o: Needs, callId: string) {
    this.#o = o;
    this.#callId = callId;
  }

  /** `startedAt`: when the call's stream began; null where it has not. Resolves when it is stored. */
  async said(items: readonly TranscriptUpdate[], startedAt: string | null): Promise<void> {
    const base = Date.parse(startedAt ?? this.#o.now().toISOString());
    const records = items.map((item) => ({
      id: item.id,
      call_id: this.#callId,
      role: item.role,
      text: item.text,
      heard_text: item.heardText,
      interrupted: item.interrupted,
      started_at: new Date(base + item.startMs).toISOString(),
      start_ms: Math.round(item.startMs),
      end_ms: item.endMs === null ? null : Math.round(item.endMs),
    }));
    for (const record of records) this.#keepOpen(record);
    await this.#save(records);
  }

  /** Reads what a process that has died was told last. */
  async takeUp(): Promise<TranscriptItemRecord[]> {
    const told = await this.#o.store.listTranscript(this.#callId);
    for (const record of told) this.#keepOpen(record);
    return told;
  }

  /**
   * No word comes any more of whoever has had the call up to now: of what the agent was saying, no more was heard than is known
   * of, and what the caller said was not understood. Begins to store that.
   * @param lostMs when the sound was lost, since the first stream's start: such a line ended then; null: that is not known
   */
  breakOff(lostMs: number | null = null): void {
    const ended = ({ start_ms, end_ms }: TranscriptItemRecord) =>
      end_ms ?? (lostMs === null ? null : Math.max(start_ms, lostMs));
    const cut = [...this.#open.values()].map((line) =>
      line.role === 'caller'
        ? { ...line, text: UNINTELLIGIBLE, heard_text: UNINTELLIGIBLE }
        : { ...line, interrupted: line.heard_text !== line.text, end_ms: ended(line) },
    );
    this.#open.clear();
    if (cut.length > 0) void this.#save(cut);
  }

  /** Resolves when what was said so far is stored, or cannot be. */
  async written(): Promise<void> {
    this.#hurried = true;
    for (let last: unknown = null; last !== this.#before; ) {
      last = this.#before;
      await this.#o.store.flush();
      await last;
    }
    this.#hurried = false;
  }

  /** Words come of this, or are stored by it. Answers the same. */
  awaits<T>(words: Promise<T>): Promise<T> {
    this.#awaited.add(words);
    const over = () => void this.#awaited.delete(words);
    words.then(over, over);
    return words;
  }

  /** Resolves when all words, and every turn, are stored or cannot be. */
  async stored(): Promise<void> {
    this.#hurried = true;
    do {
      await this.#o.store.flush();
      await Promise.allSettled([...this.#awaited]);
      await this.#o.turnLog.flush();
    } while (this.#awaited.size > 0);
  }

  turn(times: TurnTimes): void {
    const turn = this.#o.turnLog.turn(this.#callId, times);
    this.#o.observer.turn?.(turn);
  }

  interruption(times: InterruptionTimes, takenBack: boolean): void {
    const interruption = this.#o.turnLog.interruption(this.#callId, times, takenBack);
    this.#o.observer.interruption?.(interruption);
  }

  /** No turn comes any more. */
  close(): void {
    this.#o.turnLog.forget(this.#callId);
  }

  #keepOpen(record: TranscriptItemRecord): void {
    const { role, end_ms, text } = record;
    const open = role === 'agent' ? end_ms === null : role === 'caller' && text === '';
    if (open) this.#open.set(record.id, record);
    else this.#open.delete(record.id);
  }

  async #save(records: readonly TranscriptItemRecord[]): Promise<void> {
    const saved = await this.awaits(this.#store(records));
    if (saved.length > 0) this.#o.observer.words?.(this.#callId, saved);
  }

  /** With all else that comes until those before are stored. @returns those of them that are stored */
  async #store(records: readonly TranscriptItemRecord[]): Promise<readonly TranscriptItemRecord[]> {
    if (this.#next === null) {
      const gathered: TranscriptItemRecord[] = [];
      // What has waited for others of the call waits for none of another.
      const waited = this.#storing > 0;
      this.#storing++;
      const stored = this.#before
        .then(() => {
          this.#next = null;
          return this.#o.transcripts(gathered, { patient: !waited && !this.#hurried });
        })
        .finally(() => this.#storing--);
      this.#before = stored;
      this.#next = { records: gathered, stored };
    }
    this.#next.records.push(...records);
    const stored = new Set(await this.#next.stored);
    return records.filter((record) => stored.has(record));
  }
}
