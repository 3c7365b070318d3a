// Runs a call's TwiML, verb by verb: fetches documents, plays, connects streams, dials, hangs up at the end. A new
// document over REST pre-empts the one that runs.
import type { CallView } from './call-view.ts';
import { dialNumber } from './dial.ts';
import type { HookAnswer } from './hooks.ts';
import type { EarSource, SaidListener } from './leg.ts';
import { MediaStream } from './media-stream.ts';
import { levelDb, SILENCE } from './mulaw.ts';
import { Playout } from './playout.ts';
import { type Clip, clipOf, keyToneSamples, speechLikeSamples, wavSamples } from './sound.ts';
import { type Document, parseTwiml, type StreamNoun, TwimlError, type Verb } from './twiml.ts';
import type { World } from './world.ts';

export type Source =
  | {
      kind: 'voice' | 'action' | 'whisper';
      url: string;
      method: 'GET' | 'POST';
      extra: Record<string, string>;
      isFallback?: boolean;
    }
  | { kind: 'text'; twiml: string; source: string };

/** More redirects than this is a circle. */
const MOST_DOCUMENTS = 100;

export class TwimlInterpreter {
  readonly #world: World;
  readonly #call: CallView;
  #control = new AbortController();
  #stream: MediaStream | null = null;

  constructor(world: World, call: CallView) {
    this.#world = world;
    this.#call = call;
  }

  /** Runs a document in place of whatever runs; its end is the end of the call. */
  start(source: Source): void {
    const signal = this.#preempt();
    const call = this.#call;
    const finish = (why: string) => {
      if (signal.aborted) return;
      // UNVERIFIED: the carrier picks up to say that an error occurred; here the caller just hears the line go dead.
      const failed = call.answeredAt === null && call.errors.length > 0;
      call.end({ status: failed ? 'failed' : 'completed', by: 'document', why });
    };
    // The pre-empted document is not waited for: it may be waiting for an answer that takes its whole deadline.
    void this.#documents(source, signal).then(
      () => finish('end of document'),
      (error: unknown) => {
        call.fail(20500, String(error));
        finish('the simulator failed');
      },
    );
  }

  /** Runs a document to its end and leaves the call as it is. Answers false when the call ended or was redirected. */
  async runThrough(source: Source): Promise<boolean> {
    const signal = this.#preempt();
    await this.#documents(source, signal);
    return !signal.aborted && !this.#call.isEnded;
  }

  /** The call has ended; its streams are stopped by the call. */
  close(): void {
    this.#control.abort();
  }

  /** Plays a clip to the callee; resolves when it was played, or cut off. */
  play(clip: Clip, signal: AbortSignal = this.#control.signal): Promise<void> {
    const { leg } = this.#call;
    if (!leg || signal.aborted || clip.frames.length === 0) return Promise.resolve();
    const playout = new Playout();
    for (const frame of clip.frames) playout.push(frame.mulaw);
    return new Promise((resolve) => {
      const finish = () => {
        signal.removeEventListener('abort', finish);
        if (leg.source === source) leg.source = null;
        resolve();
      };
      const source: EarSource = {
        pull() {
          const { frame } = playout.pull();
          if (playout.bufferedBytes === 0) setImmediate(finish);
          return frame;
        },
      };
      leg.source = source;
      signal.addEventListener('abort', finish);
    });
  }

  #preempt(): AbortSignal {
    this.#control.abort();
    this.#control = new AbortController();
    this.#stream?.stop('stop_then_close');
    return this.#control.signal;
  }

  async #documents(first: Source, signal: AbortSignal): Promise<void> {
    let source: Source | null = first;
    let base = '';
    for (let count = 0; source !== null && !signal.aborted; count++) {
      if (count >= MOST_DOCUMENTS) {
        this.#call.fail(12100, 'too many redirects');
        return;
      }
      if (source.kind !== 'text') base = source.url;
      const document = await this.#fetch(source, signal);
      if (document === null || signal.aborted) return;
      source = await this.#execute(document, base, signal);
    }
  }

  async #fetch(source: Source, signal: AbortSignal): Promise<Document | null> {
    const call = this.#call;
    try {
      if (source.kind === 'text') return this.#parse(source.source, source.twiml);
      const answer = await call.requests.send({
        kind: source.kind,
        url: source.url,
        method: source.method,
        parameters: { ...call.requests.parameters(), ...source.extra },
      });
      if (signal.aborted) return null;
      return this.#parse(source.kind, textOf(answer));
    } catch (error) {
      if (!(error instanceof TwimlError)) throw error;
      call.fail(error.code, error.message);
      const { fallbackUrl, fallbackMethod } = call.settings;
      if (source.kind === 'text' || source.isFallback || !fallbackUrl || signal.aborted) return null;
      const extra = { ErrorCode: String(error.code), ErrorUrl: source.url };
      return this.#fetch(
        { kind: 'voice', url: fallbackUrl, method: fallbackMethod, extra, isFallback: true },
        signal,
      );
    }
  }

  #parse(source: string, twiml: string): Document {
    const call = this.#call;
    call.documents.push({ atMs: call.nowMs(), source, twiml });
    const document = parseTwiml(twiml);
    for (const { code, message } of document.warnings) call.fail(code, message);
    return document;
  }

  /** Answers the document that comes next, if any. */
  async #execute(document: Document, base: string, signal: AbortSignal): Promise<Source | null> {
    for (const verb of document.verbs) {
      if (signal.aborted) return null;
      this.#world.events.emit('call.verb', this.#call.sid, { verb: verb.verb });
      const next = await this.#run(verb, base, signal);
      if (next !== null) return next;
    }
    return null;
  }

  async #run(verb: Verb, base: string, signal: AbortSignal): Promise<Source | null> {
    const call = this.#call;
    // Everything but these picks up a call that rings.
    if (
      verb.verb !== 'Reject' &&
      verb.verb !== 'Redirect' &&
      !(verb.verb === 'Dial' && verb.answerOnBridge)
    ) {
      call.answer();
    }
    switch (verb.verb) {
      case 'Say':
        call.spoken.push(verb.text);
        return this.#repeat(verb.loop, signal, () =>
          this.play(clipOf('speech', speechLikeSamples(verb.text)), signal),
        );
      case 'Play':
        return this.#repeat(verb.loop, signal, () => this.#playVerb(verb, base, signal));
      case 'Pause':
        await pause(this.#world, verb.seconds * 1000, signal);
        return null;
      case 'Start':
        void this.#connect(verb.stream, base, false);
        return null;
      case 'Stop':
        for (const stream of call.streams)
          if (!stream.report.end && stream !== this.#stream) stream.stop('stop_then_close');
        return null;
      case 'Connect': {
        const stream = await this.#connect(verb.stream, base, true);
        if (signal.aborted || !verb.action) return null;
        const extra = { StreamSid: stream?.streamSid ?? '' };
        return { kind: 'action', url: resolveUrl(verb.action, base), method: verb.method, extra };
      }
      case 'Dial': {
        const extra = await dialNumber(this.#world, call, verb, base, signal);
        if (signal.aborted || !verb.action) return null;
        return { kind: 'action', url: resolveUrl(verb.action, base), method: verb.method, extra };
      }
      case 'Hangup':
        call.end({ status: 'completed', by: 'document', why: 'Hangup' });
        return null;
      case 'Reject':
        this.#reject(verb.reason);
        return null;
      case 'Redirect':
        return { kind: 'action', url: resolveUrl(verb.url, base), method: verb.method, extra: {} };
    }
  }

  #reject(reason: 'rejected' | 'busy'): void {
    const why = `Reject: ${reason}`;
    if (this.#call.answeredAt !== null) this.#call.end({ status: 'completed', by: 'document', why });
    else if (reason === 'busy') this.#call.end({ status: 'busy', by: 'document', why, sip: 486 });
    // UNVERIFIED: the status that a rejected inbound call is shown with.
    else this.#call.end({ status: 'no-answer', by: 'document', why, sip: 480 });
  }

  /** `loop="0"` is for ever, up to the end of the call. */
  async #repeat(loop: number, signal: AbortSignal, play: () => Promise<void>): Promise<null> {
    for (let i = 0; (loop === 0 || i < loop) && !signal.aborted; i++) {
      await play();
      // What cannot be played takes no time; for ever must not be a standstill.
      if (loop === 0) await pause(this.#world, 20, signal);
    }
    return null;
  }

  async #playVerb(verb: Extract<Verb, { verb: 'Play' }>, base: string, signal: AbortSignal): Promise<void> {
    const call = this.#call;
    if (verb.digits) {
      call.digitsHeard += verb.digits;
      this.#world.events.emit('callee.heard_digits', call.sid, { digits: verb.digits });
      await this.play(clipOf('digits', keyToneSamples(verb.digits.replaceAll('W', 'ww'))), signal);
      return;
    }
    const answer = await call.requests.send({
      kind: 'play',
      url: resolveUrl(verb.url, base),
      method: 'GET',
      parameters: {},
    });
    if (signal.aborted) return;
    if (!answer.ok || answer.status >= 400) {
      call.fail(13224, `Play: ${answer.ok ? `HTTP ${answer.status}` : answer.error}`);
      return;
    }
    try {
      await this.play(clipOf(verb.url, wavSamples(answer.body)), signal);
    } catch (error) {
      call.fail(12300, `Play: no WAV file: ${String(error)}`);
    }
  }

  /** Opens a stream; for Connect, resolves when it has ended. */
  async #connect(noun: StreamNoun, base: string, bidirectional: boolean): Promise<MediaStream | null> {
    const call = this.#call;
    const { options, faults, pump, events } = this.#world;
    const { signal } = this.#control;
    await pause(this.#world, call.random.between(call.network.connectDelayMs), signal);
    const { leg } = call;
    if (signal.aborted || !leg) return null;
    const tracks: ('inbound' | 'outbound')[] =
      noun.track === 'both_tracks'
        ? ['inbound', 'outbound']
        : noun.track === 'outbound_track'
          ? ['outbound']
          : ['inbound'];
    // A relative address becomes wss; an absolute one stays what it is, to the letter, because it is signed.
    const url = URL.canParse(noun.url) ? noun.url : resolveUrl(noun.url, base).replace(/^http/, 'ws');
    const stream = new MediaStream(
      {
        accountSid: options.accountSid,
        authToken: options.authToken,
        callSid: call.sid,
        number: call.number,
        allowInsecure: options.allowInsecure,
        strict: options.strict,
        network: call.network,
        random: call.random,
        faults,
        pump,
        nowMs: () => call.nowMs(),
        onEvent: (type, detail) => events.emit(type, call.sid, detail),
      },
      { url, parameters: noun.parameters, bidirectional, tracks },
    );
    call.streams.push(stream);
    if (bidirectional) this.#stream = stream;
    const notify = (event: string, error: string | null) =>
      this.#streamCallback(noun, stream, event, error, base);

    const opened = stream.open();
    if (await opened) {
      notify('stream-started', null);
      const onSaid: SaidListener = (frame, _nowMs, speaks) => {
        if (speaks) stream.calleeSpeaks();
        stream.media('inbound', frame);
      };
      const onHeard = (frame: Buffer) =>
        stream.media('outbound', {
          base64: frame === SILENCE ? SILENCE_BASE64 : frame.toString('base64'),
          levelDb: levelDb(frame),
        });
      if (tracks.includes('inbound')) leg.said.add(onSaid);
      if (tracks.includes('outbound')) leg.heard.add(onHeard);
      if (bidirectional) leg.source = stream;
      await stream.ended;
      leg.said.delete(onSaid);
      leg.heard.delete(onHeard);
      if (leg.source === stream) leg.source = null;
    }
    if (this.#stream === stream) this.#stream = null;
    const end = await stream.ended;
    if (end.error) notify('stream-error', end.error);
    else notify('stream-stopped', null);
    if (end.error) call.fail(Number.parseInt(end.error, 10), end.error);
    return stream;
  }

  #streamCallback(
    noun: StreamNoun,
    stream: MediaStream,
    event: string,
    error: string | null,
    base: string,
  ): void {
    if (!noun.statusCallback) return;
    const call = this.#call;
    call.requests.callback({
      kind: 'stream',
      url: resolveUrl(noun.statusCallback, base),
      method: noun.statusCallbackMethod,
      parameters: {
        AccountSid: this.#world.options.accountSid,
        CallSid: call.sid,
        StreamSid: stream.streamSid,
        StreamName: noun.name || stream.streamSid,
        StreamEvent: event,
        ...(error ? { StreamError: error } : {}),
        Timestamp: new Date().toISOString(),
      },
    });
  }
}

const SILENCE_BASE64 = SILENCE.toString('base64');

/** @throws TwimlError 11200 (no answer or an error status), 12300 (content type) */
function textOf(answer: HookAnswer): string {
  if (!answer.ok) throw new TwimlError(answer.code, answer.error);
  if (answer.status >= 300) throw new TwimlError(11200, `HTTP retrieval failure: status ${answer.status}`);
  const type = answer.contentType.split(';')[0]!.trim().toLowerCase();
  if (answer.body.length > 0 && !['text/xml', 'application/xml', 'text/html'].includes(type)) {
    throw new TwimlError(12300, `Invalid Content-Type: ${answer.contentType}`);
  }
  return answer.body.toString('utf8');
}

function resolveUrl(url: string, base: string): string {
  if (URL.canParse(url) || !URL.canParse(url, base)) return url;
  return new URL(url, base).href;
}

/** Resolves after `ms`, or when aborted. */
function pause(world: World, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = world.after(ms, finish);
    signal.addEventListener('abort', finish);
  });
}
