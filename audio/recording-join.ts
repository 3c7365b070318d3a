// The recording of a call that was cut off and went on somewhere else: its parts, each a file of its own, made one.
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RATE_HZ } from './format.ts';
import {
  HEADER_BYTES,
  NotARecording,
  PAIR_BYTES,
  repairRecording,
  soundOf,
  wavHeader,
} from './recording-file.ts';

/** One run's part of a call's recording. `offsetMs`: where it begins, since the call's first stream did. */
export interface RecordingPart {
  path: string;
  offsetMs: number;
}

interface Opened {
  path: string;
  file: FileHandle;
  /** Its place in the whole, in samples of both sides. */
  from: number;
  pairs: number;
}

/** Copied at a time. */
const PIECE_BYTES = 256 * 1024;

/**
 * Makes one recording of the parts of a call, with silence where there is none. Where two overlap, the later one is heard. One
 * that a crash broke off counts as far as it goes; one that is not there, or holds nothing, is left out. Written beside `out`,
 * moved there when it is whole, and then the other parts are removed: whoever is killed on the way may do it again, also where
 * `out` is the first part. Holds a piece in memory, however long the call was.
 * @returns null: no part is there
 * @throws the file system's error; `out` and the parts are then as they were
 */
export async function joinRecordings(
  parts: readonly RecordingPart[],
  out: string,
): Promise<{ path: string; durationMs: number } | null> {
  const opened = await openParts(parts);
  try {
    const [first] = opened;
    if (first === undefined) return null;
    if (opened.length > 1 || first.path !== out || first.from > 0) await writeJoined(opened, out);
  } finally {
    for (const { file } of opened) await file.close();
  }
  const joined = await repairRecording(out);
  for (const { path } of parts) if (path !== out) await rm(path, { force: true });
  return joined;
}

/** Those that are there, the earliest first. */
async function openParts(parts: readonly RecordingPart[]): Promise<Opened[]> {
  const opened: Opened[] = [];
  try {
    for (const { path, offsetMs } of parts) {
      const part = await openPart(path, Math.max(0, Math.round((offsetMs * RATE_HZ) / 1000)));
      if (part !== null) opened.push(part);
    }
  } catch (error) {
    for (const { file } of opened) await file.close();
    throw error;
  }
  return opened.sort((one, other) => one.from - other.from);
}

async function openPart(path: string, from: number): Promise<Opened | null> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { dataBytes } = await soundOf(file, path);
    return { path, file, from, pairs: dataBytes / PAIR_BYTES };
  } catch (error) {
    await file.close();
    if (error instanceof NotARecording) return null;
    throw error;
  }
}

async function writeJoined(parts: readonly Opened[], out: string): Promise<void> {
  const beside = `${out}.joining`;
  const joined = await open(beside, 'w', 0o600);
  try {
    let end = 0;
    // What is joined already and joined again stands as it was: it is written over with the same.
    for (const part of parts) {
      await copySound(part, joined);
      end = Math.max(end, part.from + part.pairs);
    }
    // What was not written between two parts reads as zeros: silence.
    await joined.truncate(HEADER_BYTES + end * PAIR_BYTES);
    await joined.write(wavHeader(2, RATE_HZ, end * PAIR_BYTES), 0, HEADER_BYTES, 0);
    await joined.datasync();
  } catch (error) {
    await joined.close();
    await rm(beside, { force: true });
    throw error;
  }
  await joined.close();
  await rename(beside, out);
  await syncFolder(dirname(out));
}

async function copySound(part: Opened, to: FileHandle): Promise<void> {
  const bytes = part.pairs * PAIR_BYTES;
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes));
  const at = HEADER_BYTES + part.from * PAIR_BYTES;
  for (let done = 0; done < bytes; ) {
    const wanted = Math.min(piece.length, bytes - done);
    const { bytesRead } = await part.file.read(piece, 0, wanted, HEADER_BYTES + done);
    if (bytesRead === 0) return;
    let written = 0;
    // A write may take less than it was given.
    while (written < bytesRead)
      written += (await to.write(piece, written, bytesRead - written, at + done + written)).bytesWritten;
    done += bytesRead;
  }
}

/** The new name is on the disk before the parts are gone from it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
