// API keys: their form.
import { crc32 } from 'node:zlib';
import t from 'tap';
import { newApiKey } from '../../../control/http/keys.ts';

t.test('a key is sk_, 43 random characters and a checksum of six', (t) => {
  const keys = new Set(Array.from({ length: 200 }, newApiKey));
  t.equal(keys.size, 200);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (const key of keys) {
    if (!/^sk_[0-9A-Za-z]{49}$/.test(key)) t.fail(key);
    const sum = [...key.slice(-6)].reduce((n, digit) => n * 62 + alphabet.indexOf(digit), 0);
    if (sum !== crc32(key.slice(0, -6))) t.fail(`${key}: checksum`);
  }
  const used = new Set([...keys].flatMap((key) => [...key.slice(3, -6)]));
  t.equal(used.size, 62, 'all characters are used');
  t.end();
});
