// The files of a call's recording while it has several: each thread that carries the call writes one of its own, and says in its
// name where it begins. At the end of the call they are made one. PURE.
import type { CallRecord } from '../../storage/records.ts';

const PART = /^(.*)\.part-(\d+)(\.\w+)$/;
const WHOLE = /^(.*?)(\.\w+)?$/s;

/** The file of the part that begins so long after the call's first stream. */
export function partOf(recordingPath: string, elapsedMs: number): string {
  const [, base = '', extension = ''] = WHOLE.exec(recordingPath) ?? [];
  return `${base}.part-${Math.round(elapsedMs)}${extension}`;
}

/** Which recording a file is a part of, and where it begins there; null for a file that is no part. */
export function readPart(path: string): { recordingPath: string; offsetMs: number } | null {
  const found = PART.exec(path);
  if (found === null) return null;
  const [, base = '', offset = '', extension = ''] = found;
  return { recordingPath: base + extension, offsetMs: Number(offset) };
}

/** Whether the call was carried by several, one after the other. */
export function hasParts(call: Pick<CallRecord, 'recording_path' | 'gaps'>): boolean {
  return call.recording_path !== null && call.gaps.some(({ why }) => why !== 'stream_lost');
}
