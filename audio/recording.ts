// A call's recording: stereo WAV (8 kHz, 16 bit; left the caller, right the agent), streamed to disk without ever holding the
// thread or growing in memory. Whether a call is recorded, and where the file lies, is decided elsewhere; what becomes of the
// file afterwards is recording-file.ts.
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RATE_HZ } from './format.ts';

const HEADER_BYTES = 44;
const CHANNELS = 2;
const BYTES_PER_SAMPLE_PAIR = CHANNELS * 2;
// A second of sound a write.
const BLOCK_PAIRS = RATE_HZ;
// The disk may be this many seconds behind before frames are dropped.
const BLOCKS = 8;
// A file that a crash leaves behind plays up to here without repair.
const PATCH_EVERY_BLOCKS = 5;

export interface RecordingResult {
  path: string;
  /** Frames (calls of `write`) taken; all of them are in the file when `error` is null. */
  frames: number;
  /** Frames given up because the disk was too slow or failed. They are silence in the file: the clock stays right. */
  droppedFrames: number;
  durationMs: number;
  /** The disk's first error: what came after it is missing. */
  error: Error | null;
}

/** Creates the file, its folder too, readable by the owner only. @throws the file system's error */
export async function openRecording(path: string): Promise<Recording> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'w', 0o600);
  try {
    await file.write(header(0), 0, HEADER_BYTES, 0);
  } catch (error) {
    await file.close();
    throw error;
  }
  return new Recording(path, file);
}

type File = Awaited<ReturnType<typeof open>>;

interface Block {
  pairs: Int16Array;
  filled: number;
}

export class Recording {
  readonly path: string;
  readonly #file: File;
  readonly #free: Block[] = [];
  #made = 0;
  #block: Block | null = null;
  /** Sample pairs since the start, dropped ones included: a place in the file. */
  #position = 0;
  #writing: Promise<void> = Promise.resolve();
  #blocksWritten = 0;
  #frames = 0;
  #droppedFrames = 0;
  #error: Error | null = null;
  #closing: Promise<RecordingResult> | null = null;

  constructor(path: string, file: File) {
    this.path = path;
    this.#file = file;
  }

  /** Takes a frame of each side, copies it, and never waits. @throws RangeError when the two differ in length */
  write(callerPcm: Int16Array, agentPcm: Int16Array): void {
    const length = callerPcm.length;
    if (agentPcm.length !== length)
      throw new RangeError(`recording: ${length} samples beside ${agentPcm.length}`);
    if (this.#closing !== null || length === 0) return;
    if (this.#error !== null || !this.#hasRoom(length)) {
      this.#droppedFrames++;
      this.#flush();
      // Never written, so it reads as zeros: silence as long as what was lost.
      this.#position += length;
      return;
    }
    for (let from = 0; from < length; ) {
      const block = this.#current();
      const count = Math.min(length - from, BLOCK_PAIRS - block.filled);
      const { pairs } = block;
      let to = block.filled * CHANNELS;
      for (let i = from; i < from + count; i++) {
        pairs[to++] = callerPcm[i]!;
        pairs[to++] = agentPcm[i]!;
      }
      block.filled += count;
      this.#position += count;
      from += count;
      if (block.filled === BLOCK_PAIRS) this.#flush();
    }
    this.#frames++;
  }

  /** Writes what is left, the sizes, and closes. Never rejects: a failure is in the result. Safe to call twice. */
  close(): Promise<RecordingResult> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<RecordingResult> {
    this.#flush();
    await this.#writing;
    // Ends of dropped frames lie beyond the last byte written.
    await this.#try(async () => {
      await this.#file.truncate(HEADER_BYTES + this.#position * BYTES_PER_SAMPLE_PAIR);
      await this.#patch(this.#position);
      await this.#file.datasync();
    });
    await this.#try(() => this.#file.close());
    const durationMs = (this.#position / RATE_HZ) * 1000;
    const { path } = this;
    return { path, frames: this.#frames, droppedFrames: this.#droppedFrames, durationMs, error: this.#error };
  }

  #hasRoom(pairs: number): boolean {
    const inBlock = this.#block === null ? 0 : BLOCK_PAIRS - this.#block.filled;
    return pairs <= inBlock + (this.#free.length + BLOCKS - this.#made) * BLOCK_PAIRS;
  }

  #current(): Block {
    if (this.#block === null) {
      this.#block = this.#free.pop() ?? this.#make();
      this.#block.filled = 0;
    }
    return this.#block;
  }

  #make(): Block {
    this.#made++;
    return { pairs: new Int16Array(BLOCK_PAIRS * CHANNELS), filled: 0 };
  }

  /** Queues the current block, full or not. One write at a time, so that the sizes never run ahead of the sound. */
  #flush(): void {
    const block = this.#block;
    if (block === null) return;
    this.#block = null;
    const at = this.#position - block.filled;
    this.#writing = this.#writing.then(async () => {
      await this.#try(() => this.#put(block, at));
      this.#free.push(block);
    });
  }

  async #put({ pairs, filled }: Block, at: number): Promise<void> {
    // Int16Array has the byte order of the machine; every platform of Node is little-endian, as WAV is.
    const bytes = new Uint8Array(pairs.buffer, 0, filled * BYTES_PER_SAMPLE_PAIR);
    await writeWhole(this.#file, bytes, HEADER_BYTES + at * BYTES_PER_SAMPLE_PAIR);
    this.#blocksWritten++;
    if (this.#blocksWritten % PATCH_EVERY_BLOCKS === 0) await this.#patch(at + filled);
  }

  async #patch(pairs: number): Promise<void> {
    await writeWhole(this.#file, header(pairs * BYTES_PER_SAMPLE_PAIR), 0);
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** A write may take less than it was given (a disk that fills up). */
async function writeWhole(file: File, bytes: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, from, bytes.length - from, position + from);
    from += bytesWritten;
  }
}

function header(dataBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(CHANNELS, 22);
  bytes.writeUInt32LE(RATE_HZ, 24);
  bytes.writeUInt32LE(RATE_HZ * BYTES_PER_SAMPLE_PAIR, 28);
  bytes.writeUInt16LE(BYTES_PER_SAMPLE_PAIR, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(dataBytes, 40);
  return bytes;
}
