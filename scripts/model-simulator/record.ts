// What a session leaves behind for whoever watches: its events without their audio, what the client did wrong, figures
// of the audio it sent, and the sound itself as a WAV file.
import { createWriteStream, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import wavefile from 'wavefile';

export interface LoggedEvent {
  session_id: string;
  /** Since the session began. */
  at_ms: number;
  from: 'client' | 'server' | 'simulator';
  type: string;
  [field: string]: unknown;
}

export interface Violation {
  at_ms: number;
  code: string;
  message: string;
}

/** A long call's appends are joined, so this is hours of talk. */
const MOST_EVENTS = 20_000;

/** Fields whose text is audio; only its size is kept. */
function withoutAudio(event: Record<string, unknown>, bytesPerMs: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    if (key === 'type') continue;
    const isAudio =
      typeof value === 'string' &&
      (key === 'audio' || (key === 'delta' && /audio\.delta$/.test(String(event.type))));
    if (isAudio) {
      const bytes =
        Math.floor((value.length * 3) / 4) - (value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0);
      out.audio_bytes = bytes;
      out.audio_ms = Math.round((bytes / bytesPerMs) * 10) / 10;
    } else if (Array.isArray(value)) {
      out[key] = value.map((entry) =>
        typeof entry === 'object' && entry !== null
          ? {
              ...withoutAudio(entry as Record<string, unknown>, bytesPerMs),
              type: (entry as { type?: unknown }).type,
            }
          : entry,
      );
    } else if (typeof value === 'object' && value !== null) {
      const inner = value as Record<string, unknown>;
      out[key] = { ...('type' in inner ? { type: inner.type } : {}), ...withoutAudio(inner, bytesPerMs) };
    } else out[key] = value;
  }
  return out;
}

export class SessionRecord {
  readonly events: LoggedEvent[] = [];
  readonly violations: Violation[] = [];
  /** What went otherwise than the scenario meant it, through no fault of the client's. */
  readonly notes: Violation[] = [];
  readonly appends = { count: 0, bytes: 0, audio_ms: 0, shortest_ms: 0, longest_ms: 0, longest_gap_ms: 0 };
  /** Input audio in each configuration state, ms. */
  before_configured_ms = 0;
  readonly #session: string;
  readonly #startMs: number;
  readonly #publish: (event: LoggedEvent) => void;
  #lastAppendMs: number | null = null;

  constructor(session: string, startMs: number, publish: (event: LoggedEvent) => void) {
    this.#session = session;
    this.#startMs = startMs;
    this.#publish = publish;
  }

  log(
    from: LoggedEvent['from'],
    event: Record<string, unknown> & { type: string },
    nowMs: number,
    bytesPerMs: number,
  ): void {
    const logged: LoggedEvent = {
      session_id: this.#session,
      at_ms: Math.round(nowMs - this.#startMs),
      from,
      type: event.type,
      ...withoutAudio(event, bytesPerMs),
    };
    this.#publish(logged);
    const last = this.events.at(-1);
    if (
      last !== undefined &&
      last.type === event.type &&
      last.from === from &&
      (event.type === 'input_audio_buffer.append' || /audio\.delta$/.test(event.type)) &&
      last.item_id === logged.item_id
    ) {
      last.count = Number(last.count ?? 1) + 1;
      last.last_at_ms = logged.at_ms;
      last.audio_bytes = Number(last.audio_bytes ?? 0) + Number(logged.audio_bytes ?? 0);
      last.audio_ms = Number(last.audio_ms ?? 0) + Number(logged.audio_ms ?? 0);
      return;
    }
    if (this.events.length >= MOST_EVENTS) this.events.shift();
    this.events.push({ ...logged });
  }

  appended(bytes: number, ms: number, nowMs: number, configured: boolean): void {
    const appends = this.appends;
    appends.shortest_ms = appends.count === 0 ? ms : Math.min(appends.shortest_ms, ms);
    appends.longest_ms = Math.max(appends.longest_ms, ms);
    if (this.#lastAppendMs !== null)
      appends.longest_gap_ms = Math.max(appends.longest_gap_ms, Math.round(nowMs - this.#lastAppendMs));
    this.#lastAppendMs = nowMs;
    appends.count++;
    appends.bytes += bytes;
    appends.audio_ms += ms;
    if (!configured) this.before_configured_ms += ms;
  }

  /** Keeps what a client should not have done. The same code is kept ten times at most. */
  violate(code: string, message: string, nowMs: number): void {
    this.#keep(this.violations, 'violation', code, message, nowMs);
  }

  note(code: string, message: string, nowMs: number): void {
    this.#keep(this.notes, 'note', code, message, nowMs);
  }

  #keep(list: Violation[], type: string, code: string, message: string, nowMs: number): void {
    const at_ms = Math.round(nowMs - this.#startMs);
    this.#publish({ session_id: this.#session, at_ms, from: 'simulator', type, code, message });
    if (list.filter((kept) => kept.code === code).length < 10) list.push({ at_ms, code, message });
  }
}

/** Writes 16-bit mono sound as it comes; the file is complete when it is closed. */
export class WavRecording {
  readonly path: string;
  readonly #header: Buffer;
  readonly #stream: WriteStream;
  #bytes = 0;
  #closed: Promise<void> | null = null;

  constructor(path: string, rateHz: number) {
    this.path = path;
    const empty = new wavefile.WaveFile();
    empty.fromScratch(1, rateHz, '16', []);
    this.#header = Buffer.from(empty.toBuffer());
    this.#stream = createWriteStream(path);
    // A full disk must not end the calls: the recording is shorter then.
    this.#stream.on('error', () => {});
    this.#stream.write(this.#header);
  }

  write(samples: Int16Array): void {
    if (this.#closed !== null || samples.length === 0) return;
    this.#bytes += samples.byteLength;
    this.#stream.write(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  }

  /** Ends the file and writes its length into its header. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream).catch(() => {});
    const header = Buffer.from(this.#header);
    header.writeUInt32LE(header.length - 8 + this.#bytes, 4);
    header.writeUInt32LE(this.#bytes, header.length - 4);
    const file = await open(this.path, 'r+').catch(() => null);
    if (file === null) return;
    await file.write(header, 0, header.length, 0);
    await file.close();
  }
}
