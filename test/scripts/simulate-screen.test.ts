// The terminal of `npm run simulate`: what was said on a call is shown there, and moves nothing.
import { PassThrough } from 'node:stream';
import t from 'tap';
import { Screen } from '../../scripts/simulate/screen.ts';

t.test('what others said is shown and not obeyed', async (t) => {
  const out = new PassThrough() as unknown as NodeJS.WriteStream & PassThrough;
  const screen = new Screen(out);
  const nasty = 'Hel\u001b[2Jlo \u202edlrow\u0007';
  const shown = 'Hel\\u001b[2Jlo \\u202edlrow\\u0007';
  screen.heading(nasty);
  screen.text(nasty);
  screen.line('person', nasty);
  screen.check({ ok: false, name: nasty, detail: nasty });
  screen.table([['head'], [nasty]]);
  screen.verdict(false, nasty);
  const text = String(out.read());
  t.equal(text.split(shown).length - 1, 7, text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  t.notMatch(text.replaceAll(/\u001b\[[\d;]*m/g, ''), /[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/);
});
