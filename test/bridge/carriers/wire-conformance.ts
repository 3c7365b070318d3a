// What the media codec of every carrier must do, written against MediaWire alone: a carrier's own test calls `wireConformance`
// with the other end of its socket, which writes and reads the bytes by itself.
import type { Test } from 'tap';
import { type AudioFormat, FRAME_MS, frameBytes, sampleBytes } from '../../../audio/format.ts';
import type { MediaMessage, MediaWire } from '../../../bridge/carriers/media-wire.ts';
import { seeded } from '../../random.ts';
import { type Message, written } from '../sockets/written.ts';

/** The carrier's end of a media socket. */
export interface WirePeer {
  start(o: { carrierCallId: string; token: string }): Message;
  /** One frame of 20 ms of the caller's, the `chunk`th from 1. */
  audio(payload: Buffer, chunk: number): Message;
  /** Audio was played up to here. */
  mark(name: string): Message;
  digit(digit: string): Message;
  stop(): Message;
  /** What the daemon has sent. */
  read(
    sent: Message,
  ): { type: 'audio'; payload: Buffer } | { type: 'mark'; name: string } | { type: 'clear' };
}

const CALL = '0192f0c1-2b3c-7d4e-8f50-617283940abc';
const TOKEN = 'Zm9yIG9uZSBzdHJlYW0_-and-no-other';
const FRAMES = 250;
const GARBAGE = 4_000;

/**
 * @param format what the carrier declares
 * @param open one socket's two ends
 */
export function wireConformance(
  t: Test,
  format: AudioFormat,
  open: () => { wire: MediaWire; peer: WirePeer },
): void {
  function opened() {
    const { wire, peer } = open();
    const decode = ({ data, isBinary }: Message) => wire.decode(data, isBinary);
    const started = decode(peer.start({ carrierCallId: CALL, token: TOKEN }));
    if (started.type !== 'started') throw new Error(`a start is read as ${JSON.stringify(started)}`);
    return { wire, peer, decode, started };
  }
  const random = seeded(20_261_122);
  const sound = (bytes: number) =>
    Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)));

  t.test('a stream says what sound it brings, and brings whole samples of it', async (t) => {
    const { peer, decode, started } = opened();
    const { encoding, rateHz } = started.format;
    t.ok(['mulaw', 'alaw', 'pcm16'].includes(encoding), encoding);
    t.ok([8000, 16000, 24000].includes(rateHz), String(rateHz));
    if (sampleBytes(started.format) === 1) return;
    const cut = decode(peer.audio(sound(frameBytes(started.format) - 1), 1));
    t.equal(cut.type, 'malformed', 'half a sample');
  });

  t.test('a start says whose stream it is, and brings its token', async (t) => {
    const { started } = opened();
    t.match(started, { carrierCallId: CALL, parameters: { token: TOKEN } });
    t.not(started.streamId, '');
  });

  t.test("the caller's sound comes untouched, in order of its clock", async (t) => {
    const { peer, decode, started } = opened();
    const length = frameBytes(started.format);
    let lastMs = -1;
    for (let chunk = 1; chunk <= FRAMES; chunk++) {
      const payload = sound(length);
      const message = decode(peer.audio(payload, chunk));
      if (message.type !== 'audio') throw new Error(`frame ${chunk} is ${message.type}`);
      if (!message.payload.equals(payload)) t.fail(`frame ${chunk} is another`);
      if (message.chunk !== chunk) t.fail(`frame ${chunk} is numbered ${message.chunk}`);
      const stepMs = message.timestampMs - lastMs;
      if (lastMs >= 0 && stepMs !== FRAME_MS) t.fail(`frame ${chunk} is ${stepMs} ms after the one before`);
      lastMs = message.timestampMs;
    }
    t.pass(`${FRAMES} frames`);
  });

  t.test('marks, keys and the end of the stream are what they are', async (t) => {
    const { peer, decode } = opened();
    for (const name of ['0:800', '12:160000']) t.same(decode(peer.mark(name)), { type: 'mark', name });
    for (const digit of '0123456789*#') t.same(decode(peer.digit(digit)), { type: 'digit', digit });
    t.same(decode(peer.stop()), { type: 'stopped' });
  });

  t.test("the agent's sound, marks and clears arrive as they were given", async (t) => {
    const { wire, peer, started } = opened();
    for (const frames of [1, 2, 5]) {
      const payload = sound(frames * frameBytes(format));
      const given = Buffer.from(payload);
      const sent = written((message) => wire.audio(message, started.streamId, payload));
      // The daemon fills its buffer anew while the socket still holds the message.
      payload.fill(0);
      t.same(peer.read(sent), { type: 'audio', payload: given });
    }
    for (const name of ['0:800', 'with "quotes" and \\'])
      t.same(peer.read(written((message) => wire.mark(message, started.streamId, name))), {
        type: 'mark',
        name,
      });
    t.same(peer.read(written((message) => wire.clear(message, started.streamId))), { type: 'clear' });
  });

  t.test('whatever comes, it answers and never throws', async (t) => {
    const { wire, peer, started } = opened();
    const whole = [
      peer.start({ carrierCallId: CALL, token: TOKEN }),
      peer.audio(sound(frameBytes(started.format)), 1),
      peer.mark('0:800'),
      peer.digit('5'),
      peer.stop(),
    ];
    const below = (limit: number) => Math.floor(random() * limit);
    const known: ReadonlySet<MediaMessage['type']> = new Set([
      'connected',
      'started',
      'audio',
      'digit',
      'text',
      'mark',
      'stopped',
      'ignored',
      'malformed',
    ]);
    let malformed = 0;
    for (let n = 0; n < GARBAGE; n++) {
      const from = whole[below(whole.length)]!.data;
      const bytes = Buffer.from(from.subarray(0, below(from.length + 1)));
      for (let hits = below(4); hits > 0 && bytes.length > 0; hits--) bytes[below(bytes.length)] = below(256);
      for (const isBinary of [false, true]) {
        const { type } = wire.decode(bytes, isBinary);
        if (!known.has(type)) t.fail(`answers ${type}`);
        if (type === 'malformed') malformed++;
      }
    }
    t.ok(malformed > GARBAGE / 2, `${malformed} of ${2 * GARBAGE} messages were malformed`);
    t.equal(
      wire.decode(Buffer.alloc(1024 * 1024, 0x20), false).type,
      'malformed',
      'more than any message of a stream',
    );
  });
}
