// The command line of `npm run simulate`.
import t from 'tap';
import { readOptions } from '../../scripts/simulate/options.ts';

t.test('nothing given is the reminder, placed by the daemon', async (t) => {
  t.same(readOptions([]), {
    scenario: 'reminder',
    direction: 'outbound',
    caller: null,
    calls: 1,
    out: null,
    data: null,
  });
});

t.test('everything given is taken', async (t) => {
  t.same(
    readOptions([
      ...['--scenario', 'barge-in', '--inbound', '--caller', 'a.wav'],
      ...['--calls', '12', '--out', 'o', '--data', 'd'],
    ]),
    { scenario: 'barge-in', direction: 'inbound', caller: 'a.wav', calls: 12, out: 'o', data: 'd' },
  );
});

t.test('a call to receive is the order line, and the order line is a call to receive', async (t) => {
  t.match(readOptions(['--inbound']), { scenario: 'order-line', direction: 'inbound' });
  t.match(readOptions(['--scenario', 'order-line']), { direction: 'inbound' });
});

t.test('what is said first, and who wants no more calls: calls that the daemon places', async (t) => {
  for (const scenario of ['disclosure', 'opt-out'])
    t.match(readOptions(['--scenario', scenario, '--calls', '3']), {
      scenario,
      direction: 'outbound',
      calls: 3,
    });
});

t.test('--help is told before anything else is judged', async (t) => {
  t.same(readOptions(['--help', '--scenario', 'nonsense']), { help: true });
});

const WRONG: [string, string[], RegExp][] = [
  ['an unknown option', ['--frobnicate'], /--frobnicate/],
  ['an option without its value', ['--out'], /--out/],
  ['a word without an option', ['reminder'], /reminder/],
  [
    'an unknown scenario',
    ['--scenario', 'party'],
    /"party".*reminder, order-line, barge-in, give-and-take, line-lost, killed, disclosure, opt-out, voicemail/,
  ],
  ['a reminder to receive', ['--scenario', 'reminder', '--inbound'], /order-line and barge-in/],
  ['a daemon killed under many calls', ['--scenario', 'killed', '--calls', '2'], /looks at one call/],
  ['no calls', ['--calls', '0'], /1 to 200/],
  ['half a call', ['--calls', '1.5'], /1 to 200/],
  ['too many calls', ['--calls', '201'], /1 to 200/],
  ['a voice where nobody speaks', ['--scenario', 'voicemail', '--caller', 'a.wav'], /no person speaks/],
  ['another voice where the words count', ['--scenario', 'opt-out', '--caller', 'a.wav'], /certain words/],
  ['another voice over the first line', ['--scenario', 'disclosure', '--caller', 'a.wav'], /certain words/],
  ['a first line to receive', ['--scenario', 'disclosure', '--inbound'], /order-line and barge-in/],
  ['an empty path', ['--out', ''], /--out needs a path/],
];
for (const [what, argv, message] of WRONG) {
  t.test(`${what} is refused in one line`, async (t) => {
    const answer = readOptions(argv);
    t.ok('wrong' in answer);
    if (!('wrong' in answer)) return;
    t.match(answer.wrong, message);
    t.notMatch(answer.wrong, /\n/);
  });
}
