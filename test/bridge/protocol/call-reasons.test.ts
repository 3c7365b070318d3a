// Our own words for why calls end: every one that the program can write is in the lists, and none reads like a carrier's.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NO_ANSWER, NOT_POSSIBLE } from '../../../bridge/carriers/carrier.ts';
import { FAULT_CODES, HANGUP_CAUSES } from '../../../bridge/protocol/call-reasons.ts';

const ROOT = join(import.meta.dirname, '../../..');

// The types hold the verbs that end calls to the lists; what is written into a record past them is found here.
const WRITES: readonly [pattern: RegExp, list: Readonly<Record<string, string>>][] = [
  [/\bhangup_cause: (?:[^\n']*\? )?'([^']+)'/g, HANGUP_CAUSES],
  [/\berror_code: [^\n']*'([^']+)'/g, FAULT_CODES],
  [/\bendNow\([^)']*'([^']+)'/g, HANGUP_CAUSES],
  [/\bendAll\('([^']+)'/g, HANGUP_CAUSES],
  [/\bcode: '((?:model|stream|media|daemon|carrier)_[a-z_]+)'/g, { ...FAULT_CODES, carrier_error: '' }],
];

t.test('every word that the source writes is in the lists', async (t) => {
  const files = readdirSync(join(ROOT, 'bridge'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `bridge/${file}`);
  let found = 0;
  for (const file of [...files, 'daemon.ts', 'control/agents/results.ts']) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    for (const [pattern, list] of WRITES) {
      for (const [text, word = ''] of source.matchAll(pattern)) {
        found++;
        t.ok(Object.hasOwn(list, word), `${file}: ${text}`);
      }
    }
  }
  t.ok(found > 15, `${found} places`);
});

t.test('the codes that stand for a carrier without an answer are among ours', async (t) => {
  for (const code of [NO_ANSWER, NOT_POSSIBLE]) t.ok(Object.hasOwn(FAULT_CODES, code), code);
});

t.test('no word of ours reads like what a carrier says', async (t) => {
  for (const word of [...Object.keys(HANGUP_CAUSES), ...Object.keys(FAULT_CODES)]) {
    t.match(word, /^[a-z]+(_[a-z]+)*$/, 'neither digits nor SIP');
    t.notMatch(word, /^http_/);
  }
});
