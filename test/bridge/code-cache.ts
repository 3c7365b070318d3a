// A program of its own for calls/media-threads.test.ts: a media thread is started, and after it another on the same folder. Says
// how much less the second has outside its heap, where Node's TypeScript compiler lies, and how many files the first has left.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaThreads } from '../../bridge/calls/media-threads.ts';
import { threadOptions } from './thread-options.ts';

const codeCache = mkdtempSync(join(tmpdir(), 'offhook-code-'));
const filesOf = () => readdirSync(codeCache, { recursive: true }).length;

/** Bytes beside the heap of a thread without calls, and how many files it found. */
async function start(): Promise<{ external: number; found: number }> {
  const found = filesOf();
  const threads = await MediaThreads.open(threadOptions({ codeCache }));
  let [first] = threads.loads();
  for (; first === undefined; [first] = threads.loads()) await new Promise((again) => setTimeout(again, 20));
  await threads.close(AbortSignal.abort());
  return { external: first.load.memory.external, found };
}

const cold = await start();
const warm = await start();
console.log(
  JSON.stringify({
    found: [cold.found, warm.found > 100],
    lessMB: (cold.external - warm.external) / 2 ** 20,
  }),
);
rmSync(codeCache, { recursive: true });
