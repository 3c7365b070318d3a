// What was timed on calls, numbered, and written in batches: a turn is no reason for a transaction of its own.
import { v7 as newId } from 'uuid';
import type { Log } from '../../log.ts';
import type { InterruptionRecord, TurnRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { tenths } from '../../storage/turn-view.ts';
import type { TurnTimes } from '../protocol/messages.ts';

/** How long a turn may wait for others. A crash loses no more than this, and no call's state hangs on it. */
const BATCH_MS = 250;

/** Times in milliseconds since the media stream's start. */
export interface InterruptionTimes {
  atMs: number;
  onsetMs?: number | null;
  heldMs?: number | null;
  silencedMs?: number | null;
}

export interface TurnLog {
  /** Answers the record, which is stored a moment later. */
  turn(callId: string, times: TurnTimes): TurnRecord;
  /** One that was not taken back is of the last turn. */
  interruption(callId: string, times: InterruptionTimes, takenBack: boolean): InterruptionRecord;
  /** Writes what waits, and resolves when all that was ever given is stored; to be done before a call counts as final. */
  flush(): Promise<void>;
  /** The call is gone: its numbering is forgotten. */
  forget(callId: string): void;
}

type Batch = Parameters<Store['saveTurns']>[0];

const tenthsOrNull = (ms: number | null | undefined) => (ms == null ? null : tenths(ms));

/**
 * An empty log. What cannot be stored is told to `log` and lost: no call waits for it.
 * @param replaced told of calls that turn out to be another daemon's
 */
export function openTurnLog(
  store: Pick<Store, 'saveTurns'>,
  log: Log,
  replaced: (callIds: readonly string[]) => void,
): TurnLog {
  /** The last turn of each call. */
  const lasts = new Map<string, TurnRecord>();
  let turns: TurnRecord[] = [];
  let interruptions: InterruptionRecord[] = [];
  const underWay = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | null = null;

  function later(): void {
    timer ??= setTimeout(() => void flush(), BATCH_MS).unref();
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (turns.length + interruptions.length > 0) {
      const batch = { turns, interruptions };
      turns = [];
      interruptions = [];
      const saved = write(batch).catch((error: unknown) => saveAlone(batch, error));
      underWay.add(saved);
      void saved.finally(() => underWay.delete(saved));
    }
    await Promise.all(underWay);
  }

  async function write(batch: Batch): Promise<void> {
    const others = await store.saveTurns(batch);
    if (others.length === 0) return;
    log.warn({ call_ids: others }, 'turns.not_owned');
    replaced(others);
  }

  /** One by one, what was refused together: a row that cannot be stored takes no other one with it. */
  async function saveAlone(batch: Batch, refusal: unknown): Promise<void> {
    const rows: Batch[] = [
      ...batch.turns.map((turn) => ({ turns: [turn], interruptions: [] })),
      ...batch.interruptions.map((one) => ({ turns: [], interruptions: [one] })),
    ];
    const saved = await Promise.allSettled(rows.length === 1 ? [] : rows.map(write));
    const lost = rows.filter((_row, at) => saved[at]?.status !== 'fulfilled');
    const reason = saved.find((one) => one.status === 'rejected')?.reason ?? refusal;
    log.error(
      {
        turns: lost.filter((row) => row.turns.length > 0).length,
        interruptions: lost.filter((row) => row.interruptions.length > 0).length,
        of: rows.length,
        err: reason,
      },
      'turns.not_stored',
    );
  }

  return {
    turn(callId, times) {
      const turn_index = (lasts.get(callId)?.turn_index ?? 0) + 1;
      const turn: TurnRecord = {
        id: newId(),
        call_id: callId,
        turn_index,
        kind: times.kind,
        speech_end_ms: tenthsOrNull(times.speechEndMs),
        decided_ms: tenths(times.decidedMs),
        requested_ms: tenthsOrNull(times.requestedMs),
        first_model_audio_ms: tenthsOrNull(times.firstModelAudioMs),
        first_sent_ms: tenthsOrNull(times.firstSentMs),
        first_heard_ms: tenthsOrNull(times.firstHeardMs),
        barged_in: times.bargedIn,
      };
      lasts.set(callId, turn);
      turns.push(turn);
      later();
      return turn;
    },
    interruption(callId, times, takenBack) {
      const one: InterruptionRecord = {
        id: newId(),
        call_id: callId,
        at_ms: tenths(times.atMs),
        onset_ms: tenthsOrNull(times.onsetMs),
        held_ms: tenthsOrNull(times.heldMs),
        silenced_ms: tenthsOrNull(times.silencedMs),
        taken_back: takenBack,
      };
      interruptions.push(one);
      const last = lasts.get(callId);
      if (!takenBack && last !== undefined && !last.barged_in) {
        // Told when its first sound was heard, and cut short since.
        const cut = { ...last, barged_in: true };
        lasts.set(callId, cut);
        turns.push(cut);
      }
      later();
      return one;
    },
    flush,
    forget: (callId) => void lasts.delete(callId),
  };
}
