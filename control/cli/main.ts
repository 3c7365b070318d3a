#!/usr/bin/env node
// The command line's entry: streams, environment and signals of the process; what it does is in program.ts.
import { readFileSync } from 'node:fs';
import { runCommandLine } from './program.ts';

/** Of the package this file was installed with: the nearest package.json above it. */
function version(): string {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    try {
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
        version?: unknown;
      };
      return String(version);
    } catch {
      if (folder.pathname === '/') return 'unknown';
    }
  }
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
}
// Whoever reads only the first lines (head) closes the pipe: that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  env: process.env,
  version: version(),
  signal: interrupted.signal,
});
