// What the simulator's tests share: the unchanged openai client on plain TCP, its events in order, and sound from files.
import { readFileSync } from 'node:fs';
import { connect, type NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import wavefile from 'wavefile';

/** The fields that the tests look at; which of them an event has is told by its type. */
export interface ServerEvent {
  type: string;
  event_id: string;
  item_id: string;
  response_id: string;
  previous_item_id: string | null;
  delta: string;
  transcript: string;
  audio_start_ms: number;
  audio_end_ms: number;
  item: ServerItem;
  session: {
    expires_at: number;
    instructions: string;
    audio: {
      input: {
        format: { type: string; rate?: number };
        turn_detection: { type: string; create_response: boolean } | null;
        transcription: object | null;
      };
      output: { format: { type: string; rate?: number }; voice: string };
    };
  };
  response: {
    id: string;
    status: string;
    conversation_id: string | null;
    metadata: object | null;
    output: ServerItem[];
    usage: { input_tokens: number; output_tokens: number; total_tokens: number };
  };
  error: {
    type: string;
    code: string | null;
    message: string;
    param: string | null;
    event_id: string | null;
  };
}

export interface ServerItem {
  id: string;
  type: string;
  call_id: string;
  arguments: string;
  content: { transcript: string | null; text: string }[];
}

/** What an agent's item says. */
export const spokenIn = (item: ServerItem | undefined): string => item?.content[0]?.transcript ?? '';

const root = join(import.meta.dirname, '..', '..');

/** Samples of a recording in test/fixtures/audio/, 8 kHz. */
export function sound(name: string): Int16Array {
  const wav = new wavefile.WaveFile(readFileSync(join(root, 'test', 'fixtures', 'audio', name)));
  return Int16Array.from(wav.getSamples(false, Int16Array) as unknown as Int16Array);
}

/** Mu-law by the wavefile library, which is no part of what is tested here. */
export function toMulaw(samples: Int16Array): Buffer {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, 8000, '16', samples);
  wav.toMuLaw();
  return Buffer.from(wav.getSamples(false, Uint8Array) as unknown as Uint8Array);
}

export function fromMulaw(bytes: Buffer): Int16Array {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, 8000, '8m', bytes);
  wav.fromMuLaw('16');
  return Int16Array.from(wav.getSamples(false, Int16Array) as unknown as Int16Array);
}

export const rms = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));

export const PHONE = {
  type: 'realtime',
  output_modalities: ['audio'],
  audio: {
    input: {
      format: { type: 'audio/pcmu' },
      turn_detection: null,
      transcription: { model: 'gpt-transcribe' },
    },
    output: { format: { type: 'audio/pcmu' }, voice: 'marin' },
  },
};

export class Client {
  readonly rt: OpenAIRealtimeWS;
  readonly events: ServerEvent[] = [];
  /** Code of the socket's close, once it is closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Failures that are no API error: a frame that could not be read, an upgrade refused. */
  readonly failures: string[] = [];
  #waiting: { fits: (event: ServerEvent) => boolean; resolve: (event: ServerEvent) => void }[] = [];
  #read = 0;

  constructor(url: string, key = 'sk-test', model = 'gpt-realtime-2.1') {
    const client = new OpenAI({ apiKey: key, baseURL: url });
    this.rt = new OpenAIRealtimeWS(
      {
        model,
        options: {
          perMessageDeflate: false,
          handshakeTimeout: 10_000,
          createConnection: ((o: NetConnectOpts & { path?: string; socketPath?: string }) => {
            Object.assign(o, { path: o.socketPath });
            return connect(o);
          }) as never,
        },
      },
      client,
    );
    this.rt.on('error', (error) => {
      if (error.error === undefined || error.error === null) this.failures.push(error.message);
    });
    this.rt.on('event', (event) => {
      this.events.push(event as unknown as ServerEvent);
      const received = this.events.at(-1)!;
      this.#waiting = this.#waiting.filter((waiter) => {
        if (!waiter.fits(received)) return true;
        waiter.resolve(received);
        return false;
      });
    });
    this.closed = new Promise((resolve) => {
      this.rt.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  send(event: Record<string, unknown>): void {
    this.rt.send(event as never);
  }

  /** The next event of a type after the last one waited for. */
  async next(type: string, fits: (event: ServerEvent) => boolean = () => true): Promise<ServerEvent> {
    const wanted = (event: ServerEvent) => event.type === type && fits(event);
    const at = this.events.findIndex((event, index) => index >= this.#read && wanted(event));
    const event =
      at >= 0
        ? this.events[at]!
        : await new Promise<ServerEvent>((resolve) => this.#waiting.push({ fits: wanted, resolve }));
    this.#read = this.events.indexOf(event) + 1;
    return event;
  }

  async configure(session: Record<string, unknown> = PHONE): Promise<ServerEvent> {
    await this.next('session.created');
    this.send({ type: 'session.update', session });
    return this.next('session.updated');
  }

  /** Appends mu-law in 100 ms pieces and commits; answers the committed item. */
  async say(bytes: Buffer): Promise<string> {
    for (let at = 0; at < bytes.length; at += 800)
      this.send({
        type: 'input_audio_buffer.append',
        audio: bytes.subarray(at, at + 800).toString('base64'),
      });
    this.send({ type: 'input_audio_buffer.commit' });
    return (await this.next('input_audio_buffer.committed')).item_id;
  }

  /** Asks for a response and waits for its end. */
  async respond(response: Record<string, unknown> = {}): Promise<ServerEvent> {
    this.send({ type: 'response.create', response });
    return this.next('response.done');
  }

  async error(): Promise<ServerEvent> {
    return this.next('error');
  }

  /** All audio of a response (of the last one done, without an id). */
  audio(responseId?: string): Buffer {
    return Buffer.concat(
      this.events
        .filter(
          ({ type, response_id }) =>
            type === 'response.output_audio.delta' && (responseId ?? response_id) === response_id,
        )
        .map(({ delta }) => Buffer.from(delta, 'base64')),
    );
  }

  async close(): Promise<void> {
    this.rt.close();
    await this.closed;
  }
}
