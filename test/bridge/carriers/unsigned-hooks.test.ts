// How often an address may be wrong, by table: [seconds, what happens, whether it is heard].
import t from 'tap';
import { countUnsignedHooks } from '../../../bridge/carriers/unsigned-hooks.ts';

t.test('twenty within a minute are answered, one more is not listened to for a minute', async (t) => {
  const unsigned = countUnsignedHooks();
  const wrong = (times: number, atMs: number) =>
    Array.from({ length: times }, () => unsigned.count('a', atMs)).some((deaf) => deaf);
  t.equal(wrong(20, 0), false);
  t.equal(unsigned.deafFor('a', 0), 0);
  t.equal(wrong(1, 59_000), true);
  t.equal(unsigned.deafFor('a', 59_000), 60);
  t.equal(unsigned.deafFor('b', 59_000), 0, 'of this address alone');
  t.equal(unsigned.deafFor('a', 118_500), 0.5);
  t.equal(unsigned.deafFor('a', 119_000), 0);
  t.equal(wrong(20, 119_000), false, 'and all begins anew');
  t.equal(wrong(1, 119_000), true);
});

t.test('a few now and then are nothing; one that is signed forgives all before', async (t) => {
  const unsigned = countUnsignedHooks();
  for (let minute = 0; minute < 10; minute++)
    for (let i = 0; i < 20; i++) t.equal(unsigned.count('a', minute * 60_000), false);
  unsigned.forgive('a');
  for (let i = 0; i < 20; i++) t.equal(unsigned.count('a', 600_000), false);
});
