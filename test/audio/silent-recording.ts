// A recording's file as long as a test wants it, without the time that writing it takes.
import { openSync, truncateSync, writeSync } from 'node:fs';
import { openRecording } from '../../audio/recording.ts';

/** Makes a whole recording of silence at `path`; answers the bytes of its sound. */
export async function writeSilence(path: string, seconds: number): Promise<number> {
  await (await openRecording(path)).close();
  const bytes = seconds * 8000 * 4;
  truncateSync(path, 44 + bytes);
  const file = openSync(path, 'r+');
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes + 36);
  writeSync(file, size, 0, 4, 4);
  size.writeUInt32LE(bytes);
  writeSync(file, size, 0, 4, 40);
  return bytes;
}
