// How the check of a database stands, as every engine tells it.

export interface Integrity {
  /** `unknown`: the check could not be made, or was ended. */
  state: 'running' | 'ok' | 'damaged' | 'unknown';
  /** The first thing that was found wrong. */
  found: string | null;
  /** How long the check took. */
  seconds: number | null;
}

export interface IntegrityCheck {
  now(): Integrity;
  /** Resolves when the check is over, whatever it found. */
  over: Promise<void>;
  /** Ends the check. Safe to call twice. */
  close(): Promise<void>;
}
