// The options that all campaigns read alike.
import t from 'tap';
import { readCampaignOptions } from '../../scripts/campaign-options.ts';

const read = (...args: string[]) =>
  readCampaignOptions(
    { numbers: { kills: 200, 'redis-kills': 10 }, texts: ['points'], flags: ['campaign'] },
    args,
  );

t.test('numbers, texts, --keep and --help, each with its default', async (t) => {
  t.same(read(), {
    numbers: { kills: 200, 'redis-kills': 10 },
    texts: { points: null },
    flags: new Set(),
    help: false,
    keep: null,
  });
  t.same(read('--kills', '0', '--redis-kills=3', '--points', 'a,b', '--campaign', '--keep', 'here', '-h'), {
    numbers: { kills: 0, 'redis-kills': 3 },
    texts: { points: 'a,b' },
    flags: new Set(['campaign']),
    help: true,
    keep: 'here',
  });
});

for (const [name, args, message] of [
  ['a word', ['--kills', 'many'], '--kills takes a whole number, not "many".'],
  ['nothing', ['--kills='], '--kills takes a whole number, not "".'],
  ['a fraction', ['--redis-kills', '1.5'], '--redis-kills takes a whole number, not "1.5".'],
  ['less than nothing', ['--kills=-1'], '--kills takes a whole number, not "-1".'],
  ['an unknown option', ['--kill', '1'], /--kill/],
  ['a stray word', ['now'], /now/],
] as const) {
  t.test(`refused: ${name}`, async (t) => {
    t.throws(() => read(...args), { message });
  });
}
