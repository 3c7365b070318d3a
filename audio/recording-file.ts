// The file of a recording once its call is over: mended after a crash, and streamed in another shape (one side, both mixed, 16 kHz).
// It is converted a piece at a time, so that memory does not grow with the call, in a thread of its own (recording-exports.ts).
// wavefile reads and writes the container; its conversions take whole files, so the samples are converted here.
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import wavefile from 'wavefile';
import { RATE_HZ } from './format.ts';
import { createResampler } from './resampler.ts';

/** Left is the caller, right the agent. `mono`: both in one. */
export type RecordingChannels = 'stereo' | 'mono' | 'caller' | 'agent';

export interface RecordingShape {
  channels: RecordingChannels;
  rateHz: 8000 | 16000;
}

export interface RecordingExport {
  /** Of the whole WAV file. */
  bytes: number;
  /** The file; has to be read or destroyed. */
  sound: Readable;
}

/** The file is no recording of a call, or a damaged one. */
export class NotARecording extends Error {}

/** Of a recording's file, before its sound. */
export const HEADER_BYTES = 44;
/** A sample of each side. */
export const PAIR_BYTES = 4;
const BLOCK_PAIRS = 16_384;

/**
 * Writes the true sizes into a recording that was cut off by a crash. A whole file is left as it is.
 * @throws NotARecording; the file system's error
 */
export async function repairRecording(path: string): Promise<{ path: string; durationMs: number }> {
  const file = await open(path, 'r+');
  try {
    const { claimed, dataBytes } = await soundOf(file, path);
    if (claimed !== dataBytes) {
      await file.write(wavHeader(2, RATE_HZ, dataBytes), 0, HEADER_BYTES, 0);
      await file.datasync();
    }
    return { path, durationMs: (dataBytes / PAIR_BYTES / RATE_HZ) * 1000 };
  } finally {
    await file.close();
  }
}

/**
 * How much sound an open recording holds, whole samples of both sides, and how much its header claims: less, where a crash
 * cut it off.
 * @throws NotARecording; the file system's error
 */
export async function soundOf(
  file: FileHandle,
  path: string,
): Promise<{ claimed: number; dataBytes: number }> {
  const found = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await file.read(found, 0, HEADER_BYTES, 0);
  const claimed = readHeader(found.subarray(0, bytesRead), path);
  const { size } = await file.stat();
  return { claimed, dataBytes: size - HEADER_BYTES - ((size - HEADER_BYTES) % PAIR_BYTES) };
}

/**
 * What the header of a recording says, and whether it is one of ours: WAV, 16 bit, 8 kHz, stereo, the sound right after it.
 * @returns bytes of sound that it claims
 * @throws NotARecording
 */
function readHeader(bytes: Uint8Array, path: string): number {
  const wav = new wavefile.WaveFile();
  try {
    wav.fromBuffer(bytes.subarray(0, HEADER_BYTES), false);
  } catch (error) {
    throw new NotARecording(`${path} is not a call recording`, { cause: error });
  }
  const { audioFormat, numChannels, sampleRate, bitsPerSample } = wav.fmt as Record<string, number>;
  const { chunkId, chunkSize } = wav.data as unknown as { chunkId: string; chunkSize: number };
  const right =
    wav.container === 'RIFF' &&
    chunkId === 'data' &&
    audioFormat === 1 &&
    numChannels === 2 &&
    sampleRate === RATE_HZ &&
    bitsPerSample === 16;
  if (!right) throw new NotARecording(`${path} is not a call recording`);
  return chunkSize;
}

/**
 * Opens a recording that is complete.
 * @throws NotARecording; the file system's error
 */
export async function exportRecording(path: string, shape: RecordingShape): Promise<RecordingExport> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    await file.read(head, 0, HEADER_BYTES, 0);
    const { size } = await file.stat();
    const pairs = Math.floor(Math.min(readHeader(head, path), size - HEADER_BYTES) / PAIR_BYTES);
    const outChannels = shape.channels === 'stereo' ? 2 : 1;
    const bytes = pairs * (shape.rateHz / RATE_HZ) * outChannels * 2;
    const pieces = convert(file, pairs, shape, wavHeader(outChannels, shape.rateHz, bytes));
    // Its own reading ahead is one piece.
    const sound = Readable.from(pieces, { objectMode: false, highWaterMark: 1 });
    sound.once('close', () => void file.close().catch(() => {}));
    return { bytes: HEADER_BYTES + bytes, sound };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A file's first bytes, for so much sound of 16 bit. */
export function wavHeader(channels: number, rateHz: number, dataBytes: number): Buffer {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(channels, rateHz, '16', []);
  const bytes = Buffer.from(wav.toBuffer().subarray(0, HEADER_BYTES));
  // The sound follows as it is made: its size is known before.
  bytes.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  bytes.writeUInt32LE(dataBytes, HEADER_BYTES - 4);
  return bytes;
}

async function* convert(
  file: FileHandle,
  pairs: number,
  { channels, rateHz }: RecordingShape,
  head: Buffer,
): AsyncGenerator<Buffer> {
  yield head;
  const sides = (channels === 'stereo' ? [0, 1] : [0]).map(() => makeSide(rateHz));
  const read = Buffer.alloc(BLOCK_PAIRS * PAIR_BYTES);
  const left = new Int16Array(BLOCK_PAIRS);
  const right = new Int16Array(BLOCK_PAIRS);
  for (let done = 0; done < pairs; ) {
    const count = Math.min(BLOCK_PAIRS, pairs - done);
    const { bytesRead } = await file.read(read, 0, count * PAIR_BYTES, HEADER_BYTES + done * PAIR_BYTES);
    // Cut while it is read: silence keeps what was promised.
    read.fill(0, bytesRead, count * PAIR_BYTES);
    for (let i = 0; i < count; i++) {
      left[i] = read.readInt16LE(i * PAIR_BYTES);
      right[i] = read.readInt16LE(i * PAIR_BYTES + 2);
    }
    const one = pick(channels, left.subarray(0, count), right.subarray(0, count));
    yield interleave(sides.map((side, at) => side.take(one[at]!)));
    done += count;
  }
  yield interleave(sides.map((side) => side.rest()));
}

/** The channels of the result, out of the two sides. */
function pick(channels: RecordingChannels, caller: Int16Array, agent: Int16Array): Int16Array[] {
  if (channels === 'stereo') return [caller, agent];
  if (channels === 'caller') return [caller];
  if (channels === 'agent') return [agent];
  // Mostly one of the two speaks: halving both would only make them quieter.
  return [caller.map((sample, i) => Math.max(-32768, Math.min(32767, sample + agent[i]!)))];
}

/** One channel's way to its rate; what a filter delays is taken off its front and added at its end. */
function makeSide(rateHz: number): { take(pcm: Int16Array): Int16Array; rest(): Int16Array } {
  if (rateHz === RATE_HZ) return { take: (pcm) => pcm, rest: () => new Int16Array(0) };
  const resampler = createResampler(RATE_HZ, rateHz);
  const delayed = Math.round((resampler.delayMs * RATE_HZ) / 1000);
  let skip = delayed * (rateHz / RATE_HZ);
  const take = (pcm: Int16Array) => {
    const out = new Int16Array(resampler.outputLength(pcm.length));
    const all = out.subarray(0, resampler.process(pcm, out));
    const kept = all.subarray(Math.min(skip, all.length));
    skip -= all.length - kept.length;
    return kept;
  };
  return { take, rest: () => take(new Int16Array(delayed)) };
}

function interleave(channels: readonly Int16Array[]): Buffer {
  const [first = new Int16Array(0), second] = channels;
  const out = new Int16Array(first.length * channels.length);
  if (second === undefined) out.set(first);
  else {
    for (let i = 0; i < first.length; i++) {
      out[2 * i] = first[i]!;
      out[2 * i + 1] = second[i]!;
    }
  }
  return Buffer.from(out.buffer);
}
