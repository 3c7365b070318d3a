// PURE. What the caller's voice does, as our own ear has it. Only from `speaking` on is it speech; milliseconds of the call.

export type Voice =
  | { is: 'quiet' }
  | { is: 'starting'; onsetMs: number }
  /** `stoppedMs`: stops of less than a pause since the onset, all together. `unsure`: it may be another's than the caller's. */
  | { is: 'speaking'; onsetMs: number; stoppedMs: number; unsure?: true }
  | { is: 'stopping'; onsetMs: number; quietMs: number };

export const QUIET_VOICE: Voice = { is: 'quiet' };
