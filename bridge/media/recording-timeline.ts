// PURE. The two voices of a call on one timeline, the carrier's: the caller where the carrier's time puts each frame, whenever
// it came; the agent where the marks that came back between these frames say it was played. Written late, so that what comes
// late or is found to have been played later than it was sent still finds its place.
// mu-law is a byte per sample: positions on the timeline are samples.
import { BYTES_PER_MS, FRAME_BYTES, MULAW_SILENCE } from '../../audio/format.ts';
import { MULAW_TO_PCM } from '../../audio/g711.ts';
import { ClockLead } from './clock-lead.ts';

/** Nothing younger is written. */
const LAG = 2_000 * BYTES_PER_MS;
/** Frames and marks are waited for as long: a line that owes them for longer is given up. */
const MOST_LAG = 16_000 * BYTES_PER_MS;
const RING = 4_000 * BYTES_PER_MS;
const MOST_RING = 32_000 * BYTES_PER_MS;
/** How far off the agent's voice may be at the first mark of a stretch, and later on, where moving it leaves a hole. */
const EXACT = 20 * BYTES_PER_MS;
const STEADY = 40 * BYTES_PER_MS;
/** A mark is placed by the frame after it; without one for this long, by our clock. */
const NO_FRAME_MS = 100;
/** What should have been played for this long, and is not confirmed, was not played when the carrier is told to drop it. */
const OVERDUE = 500 * BYTES_PER_MS;

/** A stretch of the agent's voice, handed over and not yet heard. Places are samples of the timeline. */
interface Span {
  from: number;
  to: number;
  /** The mark behind it; null while there is none. */
  mark: string | null;
  /** The carrier had nothing left to play when it was handed over, by all that is known. */
  fresh: boolean;
}

export type WriteFrame = (caller: Int16Array, agent: Int16Array) => void;

/** A frame of both voices on its way into the file: of one call after the other. */
const CALLER_FRAME = new Int16Array(FRAME_BYTES);
const AGENT_FRAME = new Int16Array(FRAME_BYTES);

const silence = (length: number) => new Uint8Array(length).fill(MULAW_SILENCE);

export class RecordingTimeline {
  /** Samples that came when their place was written, or that there was no room for. */
  lateSamples = 0;
  #write: WriteFrame | null = null;
  #caller = silence(RING);
  #agent = silence(RING);
  #written = 0;
  #callerTo = 0;
  /** What keeps a stream that follows another from going back behind it. */
  #callerShift = 0;
  #agentTo = 0;
  /** The end of what is known to be heard. */
  #heardTo = 0;
  #spans: Span[] = [];
  /** The last mark that came back, while the frame after it has not. */
  #returned: { mark: string; latest: number; atMs: number } | null = null;
  /** There is no line: nothing comes of it any more, not even late. */
  #gone = false;
  #lead = new ClockLead();

  /** From now on frames of both voices are written; until then they are kept. The arrays are valid during the call only. */
  start(write: WriteFrame): void {
    this.#write = write;
  }

  /** The caller's mu-law. `atMs` is where the carrier's time puts its first sample on the call's clock. */
  caller(payload: Uint8Array, atMs: number, nowMs: number): void {
    let at = Math.max(0, Math.round(atMs * BYTES_PER_MS)) + this.#callerShift;
    if (at < this.#callerTo) {
      this.#callerShift += this.#callerTo - at;
      at = this.#callerTo;
    }
    if (this.#returned !== null) this.#heard(Math.min(at, this.#returned.latest));
    this.#gone = false;
    this.#callerTo = at;
    this.#place('caller', at, payload);
    this.#callerTo = at + payload.length;
    this.#lead.seen(this.#callerTo / BYTES_PER_MS, nowMs);
  }

  /** mu-law handed to the carrier now, after what it still has to play. */
  agent(payload: Uint8Array, nowMs: number): void {
    const now = this.#clock(nowMs);
    // By less than that it may as well go on without a hole: what it says next is in time, as far as can be told.
    const fresh = this.#agentTo + EXACT < now;
    if (fresh) this.#agentTo = now;
    const from = this.#agentTo;
    this.#place('agent', from, payload);
    this.#agentTo += payload.length;
    const last = this.#spans.at(-1);
    if (last !== undefined && last.mark === null && !fresh) last.to = this.#agentTo;
    else this.#spans.push({ from, to: this.#agentTo, mark: null, fresh });
  }

  /** A mark goes out behind what was handed over. */
  mark(name: string): void {
    const last = this.#spans.at(-1);
    if (last !== undefined) last.mark ??= name;
  }

  /** A mark came back, among the caller's frames as it was played among them. */
  markBack(name: string, nowMs: number): void {
    if (!this.#spans.some(({ mark }) => mark === name)) return;
    this.#returned = { mark: name, latest: this.#clock(nowMs), atMs: nowMs };
  }

  /** The carrier's buffer is gone: what it had not played is silence. */
  cleared(nowMs: number): void {
    if (this.#returned !== null) this.#heard(this.#returned.latest);
    const now = this.#clock(nowMs);
    const first = this.#spans[0];
    if (first === undefined) return;
    const stuck = first.mark !== null && first.to + OVERDUE < now;
    this.#silence(stuck ? first.from : Math.max(first.from, now));
  }

  /** The line is gone: only what it is known to have played was heard, and the rest may come again on the next. */
  lost(): void {
    if (this.#returned !== null) this.#heard(this.#returned.latest);
    const first = this.#spans[0];
    if (first !== undefined) this.#silence(first.from);
    this.#gone = true;
    // The clock of the next stream is not that of this one.
    this.#lead = new ClockLead();
  }

  /** The agent's voice has ended at a sample, whatever was handed over. */
  #silence(sample: number): void {
    const until = Math.min(this.#agentTo, sample);
    this.#erase(until, this.#agentTo);
    this.#agentTo = until;
    this.#heardTo = until;
    this.#spans = [];
  }

  /** Once a tick. */
  tick(nowMs: number): void {
    if (this.#returned !== null && nowMs - this.#returned.atMs > NO_FRAME_MS)
      this.#heard(this.#returned.latest);
    const now = this.#clock(nowMs);
    this.#flush(Math.max(Math.min(now - LAG, this.#settledTo()), now - MOST_LAG));
  }

  /** Writes all there is, up to now. */
  close(nowMs: number): void {
    this.cleared(nowMs);
    this.#flush(Math.ceil(Math.max(this.#clock(nowMs), this.#callerTo) / FRAME_BYTES) * FRAME_BYTES);
  }

  /** Up to here neither voice changes any more. */
  #settledTo(): number {
    const callerTo = this.#gone ? Number.POSITIVE_INFINITY : this.#callerTo;
    return Math.min(callerTo, this.#spans[0]?.from ?? Number.POSITIVE_INFINITY);
  }

  /** The sample that the carrier has come to. */
  #clock(nowMs: number): number {
    return Math.round((nowMs + (this.#lead.ms ?? 0)) * BYTES_PER_MS);
  }

  /** The mark that came back was reached at `at`: what lies elsewhere is moved there, with all that follows. */
  #heard(at: number): void {
    const name = this.#returned?.mark;
    this.#returned = null;
    const index = this.#spans.findIndex(({ mark }) => mark === name);
    const span = this.#spans[index];
    if (span === undefined) return;
    let first = index;
    while (first > 0 && this.#spans[first]?.fresh === false) first--;
    const start = this.#spans[first] ?? span;
    const after = this.#spans[first - 1]?.to ?? this.#heardTo;
    const off = Math.max(at - span.to, after - start.from);
    if (Math.abs(off) > (start.fresh ? EXACT : STEADY)) this.#move(first, off);
    this.#heardTo = span.to;
    this.#spans.splice(0, index + 1);
  }

  /** Moves the agent's voice from a span on. */
  #move(first: number, off: number): void {
    const from = this.#spans[first]?.from ?? this.#agentTo;
    const moved = silence(this.#agentTo - from);
    for (let i = 0; i < moved.length; i++) moved[i] = this.#agent[(from + i) % this.#agent.length]!;
    this.#erase(from, this.#agentTo);
    this.#place('agent', from + off, moved);
    this.#agentTo += off;
    for (const span of this.#spans.slice(first)) {
      span.from += off;
      span.to += off;
    }
  }

  #erase(from: number, to: number): void {
    for (let at = Math.max(from, this.#written); at < to; at++)
      this.#agent[at % this.#agent.length] = MULAW_SILENCE;
  }

  #place(voice: 'caller' | 'agent', at: number, mulaw: Uint8Array): void {
    const end = at + mulaw.length;
    if (end > this.#written + this.#caller.length) this.#makeRoom(end);
    const ring = voice === 'caller' ? this.#caller : this.#agent;
    const first = Math.max(at, this.#written);
    const last = Math.min(end, this.#written + ring.length);
    this.lateSamples += mulaw.length - Math.max(0, last - first);
    let to = first % ring.length;
    for (let i = first - at; i < last - at; i++) {
      ring[to] = mulaw[i]!;
      if (++to === ring.length) to = 0;
    }
  }

  /** Room up to a sample: by writing what is settled, else by longer rings. */
  #makeRoom(until: number): void {
    this.#flush(Math.min(until - LAG, this.#settledTo()));
    let size = this.#caller.length;
    while (until > this.#written + size && size < MOST_RING) size *= 2;
    if (size === this.#caller.length) return;
    this.#caller = this.#longer(this.#caller, size);
    this.#agent = this.#longer(this.#agent, size);
  }

  #longer(ring: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const longer = silence(size);
    for (let at = this.#written; at < this.#written + ring.length; at++)
      longer[at % size] = ring[at % ring.length]!;
    return longer;
  }

  #flush(until: number): void {
    if (this.#write === null) return;
    while (this.#written + FRAME_BYTES <= until) {
      const at = this.#written % this.#caller.length;
      takeFrame(this.#caller, at, CALLER_FRAME);
      takeFrame(this.#agent, at, AGENT_FRAME);
      this.#write(CALLER_FRAME, AGENT_FRAME);
      this.#written += FRAME_BYTES;
    }
  }
}

/** Moves a frame out of a ring, whose length is whole frames: decoded, and silence in its place. */
function takeFrame(ring: Uint8Array, at: number, out: Int16Array): void {
  for (let i = 0; i < FRAME_BYTES; i++) {
    out[i] = MULAW_TO_PCM[ring[at + i]!]!;
    ring[at + i] = MULAW_SILENCE;
  }
}
