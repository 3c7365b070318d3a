// Exports of recordings in a thread of their own: an hour of sound takes seconds to convert, which nobody else waits for. The
// thread lives while something is exported, and hands over a piece when the last one was taken.
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { NotARecording, type RecordingExport, type RecordingShape } from './recording-file.ts';

export type ExportOrder =
  | { id: number; do: 'open'; path: string; shape: RecordingShape }
  | { id: number; do: 'read' }
  | { id: number; do: 'close' };

export type ExportAnswer =
  | { id: number; is: 'opened'; bytes: number }
  | { id: number; is: 'piece'; piece: Uint8Array }
  | { id: number; is: 'end' }
  | { id: number; is: 'failed'; message: string; code: string | undefined; notARecording: boolean };

export interface RecordingExports {
  /**
   * As `exportRecording`. How many at once is the caller's affair: each takes about a megabyte.
   * @throws NotARecording; the file system's error; Error when the thread died
   */
  open(path: string, shape: RecordingShape): Promise<RecordingExport>;
  /** Cuts off what is being exported. Safe to call twice. */
  close(): Promise<void>;
}

interface Waiting {
  opened(bytes: number): void;
  piece(bytes: Uint8Array): void;
  failed(error: Error): void;
  sound: Readable | null;
}

/** The thread's new objects are few, and its pieces no objects of V8's. */
const RESOURCES = { maxYoungGenerationSizeMb: 16 };

/** Starts nothing until something is exported. */
export function openRecordingExports(): RecordingExports {
  const exports = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let last = 0;
  let closed = false;

  function start(): Worker {
    const started = new Worker(new URL('./recording-export-thread.ts', import.meta.url), {
      name: 'recording-exports',
      env: {},
      execArgv: [],
      resourceLimits: RESOURCES,
      // It writes nothing; joined to it, this process's own output would no longer block.
      stdout: true,
      stderr: true,
    });
    started.on('message', (answer: ExportAnswer) => {
      const one = exports.get(answer.id);
      if (one === undefined) return;
      if (answer.is === 'opened') one.opened(answer.bytes);
      else if (answer.is === 'piece') one.piece(answer.piece);
      else if (answer.is === 'end') one.sound?.push(null);
      else one.failed(errorOf(answer));
    });
    started.on('error', () => {});
    started.once('exit', () => {
      if (worker !== started) return;
      worker = null;
      for (const one of [...exports.values()]) one.failed(new Error('the thread of the exports ended'));
    });
    return started;
  }

  const order = (message: ExportOrder) => worker?.postMessage(message);

  function forget(id: number): void {
    if (!exports.delete(id)) return;
    order({ id, do: 'close' });
    if (exports.size > 0) return;
    const idle = worker;
    worker = null;
    void idle?.terminate();
  }

  return {
    open(path, shape) {
      if (closed) return Promise.reject(new Error('exports are closed'));
      worker ??= start();
      last++;
      const id = last;
      return new Promise((resolve, reject) => {
        let left = Number.NaN;
        exports.set(id, {
          sound: null,
          opened(bytes) {
            left = bytes;
            const sound = new Readable({
              // One piece is read ahead.
              highWaterMark: 1,
              read: () => void order({ id, do: 'read' }),
              destroy(error, done) {
                forget(id);
                done(error);
              },
            });
            this.sound = sound;
            resolve({ bytes, sound });
          },
          piece(bytes) {
            left -= bytes.length;
            this.sound?.push(bytes);
            // At once: who has all that was promised to him asks for the next thing, and the answer must be over by then.
            if (left === 0) this.sound?.push(null);
          },
          failed(error) {
            if (this.sound !== null) return void this.sound.destroy(error);
            forget(id);
            reject(error);
          },
        });
        order({ id, do: 'open', path, shape });
      });
    },
    async close() {
      closed = true;
      const ending = worker;
      for (const one of [...exports.values()]) one.failed(new Error('exports are closed'));
      await ending?.terminate();
    },
  };
}

function errorOf({ message, code, notARecording }: Extract<ExportAnswer, { is: 'failed' }>): Error {
  if (notARecording) return new NotARecording(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
