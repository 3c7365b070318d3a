// Installs the Agents SDK for the bench, once, in a folder of its own outside the tree: the daemon does not depend on it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = ['@openai/agents', '@openai/agents-realtime', '@openai/agents-extensions'];
const INSTALL_MS = 120_000;

/** The folder and the version installed in it, or why there is none. */
export async function agentsPackages(): Promise<{ folder: string; version: string } | { missing: string }> {
  const folder = join(tmpdir(), 'offhook-bench-agents-sdk');
  const manifest = join(folder, 'node_modules/@openai/agents-extensions/package.json');
  if (!existsSync(manifest)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
    const failed = await new Promise<string | null>((done) => {
      const child = spawn(
        'npm',
        ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES, 'zod'],
        {
          cwd: folder,
          stdio: ['ignore', 'ignore', 'pipe'],
          timeout: INSTALL_MS,
        },
      );
      let said = '';
      child.stderr.on('data', (data) => {
        said += String(data);
      });
      child.on('error', (error) => done(error.message));
      child.on('close', (code) =>
        done(code === 0 ? null : said.trim().split('\n').slice(-1)[0] || `npm ended with ${code}`),
      );
    });
    if (failed !== null || !existsSync(manifest)) return { missing: failed ?? 'npm installed nothing' };
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { folder, version };
}
