// What was timed on calls, numbered, and on its way to storage: nobody waits for it, so that it shares its commit.
import { v7 as newId } from 'uuid';
import type { Log } from '../../log.ts';
import type { InterruptionRecord, TurnRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { tenths } from '../../storage/turn-view.ts';
import type { TurnTimes } from '../protocol/messages.ts';

/** Times in milliseconds since the media stream's start. */
export interface InterruptionTimes {
  atMs: number;
  onsetMs?: number | null;
  heldMs?: number | null;
  pausedMs?: number | null;
  silencedMs?: number | null;
}

export interface TurnLog {
  /** Answers the record, which is stored a moment later. */
  turn(callId: string, times: TurnTimes): TurnRecord;
  /** One that was not taken back is of the last turn. */
  interruption(callId: string, times: InterruptionTimes, takenBack: boolean): InterruptionRecord;
  /** Has what waits written, and resolves when all that was ever given is stored; to be done before a call counts as final. */
  flush(): Promise<void>;
  /** The call is gone: its numbering is forgotten. */
  forget(callId: string): void;
}

/** Rows that could not be stored at about the same time: they are told as one. */
interface Lost {
  turns: number;
  interruptions: number;
  err: unknown;
}

const tenthsOrNull = (ms: number | null | undefined) => (ms == null ? null : tenths(ms));

/**
 * An empty log. What cannot be stored is told to `log` and lost, and takes nothing else with it: no call waits for it.
 * @param replaced told of calls that turn out to be another daemon's
 */
export function openTurnLog(
  store: Pick<Store, 'saveTurns' | 'flush'>,
  log: Log,
  replaced: (callIds: readonly string[]) => void,
): TurnLog {
  /** The last turn of each call. */
  const lasts = new Map<string, TurnRecord>();
  const underWay = new Set<Promise<unknown>>();
  let lost: Lost | null = null;

  function lose(turns: number, interruptions: number, err: unknown): void {
    if (lost === null) {
      lost = { turns: 0, interruptions: 0, err };
      setImmediate(() => {
        log.error({ ...lost }, 'turns.not_stored');
        lost = null;
      });
    }
    lost.turns += turns;
    lost.interruptions += interruptions;
  }

  async function write(turns: readonly TurnRecord[], interruptions: readonly InterruptionRecord[]) {
    try {
      const others = await store.saveTurns({ turns, interruptions }, { patient: true });
      if (others.length === 0) return;
      log.warn({ call_ids: others }, 'turns.not_owned');
      replaced(others);
    } catch (error) {
      lose(turns.length, interruptions.length, error);
    }
  }

  function save(turns: readonly TurnRecord[], interruptions: readonly InterruptionRecord[]): void {
    const saved = write(turns, interruptions);
    underWay.add(saved);
    void saved.finally(() => underWay.delete(saved));
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
        thrown_away: times.thrownAway,
      };
      lasts.set(callId, turn);
      save([turn], []);
      return turn;
    },
    interruption(callId, times, takenBack) {
      const one: InterruptionRecord = {
        id: newId(),
        call_id: callId,
        at_ms: tenths(times.atMs),
        onset_ms: tenthsOrNull(times.onsetMs),
        held_ms: tenthsOrNull(times.heldMs),
        paused_ms: tenthsOrNull(times.pausedMs),
        silenced_ms: tenthsOrNull(times.silencedMs),
        taken_back: takenBack,
      };
      save([], [one]);
      const last = lasts.get(callId);
      if (!takenBack && last !== undefined && !last.barged_in) {
        // Told when its first sound was heard, and cut short since.
        const cut = { ...last, barged_in: true };
        lasts.set(callId, cut);
        save([cut], []);
      }
      return one;
    },
    async flush() {
      if (underWay.size === 0) return;
      await store.flush();
      await Promise.all(underWay);
    },
    forget: (callId) => void lasts.delete(callId),
  };
}
