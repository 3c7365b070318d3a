// A file out of a stream: there whole and for its owner only, or not at all.
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes `source` to a name of its own beside `file`, and to `file`, in place of what is there, when it is complete.
 * @throws Error what the stream or the disk failed with; `file` is as it was
 */
export async function saveAs(source: Readable, file: string, signal: AbortSignal): Promise<void> {
  const target = existsSync(file) ? realpathSync(file) : file;
  // A device or a pipe is written to, and never replaced.
  if (existsSync(target) && !statSync(target).isFile()) {
    return pipeline(source, createWriteStream(target), { signal });
  }
  const arriving = `${target}.${randomBytes(4).toString('hex')}.part`;
  try {
    // Opened before anything can fail: what is taken away then is not made a moment later.
    const fd = openSync(arriving, 'wx', 0o600);
    await pipeline(source, createWriteStream(arriving, { fd }), { signal });
    renameSync(arriving, target);
  } catch (error) {
    source.destroy();
    rmSync(arriving, { force: true });
    throw error;
  }
}
