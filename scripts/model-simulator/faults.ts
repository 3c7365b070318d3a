// PURE. What can go wrong on demand: the faults a scenario or the control API arms, and which of them hits where.

const TRIGGERS = ['connect', 'configured', 'commit', 'response', 'speaking', 'now'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** At the upgrade or while the session opens. */
const CONNECT_KINDS = [
  'upgrade_status',
  'upgrade_hang',
  'close_on_open',
  'session_created_never',
  'session_created_late',
] as const;
/** At a moment of a session, by `trigger`. */
export const SESSION_KINDS = [
  'close',
  'session_expired',
  'tcp_reset',
  'half_open',
  'silence',
  'malformed_json',
  'unknown_event',
  'binary_frame',
  'error_event',
  'duplicate_events',
] as const;
const UPDATE_KINDS = ['update_unanswered', 'update_refused', 'update_ignored'] as const;
const RESPONSE_KINDS = [
  'response_failed',
  'content_filter',
  'max_output_tokens',
  'response_never',
  'response_silent',
  'stall',
  'invalid_arguments',
] as const;
const TRANSCRIPTION_KINDS = [
  'transcription_failed',
  'transcription_empty',
  'transcription_never',
  'transcription_late',
] as const;

export type ConnectKind = (typeof CONNECT_KINDS)[number];
export type SessionKind = (typeof SESSION_KINDS)[number];
export type UpdateKind = (typeof UPDATE_KINDS)[number];
export type ResponseKind = (typeof RESPONSE_KINDS)[number];
export type TranscriptionKind = (typeof TRANSCRIPTION_KINDS)[number];
export type FaultKind =
  | ConnectKind
  | SessionKind
  | UpdateKind
  | ResponseKind
  | TranscriptionKind
  | 'extraction';

const KINDS = [
  ...CONNECT_KINDS,
  ...SESSION_KINDS,
  ...UPDATE_KINDS,
  ...RESPONSE_KINDS,
  ...TRANSCRIPTION_KINDS,
  'extraction',
] as const;

/** One armed fault. Which of the optional fields a kind uses is told in README.md. */
export interface Fault {
  kind: FaultKind;
  /** How often it hits, default 1. */
  times?: number;
  /** Only this session. */
  session?: string;
  /** Only sessions whose instructions match, so that calls side by side have faults of their own. */
  for?: string;
  /** So many occasions pass first. */
  skip?: number;
  trigger?: Trigger;
  /** Delay after its trigger, or the audio that comes before it, ms. */
  after_ms?: number;
  ms?: number;
  status?: number;
  code?: string;
  close_code?: number;
  message?: string;
  error_type?: string;
  retry_after_ms?: number;
  mode?: string;
}

export const FAULT_SCHEMA = {
  type: 'object',
  required: ['kind'],
  additionalProperties: false,
  properties: {
    kind: { enum: KINDS },
    times: { type: 'integer', minimum: 1 },
    session: { type: 'string' },
    for: { type: 'string' },
    skip: { type: 'integer', minimum: 0 },
    trigger: { enum: TRIGGERS },
    after_ms: { type: 'number', minimum: 0 },
    ms: { type: 'number', minimum: 0 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string' },
    close_code: { type: 'integer', minimum: 1000, maximum: 4999 },
    message: { type: 'string' },
    error_type: { type: 'string' },
    retry_after_ms: { type: 'number', minimum: 0 },
    mode: { type: 'string' },
  },
} as const;

/** The faults still to come, in the order of arming. */
export class Faults {
  #armed: (Fault & { left: number; passed: number })[] = [];

  arm(faults: readonly Fault[]): void {
    this.#armed.push(...faults.map((fault) => ({ ...fault, left: fault.times ?? 1, passed: 0 })));
  }

  clear(): void {
    this.#armed = [];
  }

  list(): Fault[] {
    return this.#armed.map(({ left, passed: _, ...fault }) => ({ ...fault, times: left }));
  }

  /** The next fault of a kind for a session with its instructions (null: there is none yet), counted down. */
  take(kinds: readonly FaultKind[], session: string | null, instructions = ''): Fault | null {
    return this.#take((fault) => kinds.includes(fault.kind), session, instructions);
  }

  takeConnect(): Fault | null {
    return this.take(CONNECT_KINDS, null);
  }

  takeUpdate(session: string, instructions: string): Fault | null {
    return this.take(UPDATE_KINDS, session, instructions);
  }

  takeResponse(session: string, instructions: string): Fault | null {
    return this.take(RESPONSE_KINDS, session, instructions);
  }

  takeTranscription(session: string, instructions: string): Fault | null {
    return this.take(TRANSCRIPTION_KINDS, session, instructions);
  }

  /** Every fault that a moment of a session sets off. Without a trigger it is the moment the configuration is in force. */
  takeMoment(trigger: Trigger, session: string, instructions: string): Fault[] {
    const hit: Fault[] = [];
    for (;;) {
      const fault = this.#take(
        (candidate) =>
          (SESSION_KINDS as readonly string[]).includes(candidate.kind) &&
          (candidate.trigger ?? 'configured') === trigger &&
          !hit.some((taken) => taken.kind === candidate.kind),
        session,
        instructions,
      );
      if (fault === null) return hit;
      hit.push(fault);
    }
  }

  #take(fits: (fault: Fault) => boolean, session: string | null, instructions: string): Fault | null {
    const at = this.#armed.findIndex(
      (fault) => fits(fault) && meant(fault, session, instructions) && fault.passed++ >= (fault.skip ?? 0),
    );
    const found = this.#armed[at];
    if (found === undefined) return null;
    if (--found.left <= 0) this.#armed.splice(at, 1);
    const { left: _, passed: __, ...fault } = found;
    return fault;
  }
}

/** Whether a fault is meant for this session. */
export function meant(fault: Fault, session: string | null, instructions: string): boolean {
  return (
    (fault.session === undefined || fault.session === session) &&
    (fault.for === undefined || new RegExp(fault.for, 'imu').test(instructions))
  );
}
