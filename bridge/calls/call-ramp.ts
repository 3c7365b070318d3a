// How many calls begin in a second: a call costs most while it begins, and what a burst will cost shows only when it is there.
// Who comes too soon waits a little for its turn; who would wait too long is told so at once. The rule is admission.ts.
import { every } from '../loop-timer.ts';
import { type AdmissionRules, afterRampSecond, RAMP_START } from './admission.ts';

export interface CallRamp {
  /**
   * A call asks to begin. True: now. Else it resolves once its turn has come, or with false when that would take too long
   * or the ramp was closed.
   */
  turn(): true | Promise<boolean>;
  /** A request has waited so long for the control thread, in milliseconds. */
  requestWaited(ms: number): void;
  close(): void;
}

export interface CallRampOptions {
  rules: AdmissionRules;
  /** Whether a media thread was late in its last second. */
  late: () => boolean;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  /** Runs again and again; the answer stops it. */
  every?: typeof every;
}

/** Longer nobody waits for his turn: whoever dispatches can come again, and whoever calls hears it ring. */
const MOST_WAIT_MS = 6_000;
const STEP_MS = 50;
const SECOND_MS = 1_000;

/** With rules by which nothing is late every call begins at once. */
export function openCallRamp(o: CallRampOptions): CallRamp {
  const now = o.now ?? (() => performance.now());
  const waiting: { sinceMs: number; tell(mayBegin: boolean): void }[] = [];
  let perSecond = RAMP_START;
  /** Calls that may begin now; a second's worth at most. */
  let turns = perSecond;
  let filledAt = now();
  let begun = 0;
  let requestWaitMs = 0;

  function fill(): void {
    const at = now();
    turns = Math.min(Math.max(1, perSecond), turns + ((at - filledAt) / SECOND_MS) * perSecond);
    filledAt = at;
  }

  function begin(): boolean {
    if (turns < 1) return false;
    turns -= 1;
    begun += 1;
    return true;
  }

  function second(): void {
    fill();
    perSecond = afterRampSecond(perSecond, { begun, requestWaitMs, late: o.late() }, o.rules);
    begun = 0;
    requestWaitMs = 0;
  }

  function step(): void {
    fill();
    while (waiting.length > 0 && begin()) waiting.shift()?.tell(true);
    // The pace may have fallen since they were told to wait.
    for (let first = waiting[0]; first && filledAt - first.sinceMs > MOST_WAIT_MS; first = waiting[0]) {
      waiting.shift();
      first.tell(false);
    }
    if (waiting.length === 0) stopSteps();
  }

  const again = o.every ?? every;
  const stopSeconds = again(SECOND_MS, second);
  /** While somebody waits. */
  let steps: (() => void) | null = null;
  function stopSteps(): void {
    steps?.();
    steps = null;
  }

  return {
    turn() {
      if (o.rules.lateMs === 0) return true;
      fill();
      if (waiting.length === 0 && begin()) return true;
      if (((waiting.length + 1 - turns) / perSecond) * SECOND_MS > MOST_WAIT_MS)
        return Promise.resolve(false);
      steps ??= again(STEP_MS, step);
      return new Promise((tell) => waiting.push({ sinceMs: filledAt, tell }));
    },
    requestWaited(ms) {
      if (ms > requestWaitMs) requestWaitMs = ms;
    },
    close() {
      stopSeconds();
      stopSteps();
      for (const { tell } of waiting.splice(0)) tell(false);
    },
  };
}
