// `npm run states`: draws every state machine anew into docs/states.md, from the tests that explore them.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const top = resolve(import.meta.dirname, '../..');
const draws = globSync('test/**/*.test.ts', { cwd: top })
  .filter((file) => readFileSync(resolve(top, file), 'utf8').includes('states/drawing.ts'))
  .sort();
for (const file of draws) {
  console.log(file);
  const { status, stdout } = spawnSync(process.execPath, [file], {
    cwd: top,
    env: { ...process.env, STATES: 'write' },
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(stdout);
    process.exit(1);
  }
}
