// What every carrier must do, written against the Carrier contract alone: a carrier's own test calls `carrierConformance`
// with a way to open it and the world behind it. Its wire has a suite of its own (wire-conformance.ts).
import type { Test } from 'tap';
import {
  type Carrier,
  type CarrierEvent,
  type Line,
  NO_ANSWER,
  NOT_POSSIBLE,
  type StreamOffer,
} from '../../../bridge/carriers/carrier.ts';
import { mediaCarriers } from '../../../bridge/carriers/media.ts';
import type { MediaMessage } from '../../../bridge/carriers/media-wire.ts';

/** A carrier that is open, and whoever is behind it. */
export interface Peer {
  carrier: Carrier;
  /** What it has told, oldest first. */
  told: CarrierEvent[];
  /** What came by the media sockets of its calls; payloads are copies. */
  media: MediaMessage[];
  /** Where its next streams are awaited. */
  stream: StreamOffer;
  /** What is done with a call that waits; at first it is connected to `stream`. */
  onWaiting(command: (event: CarrierEvent) => Promise<void>): void;
  /** Resolves when something has been told or has come that makes it true. */
  until(fits: () => boolean): Promise<void>;
  /** Null: nobody can be called, and nobody calls. */
  world: World | null;
}

/** The telephone network behind a carrier. */
export interface World {
  /** The number of ours that calls are placed from, and come to. */
  own: string;
  /** By what becomes of a call to it. */
  numbers: Record<'answers' | 'rings_on' | 'busy' | 'never_answers' | 'does_not_exist', string>;
  /** Somebody calls. @returns the carrier's id of the call */
  callIn(to: string): Promise<string>;
  /** The other side hangs up. */
  hangUp(carrierCallId: string): void;
  /** What the other side has heard besides the stream. */
  heard(carrierCallId: string): { keys: string; words: readonly string[] };
  /** How the call has ended, as the other side knows it; null while it lasts. */
  endOf(carrierCallId: string): string | null;
}

export type OpenPeer = (t: Test, o?: { losesDialAnswer?: boolean }) => Promise<Peer>;

const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const NOBODY = 'CA00000000000000000000000000000000';
const ENDS: ReadonlySet<string> = new Set(['completed', 'busy', 'no_answer', 'failed', 'canceled']);

/** A command for each verb that a call may be given, of a call that there is not. */
const OF_NOBODY: Record<string, (line: Line, stream: StreamOffer) => Promise<unknown>> = {
  connect: (line, stream) => line.connect(NOBODY, stream),
  reject: (line) => line.reject(NOBODY, 'busy'),
  hangUp: (line) => line.hangUp(NOBODY, { answered: true }),
  'hangUp while it rings': (line) => line.hangUp(NOBODY, { answered: false }),
  sayAndHangUp: (line) => line.sayAndHangUp(NOBODY, { text: 'Goodbye.', language: 'en' }),
  lookUp: (line) => line.lookUp(NOBODY),
};
/** And those that may fail for such a call. */
const MAY_FAIL: Record<string, (line: Line) => Promise<unknown>> = {
  transfer: (line) => line.transfer(NOBODY, '+14155550001', { callId: CALL, from: '+14155550100' }),
  sendKeys: (line) => line.sendKeys(NOBODY, '1', { callId: CALL }),
};

export function carrierConformance(t: Test, open: OpenPeer): void {
  t.test('it is what it declares, and has its media side', async (t) => {
    const { carrier } = await open(t);
    const media = mediaCarriers[carrier.name];
    if (media === undefined) throw new Error(`${carrier.name} is not among the media carriers`);
    t.match(carrier.name, /^[a-z][a-z0-9_-]{0,31}$/, 'a name that a path and a record can hold');
    const { telephone, streamIsCall, answerSeconds } = carrier.capabilities;
    t.notOk(telephone && streamIsCall, 'a telephone call has a line besides its stream');
    t.ok(answerSeconds === null || answerSeconds > 0);
    t.ok(['mulaw', 'alaw', 'pcm16'].includes(media.format.encoding));
    t.ok([8000, 16000, 24000].includes(media.format.rateHz));
    const anyones = { headers: {}, url: 'wss://calls.example.com/media/1/x/y', secret: carrier.mediaSecret };
    // Where nothing can be proven, the token in the path is asked for (streamCarriers).
    t.notOk(media.verifyUpgrade?.(anyones), 'a media socket that proves nothing is nobody’s');
    if (carrier.check !== null) await carrier.check();
  });

  t.test('of a call that is gone nothing fails, and what cannot be done is refused in words', async (t) => {
    const { carrier, stream } = await open(t);
    const refusal = { code: 'carrier_error', carrierCode: NOT_POSSIBLE, retryable: false, message: /\.$/ };
    const answers = new Map<string, unknown>();
    for (const [verb, ask] of Object.entries(OF_NOBODY)) {
      const answer = await ask(carrier.line, stream).catch((error: { carrierCode?: string }) => {
        if (error.carrierCode === NOT_POSSIBLE) return t.match(error, refusal, `${verb} is impossible`);
        throw error;
      });
      answers.set(verb, answer);
    }
    t.equal(answers.get('hangUp'), 'already_ended');
    t.equal(answers.get('hangUp while it rings'), 'already_ended');
    t.equal(answers.get('lookUp'), null);
    for (const [verb, ask] of Object.entries(MAY_FAIL))
      await t.rejects(ask(carrier.line), { code: 'carrier_error' }, verb);
    const since = new Date().toISOString();
    t.same(await carrier.line.find({ callId: CALL, to: '+14155559999', from: '+14155550100', since }), []);
  });

  t.test('it is closed twice, and tells nothing after that', async (t) => {
    const { carrier, told, world } = await open(t);
    await carrier.close();
    await carrier.close();
    if (world !== null) await world.callIn(world.own).catch(() => {});
    t.same(told, []);
  });

  t.test('on the telephone', async (t) => {
    const { world, carrier } = await open(t);
    t.equal(carrier.capabilities.telephone, world !== null);
    if (world !== null) telephoneConformance(t, open);
  });
}

/** A peer with the telephone network behind it, and what tests of it ask again and again. */
async function openTelephone(t: Test, open: OpenPeer, o: Parameters<OpenPeer>[1] = {}) {
  const peer = await open(t, o);
  const { world, carrier, told, media } = peer;
  if (world === null) throw new Error('nobody is behind this carrier');
  const statuses = () => told.flatMap((event) => (event.type === 'status' ? [event.status] : []));
  return {
    ...peer,
    world,
    line: carrier.line,
    statuses,
    place: (to: string, ringSeconds = 5) =>
      carrier.line.place({
        callId: CALL,
        to,
        from: world.own,
        ringSeconds,
        maxSeconds: 60,
        machineDetection: null,
      }),
    started: () => media.filter((message) => message.type === 'started'),
    first: <T extends CarrierEvent['type']>(type: T) =>
      told.find((event): event is Extract<CarrierEvent, { type: T }> => event.type === type),
    ended: () => peer.until(() => statuses().some((status) => ENDS.has(status))),
  };
}

function telephoneConformance(t: Test, open: OpenPeer): void {
  t.test('a call out: accepted, connected to its stream, ended by us, looked up', async (t) => {
    const since = new Date().toISOString();
    const peer = await openTelephone(t, open);
    const { world, line } = peer;
    const to = world.numbers.answers;
    const { carrierCallId } = await peer.place(to);
    await peer.until(() => peer.started().length === 1 && peer.statuses().includes('answered'));
    t.match(peer.first('stream-wanted'), { callId: CALL, carrierCallId });
    t.match(peer.started(), [{ carrierCallId, parameters: { token: peer.stream.token } }]);
    await peer.until(() => peer.media.filter(({ type }) => type === 'audio').length > 5);
    t.match(await line.lookUp(carrierCallId), { carrierCallId, status: 'answered', to, from: world.own });
    t.equal(await line.hangUp(carrierCallId, { answered: true }), 'ended');
    await peer.ended();
    for (const answered of [true, false])
      t.equal(await line.hangUp(carrierCallId, { answered }), 'already_ended');
    const over = await line.lookUp(carrierCallId);
    t.match(over, { status: 'completed', endedAt: String, durationSeconds: Number });
    t.same(await line.find({ callId: CALL, to, from: world.own, since }), [over]);
    t.ok(
      peer.told.every((event) => event.carrierCallId === carrierCallId),
      'all of it was told of this call',
    );
  });

  t.test('a call that is not answered says how it ended', async (t) => {
    for (const [number, status] of [
      ['busy', 'busy'],
      ['never_answers', 'no_answer'],
      ['does_not_exist', 'failed'],
    ] as const) {
      const peer = await openTelephone(t, open);
      const { carrierCallId } = await peer.place(peer.world.numbers[number], 1);
      await peer.ended();
      const end = peer.told.find((event) => event.type === 'status' && ENDS.has(event.status));
      t.match(end, { callId: CALL, carrierCallId, status, at: String });
      t.same(peer.media, []);
    }
  });

  t.test('a call that rings is hung up, whatever we believe it does', async (t) => {
    for (const answered of [false, true]) {
      const peer = await openTelephone(t, open);
      const { carrierCallId } = await peer.place(peer.world.numbers.rings_on);
      await peer.until(() => peer.statuses().includes('ringing'));
      t.equal(await peer.line.hangUp(carrierCallId, { answered }), 'ended');
      await peer.ended();
      t.notOk(peer.statuses().includes('answered'));
    }
  });

  t.test('a call that was answered is hung up, though we believe that it rings', async (t) => {
    const peer = await openTelephone(t, open);
    const { carrierCallId } = await peer.place(peer.world.numbers.answers);
    await peer.until(() => peer.started().length === 1);
    t.equal(await peer.line.hangUp(carrierCallId, { answered: false }), 'ended');
    await peer.ended();
  });

  t.test('a lost answer to a dial: it is found instead of being placed again', async (t) => {
    const since = new Date().toISOString();
    const peer = await openTelephone(t, open, { losesDialAnswer: true });
    const to = peer.world.numbers.rings_on;
    await t.rejects(peer.place(to), { code: 'carrier_error', carrierCode: NO_ANSWER, retryable: false });
    const found = await peer.line.find({ callId: CALL, to, from: peer.world.own, since });
    t.equal(found.length, 1);
    t.equal(await peer.line.hangUp(found[0]?.carrierCallId ?? '', { answered: false }), 'ended');
  });

  t.test('a call in: offered, connected, and over when the caller hangs up', async (t) => {
    const peer = await openTelephone(t, open);
    const id = await peer.world.callIn(peer.world.own);
    await peer.until(() => peer.started().length === 1);
    t.match(peer.first('call-offered'), { carrierCallId: id, to: peer.world.own, from: /^\+\d+$/ });
    t.match(peer.started(), [{ carrierCallId: id, parameters: { token: peer.stream.token } }]);
    peer.world.hangUp(id);
    await peer.ended();
    t.match(
      peer.told.find((event) => event.type === 'status' && ENDS.has(event.status)),
      { carrierCallId: id, status: 'completed' },
    );
  });

  t.test('a call in is rejected, or left to itself: it never comes to a stream', async (t) => {
    for (const reason of ['busy', 'rejected', null] as const) {
      const peer = await openTelephone(t, open);
      let asked = false;
      peer.onWaiting(async ({ carrierCallId }) => {
        if (reason !== null) await peer.line.reject(carrierCallId, reason);
        asked = true;
      });
      const id = await peer.world.callIn(peer.world.own);
      await peer.until(() => asked && peer.world.endOf(id) !== null);
      t.same(peer.media, [], String(reason));
    }
  });

  t.test('key tones are heard, and the stream is there or comes again', async (t) => {
    const peer = await openTelephone(t, open);
    const { carrierCallId } = await peer.place(peer.world.numbers.answers);
    await peer.until(() => peer.started().length === 1);
    await peer.line.sendKeys(carrierCallId, '12#', { callId: CALL });
    await peer.until(() => peer.world.heard(carrierCallId).keys === '12#');
    const before = peer.media.length;
    await peer.until(() => peer.media.slice(before).some(({ type }) => type === 'audio'));
    await peer.line.hangUp(carrierCallId, { answered: true });
    await peer.ended();
  });

  t.test('a transfer that nobody takes is told, and the call goes on', async (t) => {
    const peer = await openTelephone(t, open);
    const { carrierCallId } = await peer.place(peer.world.numbers.answers);
    await peer.until(() => peer.started().length === 1);
    await peer.line.transfer(carrierCallId, peer.world.numbers.busy, { callId: CALL, from: peer.world.own });
    await peer.until(() => peer.first('transfer-failed') !== undefined && peer.started().length === 2);
    t.match(peer.first('transfer-failed'), { callId: CALL, carrierCallId, why: 'busy' });
    t.equal(await peer.line.hangUp(carrierCallId, { answered: true }), 'ended');
    await peer.ended();
  });

  t.test('a call whose stream has ended is connected anew, by command alone', async (t) => {
    const peer = await openTelephone(t, open);
    const { carrierCallId } = await peer.place(peer.world.numbers.answers);
    await peer.until(() => peer.started().length === 1);
    await peer.line.connect(carrierCallId, peer.stream);
    await peer.until(() => peer.started().length === 2);
    t.match(await peer.line.lookUp(carrierCallId), { status: 'answered' }, 'the line was never let go of');
    await peer.line.hangUp(carrierCallId, { answered: true });
    await peer.ended();
  });

  t.test("a last line in the carrier's voice, and the end", async (t) => {
    const words = 'Sorry, "we" <have> to go & hang up.';
    const peer = await openTelephone(t, open);
    const { carrierCallId } = await peer.place(peer.world.numbers.answers);
    await peer.until(() => peer.started().length === 1);
    await peer.line.sayAndHangUp(carrierCallId, { text: words, language: 'en' });
    await peer.ended();
    t.same(peer.world.heard(carrierCallId).words, [words]);
  });

  t.test('numbers: found with a price, bought once, called, given back', async (t) => {
    const peer = await openTelephone(t, open);
    const { numbers } = peer.carrier;
    if (numbers === null) {
      t.pass('it sells none');
      return;
    }
    const found = await numbers.search({ country: 'US', type: 'local', areaCode: '415', limit: 3 });
    t.equal(found.length, 3);
    t.ok(found.every(({ e164, country_code }) => /^\+1415\d{7}$/.test(e164) && country_code === 'US'));
    const e164 = found[0]?.e164 ?? '';
    const order = { e164, friendlyName: 'Front desk' };
    t.equal(await numbers.adopt(order), null, 'it is not ours yet');
    const bought = await numbers.buy(order);
    t.match(bought, { e164, friendlyName: 'Front desk', countryCode: 'US', numberType: 'local' });
    t.equal(bought.monthlyCostCents, found[0]?.monthly_cost_cents);
    t.same(await numbers.adopt(order), bought, 'now it is, and is not bought again');
    const id = await peer.world.callIn(e164);
    await peer.until(() => peer.started().length === 1);
    t.match(peer.first('call-offered'), { carrierCallId: id, to: e164 });
    peer.world.hangUp(id);
    await peer.ended();
    await numbers.release(bought.carrierNumberId);
    await numbers.release(bought.carrierNumberId);
    await t.rejects(peer.world.callIn(e164), 'nobody is called by it any more');
    t.equal(await numbers.adopt(order), null);
  });
}
