// Installs what other bridges are made of, once, each in a folder of its own outside the tree: the daemon does not depend on them.
// One version each, so that two runs measure the same.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const INSTALL_MS = 120_000;
const ZOD = 'zod@4.6.7';

export type Installed = 'agents' | 'framework';

const PACKAGES: Readonly<Record<Installed, { name: string; version: string; besides: readonly string[] }>> = {
  agents: {
    name: '@openai/agents-extensions',
    version: '0.18.0',
    besides: ['@openai/agents@0.18.0', '@openai/agents-realtime@0.18.0', ZOD],
  },
  framework: { name: 'realtime-voice-agents', version: '2.5.4', besides: [ZOD] },
};

export type Installation = { folder: string; version: string } | { missing: string };

/** The folder that has a bridge's packages, or why there is none. */
export async function installed(bridge: Installed): Promise<Installation> {
  const { name, version, besides } = PACKAGES[bridge];
  const folder = join(tmpdir(), `offhook-bench-${bridge}-${version}`);
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (versionOf(manifest) !== version) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
    const failed = await install(folder, [`${name}@${version}`, ...besides]);
    if (versionOf(manifest) !== version) return { missing: failed ?? 'npm installed nothing' };
  }
  return { folder, version };
}

function versionOf(manifest: string): string | null {
  return existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
    : null;
}

/** Why it failed, or null. */
function install(folder: string, packages: readonly string[]): Promise<string | null> {
  return new Promise((done) => {
    const child = spawn('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INSTALL_MS,
    });
    let said = '';
    child.stderr.on('data', (data) => {
      said += String(data);
    });
    child.on('error', (error) => done(error.message));
    child.on('close', (code) =>
      done(code === 0 ? null : said.trim().split('\n').slice(-1)[0] || `npm ended with ${code}`),
    );
  });
}
