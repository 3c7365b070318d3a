// What an error of a run is told as.
import t from 'tap';
import { reasonOf } from './text.ts';

t.test('an error says what caused it', async (t) => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  t.equal(reasonOf(new TypeError('fetch failed', { cause: reset })), 'fetch failed: read ECONNRESET');
  t.equal(reasonOf(new Error('7 of 10 calls came up')), '7 of 10 calls came up');
  t.equal(reasonOf('gone'), 'gone');
});
