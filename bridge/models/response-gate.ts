// PURE. The gate in front of `response.create`: at most one response is asked for or runs at a time, a cancel before
// `response.created` is carried out later, and what takes too long is told. Time comes in; effects go out as data.

/**
 * No `response.created` after a create. Like the next one shorter than the 5 s after which the talk asks again: a session
 * that hangs is replaced, and the question with it, before it is put to the same session once more.
 */
export const CREATE_LIMIT_MS = 4_000;
/** No event of a running response. */
export const PROGRESS_LIMIT_MS = 4_500;
/** No `response.done` after a cancel. */
const CANCEL_LIMIT_MS = 5_000;
/** A response that is not ours keeps ours from starting. */
const BLOCKED_LIMIT_MS = 15_000;
/** How often a response that failed for a rate limit is asked for again. */
export const MAX_RETRIES = 3;

export interface Ask {
  /** For this response beside the session's; null: none. */
  instructions: string | null;
  attempt: number;
  /** Asked again on a new session: what was said before the loss is told with it. */
  resumes: boolean;
}

export type GatePhase =
  /** No session in force: what is asked for waits. */
  | { at: 'offline' }
  | { at: 'idle' }
  | { at: 'create_requested'; eventId: string; ask: Ask; deadline: number }
  /** `ask` is null for a response the server began by itself. */
  | { at: 'active'; responseId: string; ask: Ask | null; deadline: number }
  /** `responseId` is null until the response that is to be cancelled has been created. */
  | { at: 'cancel_requested'; eventId: string | null; responseId: string | null; deadline: number }
  | { at: 'backing_off'; ask: Ask; deadline: number }
  | { at: 'blocked'; deadline: number };

export interface Gate {
  phase: GatePhase;
  /** The one ask that is sent when the gate is free. */
  waiting: Ask | null;
  /** Numbers the events sent. */
  serial: number;
}

export type GateEvent =
  | { type: 'ask'; instructions: string | null }
  | { type: 'interrupt' }
  /** `requestId` is the create's event id from the response's metadata, null where the server does not echo it. */
  | { type: 'created'; responseId: string; requestId: string | null }
  /** `retryAfterMs`: the response failed in a way that passes, and gave nothing. */
  | { type: 'done'; responseId: string; requestId: string | null; retryAfterMs: number | null }
  | {
      type: 'create-refused';
      /** Null where the server does not say which event it means. */
      eventId: string | null;
      why: 'already_active' | 'failed';
      code: string;
      retryAfterMs: number | null;
    }
  | { type: 'cancel-refused' }
  /** The phase's deadline has come; `progressAt` is when the running response was last heard of. */
  | { type: 'deadline'; progressAt: number }
  | { type: 'online' }
  /** The session is gone. `again`: false when the running response has given what it was asked for. */
  | { type: 'lost'; again: boolean };

export type GateEffect =
  | { do: 'create'; eventId: string; instructions: string | null; resumes: boolean }
  | { do: 'cancel'; eventId: string; responseId: string }
  /** Nothing of this response may be passed on any more. */
  | { do: 'discard'; responseId: string }
  | { do: 'started'; responseId: string }
  /** An ask came to nothing; no response follows. */
  | { do: 'refused'; eventId: string; code: string }
  /** The server does not do what it must: this session is of no use. */
  | { do: 'stalled'; why: string };

export interface GateStep {
  gate: Gate;
  effects: GateEffect[];
}

export function createGate(): Gate {
  return { phase: { at: 'offline' }, waiting: null, serial: 0 };
}

export function gateBusy(gate: Gate): boolean {
  return gate.waiting !== null || (gate.phase.at !== 'idle' && gate.phase.at !== 'offline');
}

/** When the gate wants to be told that time has passed; null: not at all. */
export function gateDeadline(gate: Gate): number | null {
  return 'deadline' in gate.phase ? gate.phase.deadline : null;
}

/** The next state. An event that does not fit, or comes late, changes nothing. */
export function stepGate(gate: Gate, event: GateEvent, now: number): GateStep {
  switch (event.type) {
    case 'ask':
      return ask(gate, event.instructions, now);
    case 'interrupt':
      return interrupt(gate, now);
    case 'created':
      return created(gate, event, now);
    case 'done':
      return done(gate, event, now);
    case 'create-refused':
      return createRefused(gate, event, now);
    case 'cancel-refused':
      // Its response ended before the cancel came; the `done` that says so may never have been sent.
      if (gate.phase.at === 'cancel_requested' && gate.phase.responseId !== null) return free(gate, [], now);
      return same(gate);
    case 'deadline':
      return deadline(gate, event.progressAt, now);
    case 'online':
      return gate.phase.at === 'offline' ? free(gate, [], now) : same(gate);
    case 'lost':
      return lost(gate, event.again);
  }
}

function same(gate: Gate, effects: GateEffect[] = []): GateStep {
  return { gate, effects };
}

function create(gate: Gate, ask: Ask, effects: GateEffect[], now: number): GateStep {
  const serial = gate.serial + 1;
  const eventId = `create_${serial}`;
  return {
    gate: {
      phase: { at: 'create_requested', eventId, ask, deadline: now + CREATE_LIMIT_MS },
      waiting: gate.waiting,
      serial,
    },
    effects: [...effects, { do: 'create', eventId, instructions: ask.instructions, resumes: ask.resumes }],
  };
}

/** Nothing runs any more: what waits is asked for now. */
function free(gate: Gate, effects: GateEffect[], now: number): GateStep {
  if (gate.waiting === null) return { gate: { ...gate, phase: { at: 'idle' } }, effects };
  return create({ ...gate, waiting: null }, gate.waiting, effects, now);
}

function ask(gate: Gate, instructions: string | null, now: number): GateStep {
  const asked: Ask = { instructions, attempt: 0, resumes: false };
  if (gate.phase.at === 'idle') return create(gate, asked, [], now);
  return gate.waiting === null ? same({ ...gate, waiting: asked }) : same(gate);
}

function cancel(gate: Gate, responseId: string, now: number): GateStep {
  const serial = gate.serial + 1;
  return {
    gate: {
      phase: { at: 'cancel_requested', eventId: null, responseId, deadline: now + CANCEL_LIMIT_MS },
      waiting: gate.waiting,
      serial,
    },
    effects: [
      { do: 'discard', responseId },
      { do: 'cancel', eventId: `cancel_${serial}`, responseId },
    ],
  };
}

function interrupt(gate: Gate, now: number): GateStep {
  const quiet: Gate = { ...gate, waiting: null };
  const { phase } = gate;
  switch (phase.at) {
    case 'active':
      return cancel(quiet, phase.responseId, now);
    case 'create_requested':
      // A cancel now would find nothing to cancel, and the response would come all the same.
      return same({
        ...quiet,
        phase: {
          at: 'cancel_requested',
          eventId: phase.eventId,
          responseId: null,
          deadline: now + CREATE_LIMIT_MS,
        },
      });
    case 'backing_off':
      return same({ ...quiet, phase: { at: 'idle' } });
    default:
      return same(quiet);
  }
}

function created(gate: Gate, event: { responseId: string; requestId: string | null }, now: number): GateStep {
  const { phase } = gate;
  const { responseId, requestId } = event;
  const running = (ask: Ask | null): GateStep => ({
    gate: { ...gate, phase: { at: 'active', responseId, ask, deadline: now + PROGRESS_LIMIT_MS } },
    effects: [{ do: 'started', responseId }],
  });
  switch (phase.at) {
    case 'idle':
      return running(null);
    case 'create_requested':
      if (requestId === null || requestId === phase.eventId) return running(phase.ask);
      return stray(gate, responseId);
    case 'active':
      return responseId === phase.responseId ? same(gate) : running(phase.ask);
    case 'cancel_requested':
      if (responseId === phase.responseId) return same(gate);
      if (phase.responseId === null && (requestId === null || requestId === phase.eventId))
        return cancel(gate, responseId, now);
      return stray(gate, responseId);
    case 'backing_off':
      return stray(gate, responseId);
    default:
      return same(gate);
  }
}

/** A response nobody waits for any more. */
function stray(gate: Gate, responseId: string): GateStep {
  const serial = gate.serial + 1;
  return {
    gate: { ...gate, serial },
    effects: [
      { do: 'discard', responseId },
      { do: 'cancel', eventId: `cancel_${serial}`, responseId },
    ],
  };
}

function done(
  gate: Gate,
  event: { responseId: string; requestId: string | null; retryAfterMs: number | null },
  now: number,
): GateStep {
  const { phase } = gate;
  switch (phase.at) {
    case 'active': {
      if (event.responseId !== phase.responseId) return same(gate);
      const retry = again(gate, phase.ask, event.retryAfterMs, now);
      return retry ?? free(gate, [], now);
    }
    case 'create_requested': {
      // A response may end without having been announced.
      if (event.requestId !== phase.eventId) return same(gate);
      const retry = again(gate, phase.ask, event.retryAfterMs, now);
      return retry ?? free(gate, [], now);
    }
    case 'cancel_requested': {
      const ours =
        event.responseId === phase.responseId ||
        (phase.eventId !== null && event.requestId === phase.eventId);
      return ours ? free(gate, [], now) : same(gate);
    }
    case 'blocked':
      return free(gate, [], now);
    default:
      return same(gate);
  }
}

/** Backs off where asking again is of use; a newer ask that waits is asked for instead. */
function again(gate: Gate, ask: Ask | null, retryAfterMs: number | null, now: number): GateStep | null {
  if (retryAfterMs === null || ask === null || ask.attempt >= MAX_RETRIES || gate.waiting !== null)
    return null;
  const next: Ask = { ...ask, attempt: ask.attempt + 1 };
  return same({ ...gate, phase: { at: 'backing_off', ask: next, deadline: now + retryAfterMs } });
}

function createRefused(
  gate: Gate,
  event: {
    eventId: string | null;
    why: 'already_active' | 'failed';
    code: string;
    retryAfterMs: number | null;
  },
  now: number,
): GateStep {
  const { phase } = gate;
  if (phase.at !== 'create_requested' && phase.at !== 'cancel_requested') return same(gate);
  const ours = phase.eventId !== null && (event.eventId === phase.eventId || event.eventId === null);
  if (!ours) return same(gate);
  const blocked: GatePhase = { at: 'blocked', deadline: now + BLOCKED_LIMIT_MS };
  if (phase.at === 'cancel_requested') {
    return event.why === 'already_active' ? same({ ...gate, phase: blocked }) : free(gate, [], now);
  }
  // No `created` and no `done` follow for this create: it waits for the end of the response that is in its way.
  if (event.why === 'already_active')
    return same({ ...gate, phase: blocked, waiting: gate.waiting ?? phase.ask });
  const retry = again(gate, phase.ask, event.retryAfterMs, now);
  return retry ?? free(gate, [{ do: 'refused', eventId: phase.eventId, code: event.code }], now);
}

function deadline(gate: Gate, progressAt: number, now: number): GateStep {
  const { phase } = gate;
  if (!('deadline' in phase) || now < phase.deadline) return same(gate);
  switch (phase.at) {
    case 'create_requested':
      return same(gate, [{ do: 'stalled', why: 'no response was created' }]);
    case 'active': {
      const next = progressAt + PROGRESS_LIMIT_MS;
      if (next > now) return same({ ...gate, phase: { ...phase, deadline: next } });
      return same(gate, [{ do: 'stalled', why: 'the response does not go on' }]);
    }
    case 'cancel_requested':
      if (phase.responseId === null) return same(gate, [{ do: 'stalled', why: 'no response was created' }]);
      return free(gate, [], now);
    case 'backing_off':
      return create(gate, phase.ask, [], now);
    case 'blocked':
      return same(gate, [{ do: 'stalled', why: 'another response does not end' }]);
  }
}

/** The session is gone: what was asked for or ran is asked for again on the next one, unless it was cancelled. */
function lost(gate: Gate, again: boolean): GateStep {
  const { phase } = gate;
  const running =
    'ask' in phase && (again || phase.at !== 'active') ? (phase.ask ?? { instructions: null }) : null;
  const unanswered = gate.waiting ?? running;
  const waiting =
    unanswered === null ? null : { instructions: unanswered.instructions, attempt: 0, resumes: true };
  return same({ ...gate, phase: { at: 'offline' }, waiting });
}
