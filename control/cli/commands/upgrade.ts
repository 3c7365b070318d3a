// offhook upgrade: another version of the program goes on for the daemon on this host, while calls run. The doing is that
// program's own (`node main.js upgrade`); here it is found.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Run } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';
import { readEnvironment } from '../settings.ts';

interface Options {
  versionDir?: string;
  dataDir?: string;
  envFile?: string;
  daemon?: string;
  wait: boolean;
}

/** Where this command line is part of a program; as a package it is not. */
const OWN = resolve(import.meta.dirname, '../../..');

/** @throws UsageError */
function programOf(versionDir: string | undefined): string {
  const folder = versionDir === undefined ? OWN : resolve(versionDir);
  if (existsSync(join(folder, 'main.js')) && existsSync(join(folder, 'daemon.ts'))) return folder;
  throw new UsageError(
    versionDir === undefined
      ? 'Say where the version to go over to is: --version-dir FOLDER.'
      : `There is no program in ${folder}.`,
  );
}

export function addUpgradeCommand(program: Command, run: Run): void {
  program
    .command('upgrade')
    .description(
      'go over to another version of the program while calls run; the one before ends with its last call',
    )
    .option(
      '--version-dir <folder>',
      'the program to go over to, older or newer (default: the one of this command)',
    )
    .option('--data-dir <folder>', "the daemon's DATA_DIR (default: of the environment, else ./data)")
    .option('--env-file <file>', "the daemon's settings")
    .option('--daemon <number>', 'of several daemons on the folder')
    .option('--no-wait', 'do not wait for the calls of the one before')
    .action(
      run(async ({ env, output, signal }, o: Options) => {
        const folder = programOf(o.versionDir);
        const settings = readEnvironment(env, o.envFile);
        const args = ['upgrade', ...(o.daemon === undefined ? [] : ['--daemon', o.daemon])];
        if (!o.wait) args.push('--no-wait');
        const own = join(folder, 'node_modules/.bin/node');
        const child = spawn(existsSync(own) ? own : process.execPath, [join(folder, 'main.js'), ...args], {
          env: { ...settings, ...(o.dataDir === undefined ? {} : { DATA_DIR: resolve(o.dataDir) }) },
          stdio: ['ignore', 'inherit', 'inherit'],
        });
        const code = await new Promise<number | null>((ended, failed) => {
          child.once('error', failed);
          child.once('exit', ended);
        });
        if (signal.aborted) return output.note('The upgrade goes on by itself.');
        if (code !== 0) throw new Ending(EXIT.failed, 'The daemon was not upgraded.');
      }),
    );
}
