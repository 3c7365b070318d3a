// The media threads as the control thread sees them. In a process of its own: what a test runner puts into this one, it would
// put into each of the threads.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

t.test('a standstill of the control thread is not held against the media thread', async (t) => {
  const program = join(import.meta.dirname, '../standing-join.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: {} });
  t.equal(stdout.trim(), 'status 404');
});
