// A call as a stereo WAV: left what the callee said, right what the callee heard, on one clock. Written in large pieces.
import { type FileHandle, open } from 'node:fs/promises';
import { DECODE, FRAME_BYTES, RATE_HZ } from './mulaw.ts';

const HEADER_BYTES = 44;
const FRAME_PCM_BYTES = FRAME_BYTES * 4;
/** Two seconds. */
const PIECE_FRAMES = 100;

export class Recording {
  readonly path: string;
  #piece = Buffer.allocUnsafe(PIECE_FRAMES * FRAME_PCM_BYTES);
  #frames = 0;
  #written = 0;
  #file: Promise<FileHandle>;
  #tail: Promise<unknown>;
  #closed: Promise<void> | null = null;

  constructor(path: string) {
    this.path = path;
    this.#file = open(path, 'w');
    this.#tail = this.#file;
    this.#tail.catch(() => {});
  }

  /** One frame of each side, mu-law. */
  write(said: Buffer, heard: Buffer): void {
    if (this.#closed) return;
    const samples = new Int16Array(
      this.#piece.buffer,
      this.#piece.byteOffset + this.#frames * FRAME_PCM_BYTES,
      FRAME_BYTES * 2,
    );
    for (let i = 0; i < FRAME_BYTES; i++) {
      samples[i * 2] = DECODE[said[i]!]!;
      samples[i * 2 + 1] = DECODE[heard[i]!]!;
    }
    this.#frames += 1;
    if (this.#frames === PIECE_FRAMES) this.#flush();
  }

  /** Writes the rest and the header. @throws the first error of the file */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    this.#flush();
    const file = await this.#file;
    try {
      await this.#tail;
      await file.write(header(this.#written), 0, HEADER_BYTES, 0);
    } finally {
      await file.close();
    }
  }

  #flush(): void {
    const piece = this.#piece.subarray(0, this.#frames * FRAME_PCM_BYTES);
    const at = HEADER_BYTES + this.#written;
    this.#written += piece.length;
    this.#frames = 0;
    this.#piece = Buffer.allocUnsafe(PIECE_FRAMES * FRAME_PCM_BYTES);
    this.#tail = this.#tail.then(async () => (await this.#file).write(piece, 0, piece.length, at));
    this.#tail.catch(() => {});
  }
}

/** RIFF/WAVE, PCM, two channels, 16 bits, 8 kHz. */
function header(dataBytes: number): Buffer {
  const out = Buffer.alloc(HEADER_BYTES);
  out.write('RIFF', 0, 'latin1');
  out.writeUInt32LE(36 + dataBytes, 4);
  out.write('WAVEfmt ', 8, 'latin1');
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(2, 22);
  out.writeUInt32LE(RATE_HZ, 24);
  out.writeUInt32LE(RATE_HZ * 4, 28);
  out.writeUInt16LE(4, 32);
  out.writeUInt16LE(16, 34);
  out.write('data', 36, 'latin1');
  out.writeUInt32LE(dataBytes, 40);
  return out;
}
