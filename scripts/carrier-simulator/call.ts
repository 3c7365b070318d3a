// One call at the carrier: its resource, its life from queued to ended, its callbacks. What its TwiML does is in
// twiml-interpreter.ts; the telephone at the other end is a leg.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AmdParameters, MachineDetector } from './amd.ts';
import { CallRequests } from './call-requests.ts';
import type { CallOptions, CallSettings, CallStatus, Ending } from './call-settings.ts';
import type { CallView } from './call-view.ts';
import { Callee, soundsOf } from './callee.ts';
import { Leg } from './leg.ts';
import type { MediaStream } from './media-stream.ts';
import type { CloseVariant, Network, Verdict } from './options.ts';
import type { Random } from './random.ts';
import { Recording } from './recording.ts';
import { clipOf, keyToneSamples } from './sound.ts';
import type { Violation } from './stream-report.ts';
import { TwimlInterpreter } from './twiml-interpreter.ts';
import type { World } from './world.ts';

/** The world with its calls: what the REST and the control API work with. */
export interface Exchange extends World {
  /** By sid, oldest first. */
  calls: Map<string, Call>;
  newCall(options: CallOptions): Call;
}

export class Call implements CallView {
  readonly sid = `CA${randomBytes(16).toString('hex')}`;
  readonly options: CallOptions;
  readonly settings: CallSettings;
  readonly random: Random;
  readonly interpreter: TwimlInterpreter;
  status: CallStatus = 'queued';
  readonly createdAt = Date.now();
  updatedAt = Date.now();
  /** When dialled; when answered, from then on. */
  startedAt: number | null = null;
  answeredAt: number | null = null;
  endedAt: number | null = null;
  ending: Ending | null = null;
  queueMs = 0;
  answeredBy: Verdict | null = null;
  amdMs: number | null = null;
  leg: Leg | null = null;
  callee: Callee | null = null;
  recording: Recording | null = null;
  wirePath: string | null = null;
  readonly streams: MediaStream[] = [];
  readonly timeline: { status: string; atMs: number }[] = [];
  /** The carrier's requests about this call. */
  readonly requests: CallRequests;
  readonly documents: { atMs: number; source: string; twiml: string }[] = [];
  /** What the application asked of this call over REST, with which code it was refused, and by which name it asked us. */
  readonly updates: { atMs: number; asked: string; code: number | null; host: string }[] = [];
  /** What the carrier would write to its debugger. */
  readonly errors: Violation[] = [];
  readonly spoken: string[] = [];
  /** Keys the application had the carrier press. */
  digitsHeard = '';
  readonly ended: Promise<Ending>;
  readonly answered: Promise<boolean>;
  readonly #world: World;
  readonly #createdMark = performance.now();
  #resolveEnded!: (ending: Ending) => void;
  #resolveAnswered!: (answered: boolean) => void;
  #stopClock: (() => void) | null = null;
  readonly #timers: (() => void)[] = [];

  constructor(world: Exchange, options: CallOptions) {
    this.#world = world;
    this.options = options;
    this.settings = { ...options.settings };
    this.random = world.nextRandom();
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.answered = new Promise((resolve) => {
      this.#resolveAnswered = resolve;
    });
    this.requests = new CallRequests(world, this);
    this.interpreter = new TwimlInterpreter(world, this);
    world.calls.set(this.sid, this);
    this.#note(options.direction === 'inbound' ? 'ringing' : 'queued');
  }

  /** ms since the call was created */
  nowMs(): number {
    return Math.round(performance.now() - this.#createdMark);
  }

  get network(): Network {
    return this.options.callee.network ?? this.#world.options.network;
  }

  /** The number at the other end. */
  get number(): string {
    const { direction, from, to } = this.options;
    return direction === 'inbound' ? from : to;
  }

  get isEnded(): boolean {
    return this.ending !== null;
  }

  /** Reads the callee's clips. @throws Error when a file is missing */
  async prepare(): Promise<void> {
    await Promise.all(soundsOf(this.options.callee).map((sound) => this.#world.clips.load(sound)));
  }

  /** An outbound call leaves the queue after `queueMs`; then it rings, and the callee's script decides. */
  dial(queueMs: number): void {
    this.queueMs = queueMs;
    this.#after(queueMs, () => {
      this.startedAt = Date.now();
      this.#note('initiated');
      this.requests.progress('initiated', 'initiated');
      this.#after(this.random.between(this.network.postDialDelayMs), () => this.#reachCallee());
    });
  }

  /** An inbound call asks its number's document what to do; the caller waits so long. */
  arrive(): void {
    this.startedAt = Date.now();
    this.status = 'ringing';
    const { url, method } = this.settings;
    const extra = { CallToken: randomBytes(24).toString('base64'), StirVerstat: 'TN-Validation-Passed-A' };
    if (url) this.interpreter.start({ kind: 'voice', url, method, extra });
    else this.end({ status: 'failed', by: 'carrier', why: 'the number has no VoiceUrl' });
  }

  /** The call is picked up: by the callee, or by the first verb of an inbound call's document. */
  answer(): void {
    if (this.isEnded || this.answeredAt !== null) return;
    const now = Date.now();
    this.startedAt = now;
    this.answeredAt = now;
    this.status = 'in-progress';
    this.#note('in-progress');
    this.#openLeg();
    this.requests.progress('answered', 'in-progress');
    this.#resolveAnswered(true);
    const limitSeconds = Math.min(this.settings.limitSeconds, this.#world.options.trial ? 600 : 14_400);
    this.#after(limitSeconds * 1000, () =>
      this.end({ status: 'completed', by: 'carrier', why: 'time limit' }),
    );
  }

  whisper(url: string, method: 'GET' | 'POST'): Promise<boolean> {
    return this.interpreter.runThrough({ kind: 'whisper', url, method, extra: {} });
  }

  /** Ends the call; a second time changes nothing. */
  end(ending: Ending): void {
    if (this.isEnded) return;
    this.ending = ending;
    this.status = ending.status;
    this.endedAt = Date.now();
    this.#note(ending.status);
    for (const cancel of this.#timers) cancel();
    this.#stopClock?.();
    this.leg?.finish();
    const { network } = this;
    const variant = this.random.pick(network.closeVariants);
    this.interpreter.close();
    if (variant === 'completed_before_stop' && this.streams.length > 0) {
      this.#lastCallback();
      this.#world.after(200, () => this.#closeMedia(variant));
    } else {
      this.#closeMedia(variant);
      this.#world.after(this.random.between(network.completedDelayMs), () => this.#lastCallback());
    }
    this.#resolveAnswered(false);
    this.#resolveEnded(ending);
  }

  /** A key pressed by the callee. */
  press(digit: string): void {
    this.#world.events.emit('callee.digit', this.sid, { digit });
    for (const stream of this.streams) stream.digit(digit);
  }

  fail(code: number, message: string): void {
    this.errors.push({ code, message, atMs: this.nowMs() });
    this.#world.events.emit('call.error', this.sid, { code, message });
  }

  #reachCallee(): void {
    const { callee } = this.options;
    if (callee.outcome === 'invalid') {
      this.end({ status: 'failed', by: 'carrier', why: 'no such number', sip: 404 });
      return;
    }
    this.status = 'ringing';
    this.#note('ringing');
    this.requests.progress('ringing', 'ringing');
    const ringMs = this.random.between(callee.ringMs);
    const { ringSeconds } = this.settings;
    if (callee.outcome === 'no_answer' || ringMs > ringSeconds * 1000) {
      this.#after(ringSeconds * 1000, () =>
        this.end({ status: 'no-answer', by: 'carrier', why: 'not answered in time', sip: 487 }),
      );
      return;
    }
    this.#after(ringMs, () => {
      switch (callee.outcome) {
        case 'busy':
          return this.end({ status: 'busy', by: 'callee', why: 'busy', sip: 486 });
        case 'rejected':
          // UNVERIFIED: a declined call (603) is shown as busy; some networks make it no-answer.
          return this.end({ status: 'busy', by: 'callee', why: 'declined', sip: 603 });
        default:
          return this.#pickUp();
      }
    });
  }

  #pickUp(): void {
    const { callee } = this.options;
    this.answer();
    if (callee.outcome === 'hangup_at_once') {
      this.#after(callee.hangUpAfterMs, () =>
        this.end({ status: 'completed', by: 'callee', why: 'hung up at once' }),
      );
    }
    if (this.options.direction === 'outbound-api') void this.#runDocument();
  }

  async #runDocument(): Promise<void> {
    const { url, method, twiml, amd, asyncAmd, sendDigits } = this.settings;
    if (sendDigits) await this.#sendDigits(sendDigits);
    let extra: Record<string, string> = {};
    // Detection is ignored when digits are sent.
    if (amd && !sendDigits) {
      const detected = this.#detect(amd);
      if (!asyncAmd) {
        const verdict = await detected;
        if (verdict) extra = { AnsweredBy: verdict, MachineDetectionDuration: String(this.amdMs) };
      }
    }
    if (this.isEnded) return;
    if (url) this.interpreter.start({ kind: 'voice', url, method, extra });
    else this.interpreter.start({ kind: 'text', twiml, source: 'create' });
  }

  async #sendDigits(digits: string): Promise<void> {
    // W is a whole second.
    const keys = digits.replaceAll('W', 'ww');
    this.digitsHeard += digits;
    await this.interpreter.play(clipOf('digits', keyToneSamples(keys)));
  }

  /** Resolves with the verdict, or null when the call ends first. */
  #detect(parameters: AmdParameters): Promise<Verdict | null> {
    const leg = this.leg!;
    const settle = (verdict: Verdict, atMs: number) => {
      if (this.isEnded) return;
      this.answeredBy = verdict;
      this.amdMs = atMs;
      this.updatedAt = Date.now();
      this.#world.events.emit('amd.verdict', this.sid, { verdict, atMs });
      if (!this.settings.asyncAmd || !this.settings.amdCallback) return;
      this.requests.callback(
        {
          kind: 'amd',
          url: this.settings.amdCallback,
          method: this.settings.amdCallbackMethod,
          parameters: {
            CallSid: this.sid,
            AccountSid: this.#world.options.accountSid,
            AnsweredBy: verdict,
            MachineDetectionDuration: String(atMs),
          },
        },
        this.random.between(this.network.amdDelayMs),
      );
    };
    return new Promise((resolve) => {
      void this.ended.then(() => resolve(null));
      const scripted = this.options.callee.amd;
      if (scripted) {
        this.#after(scripted.afterMs, () => {
          settle(scripted.verdict, Math.round(scripted.afterMs));
          resolve(scripted.verdict);
        });
        return;
      }
      const detector = new MachineDetector(parameters);
      leg.said.add((frame, nowMs) => {
        const verdict = detector.step(nowMs, frame.levelDb, frame.toneHz);
        if (verdict === null) return;
        settle(verdict, nowMs);
        resolve(verdict);
      });
    });
  }

  #openLeg(): void {
    const { options, clips, silence, clock, events } = this.#world;
    const callee = new Callee(
      this.options.callee,
      (sound) => clips.get(sound),
      (event) => {
        if (event.type === 'digit') this.press(event.digit);
        else if (event.type === 'step')
          events.emit('callee.step', this.sid, { ...event, type: 'callee.step' });
        // Not inside the tick: the frame that is being made still belongs to the call.
        else setImmediate(() => this.end({ status: 'completed', by: 'callee', why: event.why }));
      },
    );
    if (options.outDir !== null) this.recording = new Recording(join(options.outDir, `${this.sid}.wav`));
    const leg = new Leg({
      script: this.options.callee,
      callee,
      silence,
      random: this.random,
      earLatencyMs: this.random.between(this.network.earLatencyMs),
      recording: this.recording,
      onTransition: (transition, nowMs) => events.emit(transition, this.sid, { nowMs }),
    });
    this.callee = callee;
    this.leg = leg;
    this.#stopClock = clock.listen(() => leg.tick());
  }

  #closeMedia(variant: CloseVariant): void {
    for (const stream of this.streams) stream.stop(variant);
    const { outDir } = this.#world.options;
    if (this.recording) this.#world.settle(this.recording.close());
    if (outDir === null || this.streams.length === 0) return;
    this.wirePath = join(outDir, `${this.sid}.wire.json`);
    const streams = this.streams.map((stream) => ({ ...stream.report, wire: stream.wire }));
    this.#world.settle(
      writeFile(this.wirePath, `${JSON.stringify({ callSid: this.sid, streams }, null, 1)}\n`),
    );
  }

  #lastCallback(): void {
    const seconds = this.durationSeconds() ?? 0;
    const { ending } = this;
    const extra: Record<string, string> = {
      CallDuration: String(seconds),
      Duration: String(Math.ceil(seconds / 60)),
      SipResponseCode: String(ending?.sip ?? (this.answeredAt === null ? 480 : 200)),
    };
    if (this.answeredBy) extra.AnsweredBy = this.answeredBy;
    this.requests.progress('completed', this.status, extra);
    this.#world.events.emit('call.ended', this.sid, {
      status: this.status,
      by: ending?.by,
      why: ending?.why,
    });
  }

  /** Connected seconds, begun ones counted whole (UNVERIFIED rounding); null while the call lives. */
  durationSeconds(): number | null {
    if (this.endedAt === null) return null;
    return this.answeredAt === null ? 0 : Math.ceil((this.endedAt - this.answeredAt) / 1000);
  }

  #note(status: string): void {
    this.updatedAt = Date.now();
    this.timeline.push({ status, atMs: this.nowMs() });
    this.#world.events.emit('call.status', this.sid, { status });
  }

  /** Runs later, unless the call has ended. */
  #after(ms: number, action: () => void): void {
    this.#timers.push(
      this.#world.after(ms, () => {
        if (!this.isEnded) action();
      }),
    );
  }
}
