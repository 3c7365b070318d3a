// The copies of the database that `offhook backup` has made, as it writes them down in the data folder: an erasure names those that
// are still there. A line each; what cannot be read is passed over.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Below the data folder; `offhook backup` appends to it. */
const BACKUP_LIST = 'backups.jsonl';

/** Of all that were made; some may be gone. */
export async function readBackups(dataDir: string): Promise<{ path: string; made_at: string }[]> {
  const text = await readFile(join(dataDir, BACKUP_LIST), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      const { path, made_at } = JSON.parse(line) as { path?: unknown; made_at?: unknown };
      return typeof path === 'string' && typeof made_at === 'string' ? [{ path, made_at }] : [];
    } catch {
      return [];
    }
  });
}
