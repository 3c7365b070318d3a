// The calls of a daemon over a real store, with a carrier that is only a table of calls and media threads that do
// nothing: for tests of what hooks, recovery and dialling make of a call.

import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { CallThreads } from '../../../bridge/calls/call-context.ts';
import { CallControl, type CallControlOptions } from '../../../bridge/calls/call-control.ts';
import { openBrowser } from '../../../bridge/carriers/browser/carrier.ts';
import type {
  Carrier,
  CarrierCallSnapshot,
  CarrierEvent,
  Line,
  StreamOffer,
} from '../../../bridge/carriers/carrier.ts';
import { createCarriers } from '../../../bridge/carriers/registry.ts';
import type { Fault } from '../../../bridge/protocol/call-reasons.ts';
import type { EndReason, PrepareCall } from '../../../bridge/protocol/messages.ts';
import { LINE_TEXTS, SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { AppError } from '../../../errors.ts';
import { openLog } from '../../../log.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall } from '../../storage/makers.ts';
import { standInCarrier } from '../carriers/stand-in.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00.000Z');

export interface CallsRig {
  store: Store;
  org: string;
  calls: CallControl;
  /** What the carrier has, by its ids; written by the test, and by `placeCall`. */
  atCarrier: Map<string, CarrierCallSnapshot>;
  /** Requests to the carrier, as `cancel CA1`: to hang up what has not been answered, as far as is known. */
  asked: string[];
  /** Messages to media threads, as `release <call id>`; a call that is gone from its thread, as `unassign <call id>`. */
  toMedia: string[];
  /** The plans of calls that media threads were given. */
  prepared: PrepareCall[];
  /** What the carrier was last told to do with a call, by its ids. */
  commanded: Map<string, StreamOffer | 'busy' | 'rejected'>;
  /** The carrier tells. */
  tell(event: CarrierEvent): Promise<void>;
  /** A call comes in; what the carrier is told to do with it. Null: nothing. */
  offer(carrierCallId: string, to: string): Promise<StreamOffer | 'busy' | 'rejected' | null>;
  /** Why calls were not taken, as the metrics are told. */
  refused: string[];
  /** The carrier answers nothing. */
  down: boolean;
  /** Every media thread runs late. */
  late: boolean;
  /** The clock; tests move it, and set the wall's by `setMs`. */
  clock: { ms: number; setMs: number };
  /** The media side says that the talk is over; resolves when the call is. */
  finish(callId: string, reason: EndReason, error: Fault | null): Promise<void>;
  /** A call ready to be dispatched. */
  newCall(fields?: Partial<CallRecord>): CallRecord;
}

export interface CallsRigOptions {
  /** A database that other daemons may have open too; default: one in memory. */
  path?: string;
  /** Calls are on a media thread, which never lets go of one; default: on none. */
  carried?: boolean;
  /** Lines there are; default: more than any test takes. */
  maxCalls?: number;
  /** Whether the disk has too little left; default: it has enough. */
  storageLow?: () => boolean;
  /** What tools answer; default: a call of one fails the test. */
  runTool?: CallControlOptions['runTool'];
  /** Which calls may begin. */
  ramp?: CallControlOptions['ramp'];
  /** Hears every error that is logged. */
  onError?: (fields: unknown, message: string) => void;
  /** Hears every warning. */
  onWarning?: (fields: unknown, message: string) => void;
  /** Called in each transaction that writes, and may throw what a disk would. */
  onWrite?: () => void;
  /** Called when the carrier has been asked for something and before it answers; what it throws is the answer. */
  onCarrier?: (verb: string) => void;
  /** Further carriers beside the simulated one. */
  others?: readonly Carrier[];
  /** In place of accepting the call. */
  placeCall?: (callId: string, accept: () => string) => Promise<{ carrierCallId: string }>;
}

/** The model of an agent whose calls nobody can lead. */
export const NOT_CONFIGURED = 'not-configured';

/** A call's pauses before it asks a carrier again are shorter by so much. */
const PAUSES_SHORTER = 100;

const unused = (): never => {
  throw new Error('not part of this test');
};

/** Opens it; it closes with the test. */
export async function openCallsRig(test: Pick<Test, 'teardown'>, o: CallsRigOptions = {}): Promise<CallsRig> {
  const clock = { ms: START_MS, setMs: 0 };
  const now = () => new Date(clock.ms + clock.setMs);
  const monotonicMs = () => clock.ms;
  const store = await openStore({
    path: o.path ?? ':memory:',
    shared: o.path !== undefined,
    now,
    ...(o.onWrite === undefined ? {} : { onWrite: o.onWrite }),
  });
  test.teardown(() => store.close());
  const org = await addOrganization(store, { balance_milli_cents: 0 });
  await store.setBalance(org, 1_000_000_000);
  const atCarrier = new Map<string, CarrierCallSnapshot>();
  const asked: string[] = [];
  const toMedia: string[] = [];
  const refused: string[] = [];
  const prepared: PrepareCall[] = [];
  const commanded = new Map<string, StreamOffer | 'busy' | 'rejected'>();
  let dialled = 0;

  async function end(verb: string, id: string): Promise<'ended' | 'already_ended'> {
    asked.push(`${verb} ${id}`);
    o.onCarrier?.(verb);
    if (rig.down) throw new AppError('carrier_error', 'no answer');
    const call = atCarrier.get(id);
    if (call === undefined || ['completed', 'busy', 'no_answer', 'failed', 'canceled'].includes(call.status))
      return 'already_ended';
    const status = call.status === 'answered' ? 'completed' : 'canceled';
    atCarrier.set(id, { ...call, status, endedAt: now().toISOString() });
    return 'ended';
  }

  const line: Partial<Line> = {
    async place({ callId, to, from }) {
      const accept = () => {
        dialled += 1;
        const carrierCallId = `CA${dialled}`;
        asked.push(`dial ${callId}`);
        atCarrier.set(carrierCallId, snapshot({ carrierCallId, to, from, startedAt: now().toISOString() }));
        return carrierCallId;
      };
      if (o.placeCall !== undefined) return o.placeCall(callId, accept);
      const carrierCallId = accept();
      o.onCarrier?.('place');
      return { carrierCallId };
    },
    async connect(id, stream) {
      commanded.set(id, stream);
    },
    async reject(id, reason) {
      commanded.set(id, reason);
    },
    hangUp: (id, { answered }) => end(answered ? 'hang up' : 'cancel', id),
    async lookUp(id) {
      o.onCarrier?.('fetch');
      if (rig.down) throw new AppError('carrier_error', 'no answer');
      return atCarrier.get(id) ?? null;
    },
    async find({ to, from, since }) {
      o.onCarrier?.('find');
      const found = [...atCarrier.values()].filter(
        (call) => call.to === to && call.from === from && (call.startedAt ?? since) >= since,
      );
      return found.reverse();
    },
  };
  const carrier = standInCarrier({ line });
  const browser = openBrowser({
    async lastSeen(callId) {
      const call = await store.findCall(callId);
      return call === null ? null : { at: call.updated_at, answeredAt: call.answered_at };
    },
  });
  const threads: CallThreads = {
    admits: () => !rig.late,
    assign: () => 1,
    threadOf: () => (o.carried === true ? 1 : null),
    post(callId, message) {
      toMedia.push(`${message.type} ${callId}`);
      if (message.type === 'prepare') prepared.push(message);
    },
    unassign: (callId) => void toMedia.push(`unassign ${callId}`),
    ready: () => true,
  };
  const log = openLog('silent');
  if (o.onError !== undefined) log.error = o.onError as typeof log.error;
  if (o.onWarning !== undefined) log.warn = o.onWarning as typeof log.warn;
  const calls = new CallControl({
    store,
    carriers: createCarriers([carrier, browser, ...(o.others ?? [])]),
    log,
    now,
    monotonicMs,
    texts: {
      talk: talkTexts,
      shortWords: () => ({ assents: null, stops: [] }),
      session: SESSION_TEXTS,
      line: LINE_TEXTS,
      modelTools: () => [],
    },
    access: () => ({ kind: 'none', url: '', apiKey: '', model: '', transcriptionModel: '' }),
    publicUrl: 'http://127.0.0.1',
    dataDir: '.',
    recordCalls: false,
    maxCalls: o.maxCalls ?? 10_000,
    maxSeconds: 3_600,
    ringSeconds: 60,
    pricePerMinute: 6_000,
    reserveMinutes: 5,
    runTool: o.runTool ?? unused,
    inboundCall: ({ agent, to, from, carrier, carrierCallId }) =>
      agent.model === NOT_CONFIGURED
        ? null
        : makeCall(org, {
            id: uuid(),
            created_at: now().toISOString(),
            agent_id: agent.id,
            direction: 'inbound',
            status: 'ringing',
            carrier: carrier.name,
            carrier_call_id: carrierCallId,
            to_number: to,
            from_number: from,
            returns: {},
          }),
    async joinRecording() {},
    storageLow: o.storageLow ?? (() => false),
    settleCost() {},
    settleResult(callId) {
      void store.saveCall(callId, {
        from: ['completed'],
        change: { result_status: 'completed' },
        events: ['call.completed'],
      });
    },
    pause: (ms) => new Promise((over) => setTimeout(over, ms / PAUSES_SHORTER)),
    ...(o.ramp === undefined ? {} : { ramp: o.ramp }),
    observer: { refused: (why) => void refused.push(why) },
  });
  calls.attach(threads);
  const rig: CallsRig = {
    down: false,
    late: false,
    refused,
    store,
    org,
    calls,
    atCarrier,
    asked,
    toMedia,
    prepared,
    commanded,
    tell: (event) => calls.onCarrier(carrier, event),
    async offer(carrierCallId, to) {
      commanded.delete(carrierCallId);
      await rig.tell({ type: 'call-offered', carrierCallId, to, from: '+14155550199' });
      return commanded.get(carrierCallId) ?? null;
    },
    clock,
    async finish(callId, reason, error) {
      const [errorCode, errorMessage] = [error?.code ?? null, error?.message ?? null];
      calls.onMedia({ type: 'finished', callId, reason, errorCode, errorMessage, speak: null });
      while ((await store.findCall(callId))?.ended_at === null)
        await new Promise((later) => setImmediate(later));
    },
    newCall: (fields = {}) =>
      makeCall(org, { id: uuid(), created_at: now().toISOString(), returns: {}, ...fields }),
  };
  return rig;
}

/** A carrier's account of a call that is queued there. */
export function snapshot(
  fields: Partial<CarrierCallSnapshot> & { carrierCallId: string },
): CarrierCallSnapshot {
  return {
    status: 'queued',
    to: '+14155550100',
    from: '+14155550199',
    durationSeconds: null,
    startedAt: null,
    endedAt: null,
    ...fields,
  };
}
