// One Media Stream: the websocket client that speaks Twilio's media protocol to the application and plays what it sends.
// https://www.twilio.com/docs/voice/media-streams/websocket-messages
import WebSocket from 'ws';
import type { Faults } from './faults.ts';
import { garbage } from './garbage.ts';
import { type Fate, Impairment } from './impairment.ts';
import { Link, type Pump } from './link.ts';
import {
  CONNECTED,
  dtmfMessage,
  type Identity,
  markMessage,
  mediaMessage,
  readMessage,
  socketError,
  startMessage,
  stopMessage,
} from './media-messages.ts';
import { FRAME_BYTES, FRAME_MS } from './mulaw.ts';
import type { CloseVariant, Network, StreamStage } from './options.ts';
import { Playout } from './playout.ts';
import type { Random } from './random.ts';
import { sign } from './signature.ts';
import { type MarkReport, newReport, type StreamEnd, type StreamReport } from './stream-report.ts';
import { createWireLog, RUN_PAUSE_MS, type WireEntry } from './wire-log.ts';

export interface StreamRequest {
  url: string;
  parameters: Record<string, string>;
  /** Connect: one that also plays. Start: listening only, on these tracks. */
  bidirectional: boolean;
  tracks: ('inbound' | 'outbound')[];
}
export interface StreamWorld {
  accountSid: string;
  authToken: string;
  callSid: string;
  /** The number at the other end. */
  number: string;
  allowInsecure: boolean;
  strict: boolean;
  network: Network;
  random: Random;
  faults: Faults;
  pump: Pump;
  /** ms since the call was created */
  nowMs(): number;
  onEvent(type: string, detail: Record<string, unknown>): void;
}

/** A hole longer than this is a new utterance. */
const GAP_MS = 1000;
const HANDSHAKE_MS = 5000;
/** About 10 s of media waiting in the socket: the application reads too slowly. */
const SLOW_READER_BYTES = 200_000;
const TICKS_PER_MINUTE = 3000;
const MOST_VIOLATIONS = 1000;
/** How long the application may take to answer the closing handshake. */
const CLOSE_MS = 2000;
/** How long a connection that nobody ended is there after its stream. */
const DEAD_LINE_MS = 60_000;

export class MediaStream {
  readonly report: StreamReport;
  readonly wire: WireEntry[];
  /** Resolves once, whoever ended the stream. Never rejects. */
  readonly ended: Promise<StreamEnd>;
  readonly #world: StreamWorld;
  readonly #request: StreamRequest;
  readonly #playout: Playout;
  readonly #log;
  readonly #pending: MarkReport[] = [];
  #end!: (end: StreamEnd) => void;
  #socket: WebSocket | null = null;
  #link: Link | null = null;
  #state: 'idle' | 'connecting' | 'open' | 'ended' = 'idle';
  #sequence = 0;
  readonly #chunks = { inbound: 0, outbound: 0 };
  #samples = 0;
  #firstTimestamp = 0;
  #mediaFromMs = 0;
  #lastMediaMs: number | null = null;
  /** When the carrier's own clock brought the last frame of the stream's first track. */
  #frameAt: number | null = null;
  /** Since when nothing is left to play, and how many ticks of silence that has made. */
  #dry: { atMs: number; ticks: number; afterMark: boolean } | null = null;
  readonly #impairment: Impairment;
  #fate: Fate = 'send';
  #heldBack: string | null = null;
  #resume: NodeJS.Timeout | null = null;
  /** The way between the two is gone, and nobody was told. */
  #isHalfOpen = false;
  #notice: NodeJS.Timeout | null = null;
  readonly #reached = new Map<StreamStage, number>();

  constructor(world: StreamWorld, request: StreamRequest) {
    this.#world = world;
    this.#request = request;
    const { random, network } = world;
    this.#playout = new Playout(() => Math.round(random.between(network.playoutStartMs) / FRAME_MS));
    this.#impairment = new Impairment(network, random);
    this.#log = createWireLog(() => world.nowMs());
    this.wire = this.#log.entries;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.report = newReport(request, world.nowMs());
  }

  get streamSid(): string {
    return this.report.streamSid;
  }

  /** Opens the socket and sends connected and start. Answers whether the stream runs; if not, `ended` says why. */
  open(): Promise<boolean> {
    const url = this.#checkedUrl();
    if (url === null) return Promise.resolve(false);
    this.#state = 'connecting';
    return new Promise((resolve) => {
      this.ended.then(() => resolve(false));
      const socket = new WebSocket(url, {
        headers: {
          'x-twilio-signature': sign(this.#world.authToken, url, {}),
          'user-agent': 'Twilio.TmeWs/1.0',
        },
        perMessageDeflate: false,
        followRedirects: false,
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: 16 * 1024 * 1024,
        rejectUnauthorized: !this.#world.allowInsecure,
      });
      this.#socket = socket;
      let refused: string | null = null;
      socket.on('unexpected-response', (request, response) => {
        refused = `31920 - Stream - WebSocket - Handshake Error: HTTP ${response.statusCode}`;
        request.destroy();
        this.#finish({ by: 'error', closeCode: null, error: refused });
      });
      socket.on('error', (error) => this.#socketFailed(error));
      socket.on('close', (code) => this.#socketClosed(code));
      socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
      socket.on('open', () => {
        if (this.#state !== 'connecting') return;
        this.#state = 'open';
        this.#start(socket);
        resolve(!this.#isEnded());
      });
    });
  }

  /** A frame of the callee (track inbound) or of what is played (outbound), once per tick. */
  media(track: 'inbound' | 'outbound', frame: { base64: string; levelDb: number }): void {
    if (this.#state !== 'open' || !this.#request.tracks.includes(track)) return;
    if (track === this.#request.tracks[0]) {
      const now = performance.now();
      const pausedMs = now - (this.#frameAt ?? now);
      this.report.standstillMs = Math.max(this.report.standstillMs, Math.round(pausedMs));
      this.#frameAt = now;
      this.#tick(frame.levelDb);
    }
    if (this.#isEnded() || this.#samples === 0) return;
    switch (this.#fate) {
      case 'omit':
        return;
      case 'lose-and-skip-chunk':
        this.#chunks[track] += 1;
        this.report.sent.lost += 1;
        return;
      case 'lose':
        this.report.sent.lost += 1;
        return;
      case 'repeat':
        this.#sendMedia(track, frame.base64, -FRAME_MS);
        this.#sendMedia(track, frame.base64, 0);
        return;
      case 'send':
        this.#sendMedia(track, frame.base64, 0);
    }
  }

  /** The next frame of the callee has its own voice in it. */
  calleeSpeaks(): void {
    if (this.#state === 'open') this.#reach('callee_speech');
  }

  /** A key was pressed. Only bidirectional streams hear of it. */
  digit(digit: string): void {
    if (this.#state !== 'open' || !this.#request.bidirectional) return;
    this.#sequence += 1;
    this.#post(dtmfMessage(this.#sequence, digit, this.streamSid));
    this.report.sent.digits += 1;
    this.#log.add('to_application', 'dtmf', { sequenceNumber: this.#sequence, digit });
    this.#reach('dtmf');
  }

  /** One tick of what the application sent, for the ear; null is silence. */
  pull(): Buffer | null {
    const pulled = this.#playout.pull();
    const now = this.#world.nowMs();
    if (pulled.bytes > 0) {
      if (this.#dry !== null) this.#closeGap(this.#dry);
      this.#dry = null;
      this.report.playedBytes += pulled.bytes;
      if (pulled.bytes < FRAME_BYTES) this.report.partialFrames += 1;
      if (this.#playout.bufferedBytes === 0)
        this.#dry = { atMs: now, ticks: 0, afterMark: pulled.marks.length > 0 };
    } else if (this.#dry !== null) this.#dry.ticks++;
    for (const name of pulled.marks) this.#echo(name, 'played');
    return pulled.frame;
  }

  /** By what was heard, not by the clock: ticks that were late come one after the other. */
  #closeGap({ atMs, ticks, afterMark }: { atMs: number; ticks: number; afterMark: boolean }): void {
    const ms = ticks * FRAME_MS;
    if (ms > 0 && ms <= GAP_MS)
      this.report.gaps.push({ atMs, ms, atBytes: this.report.playedBytes, afterMark });
  }

  /** The carrier ends the stream: the call is over, or its document was replaced. */
  stop(variant: CloseVariant): void {
    if (this.#state === 'ended') return;
    const socket = this.#socket;
    if (this.#isHalfOpen) {
      this.#finish({ by: 'carrier', closeCode: null, error: null });
      return;
    }
    if (this.#state !== 'open' || variant === 'abort') {
      this.#finish({ by: 'carrier', closeCode: variant === 'abort' ? 1006 : null, error: null });
      socket?.terminate();
      return;
    }
    if (variant !== 'close_without_stop') {
      this.#sequence += 1;
      this.#post(stopMessage(this.#sequence, this.#identity()));
      this.#log.add('to_application', 'stop', { sequenceNumber: this.#sequence });
    }
    this.#link?.drain();
    this.#finish({ by: 'carrier', closeCode: 1000, error: null });
    this.#close(1000);
  }

  /** Both directions stand still for a while. */
  stall(ms: number): void {
    this.#link?.stall(ms);
    this.#socket?.pause();
    if (this.#resume !== null) clearTimeout(this.#resume);
    this.#resume = setTimeout(() => this.#socket?.resume(), ms);
  }

  /** Reads nothing for a while, and sends on. */
  deafen(ms: number): void {
    this.#socket?.pause();
    if (this.#resume !== null) clearTimeout(this.#resume);
    this.#resume = setTimeout(() => this.#socket?.resume(), ms);
  }

  /** No media messages for a while, as when RTP stops. */
  mute(ms: number): void {
    this.#impairment.mute(ms);
  }

  /** The connection is lost, as seen from both sides. */
  abort(): void {
    if (this.#isEnded()) return;
    const error = '31921 - Stream - WebSocket - Close Error: 1006';
    this.#finish({ by: 'error', closeCode: 1006, error });
    this.#socket?.terminate();
  }

  /** Nothing passes any more, either way, and the application is not told; the carrier notices after so long. */
  halfOpen(noticeMs: number): void {
    if (this.#isHalfOpen) return;
    this.#isHalfOpen = true;
    this.#socket?.pause();
    const error = '31921 - Stream - WebSocket - Close Error: 1006';
    this.#notice = setTimeout(() => this.#finish({ by: 'error', closeCode: 1006, error }), noticeMs);
  }

  /** Lets go of the socket, whatever its state. */
  destroy(): void {
    this.abort();
    this.#socket?.terminate();
  }

  #identity(): Identity {
    const { accountSid, callSid } = this.#world;
    return { accountSid, callSid, streamSid: this.streamSid };
  }

  #isEnded(): boolean {
    return this.#state === 'ended';
  }

  #checkedUrl(): string | null {
    const fail = (error: string) => {
      this.#finish({ by: 'error', closeCode: null, error });
      return null;
    };
    let url: URL;
    try {
      url = new URL(this.#request.url);
    } catch {
      return fail('31923 - Stream - WebSocket - Malformed URL');
    }
    if (url.protocol !== 'wss:' && !(this.#world.allowInsecure && url.protocol === 'ws:')) {
      return fail('31922 - Stream - WebSocket - Invalid Scheme');
    }
    const { callSid, number } = this.#world;
    if (this.#world.faults.take('stream_refuse', { path: url.pathname, callSid, number })) {
      return fail('31920 - Stream - WebSocket - Handshake Error: injected');
    }
    // Query strings are not supported: dropped, or the handshake fails.
    const query = this.#request.url.indexOf('?');
    if (query < 0) return this.#request.url;
    this.#violation(31920, 'the Stream url has a query string; it was dropped', false);
    if (this.#world.strict) return fail('31920 - Stream - WebSocket - Handshake Error: query string');
    return this.#request.url.slice(0, query);
  }

  #start(socket: WebSocket): void {
    const { network, random, pump } = this.#world;
    this.#link = new Link((text) => socket.send(text), pump, random, network.jitterSdMs);
    const { streamSid } = this;
    this.report.startedMs = this.#world.nowMs();
    this.#mediaFromMs = this.report.startedMs + random.between(network.firstMediaDelayMs);
    this.#firstTimestamp = 80 + random.integer(81);
    if (!this.#reach('open')) return;
    this.#post(CONNECTED);
    this.#log.add('to_application', 'connected', {});
    if (!this.#reach('connected')) return;
    this.#sequence = 1;
    this.#post(startMessage(this.#identity(), this.#request.tracks, this.#request.parameters));
    this.#log.add('to_application', 'start', { sequenceNumber: 1 });
    this.#world.onEvent('stream.started', { streamSid });
    this.#reach('start');
  }

  /** Time passes on the wire, and the network does what it does. */
  #tick(levelDb: number): void {
    const { network, random } = this.#world;
    if (random.chance(network.stallsPerMinute / TICKS_PER_MINUTE))
      this.stall(random.between(network.stallMs));
    if (random.chance(network.abortsPerMinute / TICKS_PER_MINUTE)) this.abort();
    this.#strike();
    if (this.#world.nowMs() < this.#mediaFromMs) return;
    this.#fate = this.#impairment.next(levelDb);
    if (this.#fate !== 'omit') this.#samples += this.#fate === 'repeat' ? 2 : 1;
  }

  /** The stream has come to a stage once more: what was to go wrong there does. False when it is over. */
  #reach(stage: StreamStage): boolean {
    const count = (this.#reached.get(stage) ?? 0) + 1;
    this.#reached.set(stage, count);
    this.#strike({ stage, count });
    return this.#state === 'open';
  }

  #strike(at: { stage?: StreamStage; count?: number } = {}): void {
    const { random, faults, callSid, number } = this.#world;
    const where = { callSid, number, ...at };
    const stall = faults.take('stream_stall', where);
    if (stall) this.stall(random.between(stall.ms ?? [500, 500]));
    const mute = faults.take('stream_mute', where);
    if (mute) this.mute(random.between(mute.ms ?? [1000, 1000]));
    const deaf = faults.take('stream_deaf', where);
    if (deaf) this.deafen(random.between(deaf.ms ?? [5000, 5000]));
    const noise = faults.take('stream_garbage', where);
    if (noise) this.#babble(noise.count);
    const half = faults.take('stream_half_open', where);
    if (half) this.halfOpen(random.between(half.ms ?? [0, 0]));
    if (faults.take('stream_abort', where)) this.abort();
  }

  /** Messages that no carrier sends, between those that one does. */
  #babble(count: number): void {
    this.#log.add('to_application', 'garbage', { count });
    for (const { data, binary } of garbage(count, this.streamSid, this.#world.random)) {
      if (this.#state !== 'open') return;
      this.#socket?.send(data, { binary });
    }
  }

  #sendMedia(track: 'inbound' | 'outbound', base64: string, offsetMs: number): void {
    const { network, random } = this.#world;
    if (this.#socket!.bufferedAmount > SLOW_READER_BYTES) {
      this.#violation(31930, 'upstream buffer overflow: the application reads too slowly', false);
      this.report.sent.lost += 1;
      return;
    }
    this.#sequence += 1;
    this.#chunks[track] += 1;
    const chunk = this.#chunks[track];
    const timestamp = this.#firstTimestamp + (this.#samples - 1) * FRAME_MS + offsetMs;
    this.report.sent.firstTimestamp ??= timestamp;
    this.report.sent.media += 1;
    const text = mediaMessage(this.#sequence, track, chunk, timestamp, base64, this.streamSid);
    this.#log.addMedia('to_application', FRAME_BYTES, this.#sequence, timestamp);
    if (this.#heldBack === null && random.chance(network.reorderRate)) {
      this.#heldBack = text;
      return;
    }
    this.#post(text);
    if (random.chance(network.duplicateRate)) this.#post(text);
    if (this.#heldBack !== null) {
      this.#post(this.#heldBack);
      this.#heldBack = null;
    }
    this.#reach('media');
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#state !== 'open') return;
    const message = readMessage(data, isBinary, {
      streamSid: this.streamSid,
      bidirectional: this.#request.bidirectional,
    });
    switch (message.event) {
      case 'violation':
        return void this.#violation(message.code, message.message, true);
      case 'media':
        // The carrier plays a file header as noise; here it is worth a word.
        if (message.hasWavHeader) this.#violation(31951, 'the payload begins with a WAV header', true);
        return void this.#receiveMedia(message.bytes);
      case 'mark':
        return void this.#receiveMark(message.name);
      case 'clear':
        return void this.#receiveClear();
    }
  }

  #receiveMedia(bytes: Buffer): void {
    const { received } = this.report;
    received.media += 1;
    received.bytes += bytes.length;
    const now = this.#world.nowMs();
    received.firstMediaMs ??= now;
    if (this.#lastMediaMs !== null) {
      const pause = Math.min(RUN_PAUSE_MS, Math.round(now - this.#lastMediaMs));
      this.report.pauses[pause] = (this.report.pauses[pause] ?? 0) + 1;
    }
    this.#lastMediaMs = now;
    this.#log.addMedia('from_application', bytes.length, null, null);
    const lost = this.#playout.push(bytes);
    if (lost > 0) this.#violation(31931, 'more than 10 minutes buffered; audio was discarded', false);
    this.report.maxBufferedMs = Math.max(this.report.maxBufferedMs, this.#playout.bufferedBytes / 8);
    this.#reach('app_media');
  }

  #receiveMark(name: string): void {
    this.report.received.marks += 1;
    const report: MarkReport = { name, receivedMs: this.#world.nowMs(), echoedMs: null, by: null };
    this.report.marks.push(report);
    this.#pending.push(report);
    this.#log.add('from_application', 'mark', { name });
    if (!this.#reach('app_mark')) return;
    if (this.#playout.mark(name) === 'queued') return;
    if (this.#dry) this.#dry.afterMark = true;
    setImmediate(() => this.#echo(name, 'at_once'));
  }

  #receiveClear(): void {
    this.report.received.clears += 1;
    const dropped = this.#playout.clear();
    this.#dry = null;
    this.report.clears.push({ atMs: this.#world.nowMs(), droppedBytes: dropped.bytes, marks: dropped.marks });
    this.#log.add('from_application', 'clear', { droppedBytes: dropped.bytes });
    for (const name of dropped.marks) this.#echo(name, 'cleared');
    this.#reach('app_clear');
  }

  #echo(name: string, by: 'played' | 'at_once' | 'cleared'): void {
    if (this.#state !== 'open') return;
    const index = this.#pending.findIndex((mark) => mark.name === name);
    const report = index < 0 ? undefined : this.#pending.splice(index, 1)[0];
    if (report) {
      report.echoedMs = this.#world.nowMs();
      report.by = by;
    }
    this.#sequence += 1;
    this.report.sent.marks += 1;
    this.#post(markMessage(this.#sequence, name, this.streamSid));
    this.#log.add('to_application', 'mark', { sequenceNumber: this.#sequence, name, by });
    this.#reach('mark_echo');
  }

  #post(text: string): void {
    if (!this.#isHalfOpen) this.#link?.post(text);
  }

  /** Buffer warnings (31930, 31931) come once per stream. A protocol violation ends the stream in strict mode. */
  #violation(code: number, message: string, fatalWhenStrict: boolean): void {
    const { violations } = this.report;
    if (!fatalWhenStrict && violations.some((violation) => violation.code === code)) return;
    if (violations.length >= MOST_VIOLATIONS) return;
    violations.push({ code, message, atMs: this.#world.nowMs() });
    this.#log.add('from_application', 'violation', { code, message });
    this.#world.onEvent('stream.violation', { streamSid: this.streamSid, code, message });
    if (!this.#world.strict || !fatalWhenStrict || this.#state !== 'open') return;
    this.#finish({ by: 'error', closeCode: 1002, error: `${code} - ${message}` });
    this.#close(1002);
  }

  #close(code: number): void {
    const socket = this.#socket;
    if (!socket) return;
    socket.close(code);
    const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once('close', () => clearTimeout(timer));
  }

  /** Of a half-open connection: what is on its way goes nowhere, and in the end both systems give it up. */
  #endLater(): void {
    const socket = this.#socket;
    const timer = setTimeout(() => socket?.terminate(), DEAD_LINE_MS);
    socket?.once('close', () => clearTimeout(timer));
  }

  #socketFailed(error: Error): void {
    const named = socketError(error);
    if (named.startsWith('31924')) this.#violation(31924, error.message, false);
    this.#finish({ by: 'error', closeCode: null, error: named });
    this.#socket?.terminate();
  }

  #socketClosed(code: number): void {
    // 1005: a close frame without a code. Anything else but 1000 is reported as 31921.
    const normal = code === 1000 || code === 1005;
    this.#finish({
      by: 'application',
      closeCode: code,
      error: normal ? null : `31921 - Stream - WebSocket - Close Error: ${code}`,
    });
  }

  #finish(end: StreamEnd): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#playout.clear();
    if (this.#resume !== null) clearTimeout(this.#resume);
    if (this.#notice !== null) clearTimeout(this.#notice);
    if (this.#isHalfOpen) this.#endLater();
    else {
      this.#link?.drain();
      if (this.#socket?.isPaused) this.#socket.resume();
    }
    this.report.endedMs = this.#world.nowMs();
    this.report.end = end;
    this.#world.onEvent('stream.ended', { streamSid: this.streamSid, ...end });
    this.#end(end);
  }
}
