// The n-th fault: the same few calls played again and again, each time with another one of their writes, requests to the
// carrier, posts of webhooks or additions to the queue failing, until a run has none to fail. Whatever fails, each call has
// one end, told once, and its money adds up. `node test/bridge/calls/nth-fault.ts` fails them one by one, and several in a row.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { EgressError } from '../../../control/egress/egress.ts';
import type { QueueLink } from '../../../control/webhooks/queue.ts';
import { openWebhooks } from '../../../control/webhooks/webhooks.ts';
import { AppError } from '../../../errors.ts';
import { openLog } from '../../../log.ts';
import { makeAgent, makeEndpoint, makeNumber, succeeded } from '../../storage/makers.ts';
import { type CallsRig, openCallsRig } from './calls-rig.ts';

export const KINDS = ['write', 'carrier', 'post', 'queue'] as const;
export type Kind = (typeof KINDS)[number];

export interface Fault {
  kind: Kind;
  /** Which one fails, from 1, and how many in a row. */
  nth: number;
  inARow: number;
  /** For writes: what SQLite says. */
  code?: string;
  /** For the queue: it loses the job instead of refusing it. */
  loses?: boolean;
}

export interface Played {
  /** How many there were of each kind: a fault beyond has not struck. */
  counts: Record<Kind, number>;
  violations: string[];
}

const TERMINAL: Record<string, string> = {
  completed: 'call.completed',
  failed: 'call.failed',
  no_answer: 'call.no_answer',
  busy: 'call.busy',
  canceled: 'call.canceled',
};
const TERMINAL_EVENTS = new Set(Object.values(TERMINAL));
/** A receiver that is down for longer waits longer than a run. */
const MOST_IN_A_ROW: Record<Kind, number> = { write: 10, carrier: 40, post: 5, queue: 5 };
const BALANCE = 1_000_000_000;
const PATIENCE_MS = 60_000;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Plays all calls with a fault, or none, and says what is wrong afterwards. */
async function play(fault: Fault | null): Promise<Played> {
  const counts: Record<Kind, number> = { write: 0, carrier: 0, post: 0, queue: 0 };
  const violations: string[] = [];
  const closers: (() => unknown)[] = [];
  let armed = false;
  const strikes = (kind: Kind): boolean => {
    if (!armed) return false;
    counts[kind] += 1;
    const { nth, inARow } = fault ?? { nth: 0, inARow: 0 };
    return fault?.kind === kind && counts[kind] >= nth && counts[kind] < nth + inARow;
  };
  const rig = await openCallsRig(
    { teardown: (close) => void closers.push(close as () => unknown) },
    {
      onWrite() {
        if (strikes('write')) throw new Database.SqliteError('not taken', fault?.code ?? 'SQLITE_FULL');
      },
      onCarrier() {
        if (strikes('carrier'))
          throw new AppError('carrier_error', 'no answer', { carrierCode: 'no_answer_from_carrier' });
      },
    },
  );
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-nth-'));
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  try {
    const number = succeeded(await rig.store.insertNumber(makeNumber(rig.org)));
    succeeded(await rig.store.createAgent(makeAgent(rig.org, { type: 'inbound' }), [number.id]));
    succeeded(await rig.store.createEndpoint(makeEndpoint(rig.org)));
    const received = new Map<string, string[]>();
    const webhooks = await openWebhooks({
      store: rig.store,
      egress: {
        check() {},
        close: async () => {},
        async request(_url, { headers = {}, body }) {
          if (strikes('post')) throw new EgressError('reset', { connected: true });
          const id = headers['webhook-id'] ?? '';
          received.set(id, [...(received.get(id) ?? []), String(body)]);
          return { status: 204, headers: {}, body: Buffer.alloc(0), truncated: false };
        },
      },
      log: openLog('silent'),
      dataDir,
      redisUrl: 'redis://nowhere',
      redisMode: 'auto',
      retryScale: 0.01,
      version: '0',
      tuning: { sweepMs: 100, graceMs: 0, openQueue: (o) => openQueue(o, () => strikes('queue') && fault) },
    });
    closers.push(() => webhooks.close());
    armed = true;
    await playCalls(rig, number.e164, violations);
    await settle(rig, violations);
    await judge(rig, received, violations);
  } finally {
    armed = false;
    for (const close of closers.reverse()) await close();
  }
  return { counts, violations };
}

/** A queue that keeps jobs for their time, and fails as it is told. */
function openQueue(
  o: { work(id: string, attempt: number): Promise<void>; onChange(healthy: boolean): void; onReady(): void },
  fails: () => Fault | null | false,
): QueueLink {
  const timers = new Set<NodeJS.Timeout>();
  queueMicrotask(o.onReady);
  return {
    healthy: () => true,
    async add({ id, attempt, atMs }) {
      const failed = fails();
      if (failed) return failed.loses === true;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          void o.work(id, attempt);
        },
        Math.max(0, atMs - Date.now()),
      );
      timers.add(timer);
      return true;
    },
    health: () => ({ connected: true, heartbeatAgeMs: 0 }),
    async close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Asks again for as long as the disk takes nothing, as a client does; null when the carrier refused. */
async function ask<T>(work: () => Promise<T>): Promise<T | null> {
  for (const giveUp = performance.now() + PATIENCE_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && ['carrier_error', 'call_ended', 'conflict'].includes(error.code))
        return null;
      const passes = error instanceof AppError && error.code === 'storage_low' && performance.now() < giveUp;
      if (!passes) throw error;
      await pause(50);
    }
  }
}

async function playCalls(rig: CallsRig, inboundNumber: string, violations: string[]): Promise<void> {
  const now = () => new Date(rig.clock.ms).toISOString();
  const legs = new Map<string, string>();
  /** Who hears a hook has to take it: the carrier does not say it twice. */
  const heard = async (what: string, work: Promise<unknown>) =>
    work.catch((error: unknown) => violations.push(`the hook of ${what}: ${error}`));

  async function dial(): Promise<string> {
    const call = rig.newCall();
    await ask(() => rig.calls.dispatch({ ...call }));
    const dialled = rig.asked.filter((one) => one.startsWith('dial '));
    const at = dialled.lastIndexOf(`dial ${call.id}`);
    if (dialled.filter((one) => one === `dial ${call.id}`).length > 1)
      violations.push(`${call.id} was dialled twice`);
    if (at >= 0) legs.set(call.id, `CA${at + 1}`);
    return call.id;
  }

  async function hook(
    callId: string,
    status: 'ringing' | 'answered' | 'busy' | 'completed',
    seconds: number | null = null,
  ) {
    const sid = legs.get(callId);
    const leg = sid === undefined ? undefined : rig.atCarrier.get(sid);
    if (sid === undefined || leg === undefined || leg.status === 'canceled' || leg.status === 'completed')
      return;
    rig.clock.ms += 1_000;
    const ended = status === 'busy' || status === 'completed';
    rig.atCarrier.set(sid, {
      ...leg,
      status,
      durationSeconds: seconds,
      ...(ended ? { endedAt: now() } : {}),
    });
    await heard(
      status,
      rig.tell({
        type: 'status',
        callId,
        carrierCallId: sid,
        status,
        at: now(),
        durationSeconds: seconds,
        cause: null,
        errorCode: null,
        errorMessage: null,
      }),
    );
  }

  async function talk(callId: string): Promise<void> {
    const sid = legs.get(callId);
    if (sid === undefined || rig.atCarrier.get(sid)?.status !== 'answered') return;
    rig.calls.onMedia({
      type: 'media-started',
      callId,
      streamId: 'MZ',
      carrierCallId: sid,
      at: now(),
      atMs: 0,
    });
    rig.calls.onMedia({ type: 'usage', callId, usage: { input_text_tokens: 5 } });
    rig.calls.onMedia({
      type: 'transcript',
      callId,
      items: [
        {
          id: 'a',
          role: 'agent',
          text: 'Hello.',
          heardText: 'Hello.',
          interrupted: false,
          startMs: 0,
          endMs: 900,
        },
      ],
    });
    rig.calls.onMedia({
      type: 'turn',
      callId,
      times: {
        kind: 'greeting',
        speechEndMs: null,
        decidedMs: 10,
        requestedMs: 11,
        firstModelAudioMs: 300,
        firstSentMs: 301,
        firstHeardMs: 380,
        bargedIn: false,
        thrownAway: 0,
      },
    });
    await pause(20);
  }

  // Long enough for more credit to be asked for; hung up by the organization.
  const long = await dial();
  await hook(long, 'ringing');
  await hook(long, 'answered');
  await talk(long);
  rig.clock.ms += 270_000;
  await rig.calls.watch.look();
  await ask(() => rig.calls.hangUp(rig.org, long).catch(ignoreMissing));

  const busy = await dial();
  await hook(busy, 'ringing');
  await hook(busy, 'busy');

  const canceled = await dial();
  await hook(canceled, 'ringing');
  await ask(() => rig.calls.cancel(rig.org, canceled).catch(ignoreMissing));

  // Somebody calls, talks, and hangs up.
  const sid = 'IN1';
  rig.atCarrier.set(sid, {
    carrierCallId: sid,
    status: 'ringing',
    to: inboundNumber,
    from: '+14155550198',
    durationSeconds: null,
    startedAt: now(),
    endedAt: null,
  });
  const answer = await rig.offer(sid, inboundNumber).catch(() => null);
  const leg = rig.atCarrier.get(sid);
  if ((answer === null || typeof answer === 'string') && leg !== undefined) {
    rig.atCarrier.set(sid, { ...leg, status: 'busy', endedAt: now() });
  } else {
    const id = (await rig.store.findCallByCarrierId('simulated', sid))?.id ?? '';
    legs.set(id, sid);
    await hook(id, 'answered');
    await talk(id);
    rig.clock.ms += 6_000;
    await hook(id, 'completed', 7);
  }
}

/** The call was never stored, because the carrier refused it or the disk did. */
function ignoreMissing(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null;
  throw error;
}

/** The lines that the carrier still has. */
const linesUp = (rig: CallsRig) =>
  [...rig.atCarrier.values()]
    .filter(({ status }) => !(status in TERMINAL))
    .map(({ carrierCallId, status }) => `${carrierCallId} is up at the carrier (${status})`);

/** Time passes, and the watch looks, until nothing is under way any more. */
async function settle(rig: CallsRig, violations: string[]): Promise<void> {
  for (const giveUp = performance.now() + PATIENCE_MS; ; await pause(50)) {
    rig.clock.ms += 60_000;
    await rig.calls.watch.look();
    const calls = await rig.store.listCalls(rig.org, {}, { limit: 100 });
    const { pendingDeliveries, keptWrites } = await rig.store.stats();
    const left = [
      ...calls.filter(({ status }) => !(status in TERMINAL)).map(({ id, status }) => `${id} is ${status}`),
      ...calls
        .filter(({ result_status }) => result_status === 'pending')
        .map(({ id }) => `the result of ${id} pends`),
      ...(pendingDeliveries > 0 ? [`${pendingDeliveries} deliveries pend`] : []),
      ...(keptWrites > 0 || !rig.store.writable() ? [`${keptWrites} writes are kept`] : []),
      ...(rig.calls.size > 0 ? ['a call is live'] : []),
      ...linesUp(rig),
    ];
    if (left.length === 0) return;
    if (performance.now() > giveUp) {
      violations.push(...left);
      return;
    }
  }
}

async function judge(
  rig: CallsRig,
  received: ReadonlyMap<string, readonly string[]>,
  violations: string[],
): Promise<void> {
  const calls = await rig.store.listCalls(rig.org, {}, { limit: 100 });
  for (const call of calls) {
    const events = await rig.store.listEvents(call.id);
    const ends = events.filter(({ type }) => TERMINAL_EVENTS.has(type)).map(({ type }) => type);
    if (ends.length !== 1 || ends[0] !== TERMINAL[call.status])
      violations.push(`${call.id} (${call.status}) has ${ends.join(' + ') || 'no end'}`);
    if (events.some(({ sequence }, index) => sequence !== index + 1))
      violations.push(`${call.id}: a gap in ${events.map(({ sequence }) => sequence).join()}`);
    const rows = await rig.store.listLedger(rig.org, call.id);
    const sum = rows.reduce((total, row) => total + row.amount_milli_cents, 0);
    const ended = rows.filter(({ kind }) => kind === 'settle' || kind === 'release').length;
    if (ended !== 1 || sum !== 0 - (call.billing_amount_milli_cents ?? 0))
      violations.push(
        `${call.id}: ${ended} ends of its money, ${sum} for ${call.billing_amount_milli_cents}`,
      );
    if (call.reserved_milli_cents !== 0) violations.push(`${call.id} holds ${call.reserved_milli_cents}`);
    for (const delivery of await rig.store.listCallDeliveries(call.id)) {
      const came = received.get(delivery.id) ?? [];
      if (delivery.status !== 'delivered' || came.length === 0)
        violations.push(
          `${delivery.event_type} of ${call.id} is ${delivery.status}, came ${came.length} times`,
        );
      if (new Set(came).size > 1) violations.push(`${delivery.id} came with two bodies`);
    }
    if (call.usage !== null) {
      const lines = await rig.store.listTranscript(call.id);
      const turns = await rig.store.listTurns(call.id);
      if (lines.length !== 1 || turns.length !== 1)
        violations.push(`${call.id}: ${lines.length} lines, ${turns.length} turns`);
    }
  }
  const all = await rig.store.listLedger(rig.org);
  const credit = await rig.store.getCredit(rig.org);
  const sum = all.reduce((total, row) => total + row.amount_milli_cents, 0);
  if (credit?.balanceMilliCents !== sum || credit.heldMilliCents !== 0 || sum > BALANCE)
    violations.push(`balance ${credit?.balanceMilliCents}, held ${credit?.heldMilliCents}, rows ${sum}`);
}

/**
 * Fails the first, the second, and so on, of each kind, until a run has none that far.
 * @param every of so many, one is tried
 * @returns how many runs, and what was wrong by fault
 */
export async function campaign(o: {
  every: number;
  inARow: readonly number[];
  codes: readonly string[];
  kinds?: readonly Kind[];
}): Promise<{ runs: number; counts: Record<Kind, number>; violations: string[] }> {
  const { counts, violations: clean } = await play(null);
  const violations = clean.map((one) => `without a fault: ${one}`);
  const faults: Fault[] = [];
  for (const kind of o.kinds ?? KINDS) {
    const forms =
      kind === 'write' ? o.codes.map((code) => ({ code })) : kind === 'queue' ? [{}, { loses: true }] : [{}];
    for (let nth = 1; nth <= counts[kind]; nth += o.every)
      for (const inARow of o.inARow.filter((count) => count <= MOST_IN_A_ROW[kind]))
        for (const form of forms) faults.push({ kind, nth, inARow, ...form });
  }
  const queue = [...faults];
  await Promise.all(
    Array.from({ length: 30 }, async () => {
      for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
        const name = `${fault.kind} ${fault.nth}, ${fault.inARow} in a row ${fault.code ?? (fault.loses ? 'lost' : '')}`;
        const found = await play(fault).catch((error: Error) => ({ violations: [String(error.stack)] }));
        violations.push(...found.violations.map((one) => `${name}: ${one}`));
      }
    }),
  );
  return { runs: faults.length + 1, counts, violations };
}

if (process.argv[1] === import.meta.filename) {
  const found = await campaign({
    every: 1,
    inARow: [1, 2, 5, 10, 40],
    codes: ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_BUSY'],
  });
  console.log(`${found.runs} runs of ${JSON.stringify(found.counts)}, ${found.violations.length} violations`);
  for (const one of found.violations.slice(0, 40)) console.log(`  ${one}`);
  process.exitCode = found.violations.length === 0 ? 0 : 1;
}
