// offhook secrets rotate: a new key for the stored secrets, into the file of a daemon on this host, which takes it up at its
// next start. A key that is in SECRET_KEY is its owner's to change.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Run } from '../context.ts';
import { UsageError } from '../exit.ts';
import { readEnvironment } from '../settings.ts';

const KEY_FILE = 'secret.key';

/** Puts a new key before those in the file, whole or not at all. @returns how many there are now */
function addKey(path: string): number {
  const lines = readFileSync(path, 'utf8').split('\n');
  const isKey = (line: string) => line.trim() !== '' && !line.trim().startsWith('#');
  const first = lines.findIndex(isKey);
  lines.splice(first === -1 ? lines.length : first, 0, randomBytes(32).toString('base64'));
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const file = openSync(fresh, 'wx', 0o600);
  try {
    writeFileSync(file, lines.join('\n'));
    // Root may do this, and the daemon has to read it.
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(path);
      fchownSync(file, uid, gid);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  const folder = openSync(resolve(path, '..'), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return lines.filter(isKey).length;
}

export function addSecretsCommands(program: Command, run: Run): void {
  const secrets = program.command('secrets').description('the key that seals secrets in the database');
  secrets
    .command('rotate')
    .description(
      'put a new key before the ones of the daemon on this host; its next start seals everything under it',
    )
    .option('--data-dir <folder>', "the daemon's DATA_DIR (default: of the environment, else ./data)")
    .option('--env-file <file>', "the daemon's settings")
    .action(
      run(async ({ output, env }, o: { dataDir?: string; envFile?: string }) => {
        const settings = readEnvironment(env, o.envFile);
        if (settings.SECRET_KEY !== undefined && settings.SECRET_KEY !== '') {
          throw new UsageError(
            'The key is in SECRET_KEY: put a new one (openssl rand -base64 32) and a comma before it, start the daemon again, and take the old one out when no backup needs it.',
          );
        }
        const path = join(resolve(o.dataDir ?? settings.DATA_DIR ?? './data'), KEY_FILE);
        if (!existsSync(path)) {
          throw new UsageError(
            `There is no ${path}: is DATA_DIR set as for the daemon? (--data-dir, --env-file) Its first start makes one.`,
          );
        }
        const keys = addKey(path);
        if (output.json) return output.data({ file: path, keys });
        output.line(`A new key stands first in ${path}, of ${keys}.`);
        output.line(
          'Start the daemon again: it seals everything under the new one. Keep the lines below as long as backups need them.',
        );
      }),
    );
}
