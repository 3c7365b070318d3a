// What is said on one call and how fast it is answered, as it is stored and told to whoever watches.
import type { TranscriptItemRecord } from '../../storage/records.ts';
import type { TranscriptUpdate, TurnTimes } from '../protocol/messages.ts';
import type { CallContext } from './call-context.ts';
import type { InterruptionTimes } from './turn-log.ts';

type Needs = Pick<CallContext, 'store' | 'transcripts' | 'turnLog' | 'observer' | 'now'>;

export class CallWords {
  readonly #o: Needs;
  readonly #callId: string;
  readonly #saving = new Set<Promise<unknown>>();
  /** Lines of the agent's of which nobody has said yet what was heard, by their id. */
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
  async takeUp(): Promise<void> {
    for (const record of await this.#o.store.listTranscript(this.#callId)) this.#keepOpen(record);
  }

  /** No word comes any more: of what the agent was saying, no more was heard than is known of. Begins to store that. */
  breakOff(): void {
    const cut = [...this.#open.values()].map((line) => ({
      ...line,
      interrupted: line.heard_text !== line.text,
    }));
    this.#open.clear();
    if (cut.length > 0) void this.#save(cut);
  }

  /** Resolves when all that was said so far is stored, or cannot be; null: it is. */
  get saving(): Promise<unknown> | null {
    return this.#saving.size === 0 ? null : Promise.allSettled([...this.#saving]);
  }

  turn(times: TurnTimes): void {
    const turn = this.#o.turnLog.turn(this.#callId, times);
    this.#o.observer.turn?.(turn);
  }

  interruption(times: InterruptionTimes, takenBack: boolean): void {
    const interruption = this.#o.turnLog.interruption(this.#callId, times, takenBack);
    this.#o.observer.interruption?.(interruption);
  }

  /** No turn comes any more. Resolves when all that came are stored. */
  close(): Promise<void> {
    const stored = this.#o.turnLog.flush();
    this.#o.turnLog.forget(this.#callId);
    return stored;
  }

  #keepOpen(record: TranscriptItemRecord): void {
    if (record.role === 'agent' && record.end_ms === null) this.#open.set(record.id, record);
    else this.#open.delete(record.id);
  }

  async #save(records: readonly TranscriptItemRecord[]): Promise<void> {
    const saving = this.#o.transcripts(records);
    this.#saving.add(saving);
    const saved = await saving.finally(() => this.#saving.delete(saving));
    if (saved.length > 0) this.#o.observer.words?.(this.#callId, saved);
  }
}
