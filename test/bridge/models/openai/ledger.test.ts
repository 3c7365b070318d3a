// What a new session is told of a call.
import t from 'tap';
import { Ledger } from '../../../../bridge/models/openai/ledger.ts';

t.test('in the order it was said, with what is known of it', async (t) => {
  const ledger = new Ledger({ bytesPerMs: 8, unintelligible: '[not understood]' });
  ledger.text('system', 'now');
  ledger.agentDelta('a1', 'Hel');
  ledger.agentDelta('a1', 'lo.');
  ledger.caller(0, Buffer.from('zero'));
  ledger.agentDelta('a2', 'Su');
  ledger.agentText('a2', 'Sure, one moment please.');
  ledger.toolCall({ toolCallId: 'c', name: 'n', argumentsJson: '{}' });
  ledger.toolOutput('c', 'out');
  ledger.agentText('a3', 'Unheard.');
  ledger.caller(1, Buffer.from('one'));
  ledger.caller(2, Buffer.from('two'));
  ledger.text('user', 'Pressed 5');
  // The words of the first turn come last.
  ledger.callerText(0, 'Hi.');
  ledger.callerText(2, null);
  ledger.cut('a2', 'Sure, one');
  t.ok(ledger.drop('a3'));
  t.notOk(ledger.drop('a3'));
  const { seeds, items } = ledger.seeds('p');
  t.same(seeds, [
    { kind: 'text', id: 'p0', role: 'system', text: 'now' },
    { kind: 'text', id: 'p1', role: 'assistant', text: 'Hello.' },
    { kind: 'text', id: 'p2', role: 'user', text: 'Hi.' },
    { kind: 'text', id: 'p3', role: 'assistant', text: 'Sure, one' },
    { kind: 'tool-call', id: 'p4', toolCallId: 'c', name: 'n', argumentsJson: '{}' },
    { kind: 'tool-output', id: 'p5', toolCallId: 'c', output: 'out' },
    { kind: 'audio', turn: 1, audio: Buffer.from('one') },
    { kind: 'text', id: 'p7', role: 'user', text: '[not understood]' },
    { kind: 'text', id: 'p8', role: 'user', text: 'Pressed 5' },
  ]);
  t.same(
    [...items],
    [
      ['a1', { seedId: 'p1', after: 'p0', text: 'Hello.' }],
      ['a2', { seedId: 'p3', after: 'p2', text: 'Sure, one' }],
    ],
  );
});

t.test('a turn that was none is not told, an item without words neither', async (t) => {
  const ledger = new Ledger({ bytesPerMs: 8, unintelligible: '[not understood]' });
  ledger.caller(0, Buffer.from('x'));
  ledger.dropCaller(0);
  ledger.agentDelta('a', '');
  t.same(ledger.seeds('p').seeds, []);
});

t.test('of a long call the newest is told, and no answer of a tool without its call', async (t) => {
  const ledger = new Ledger({ bytesPerMs: 8, unintelligible: '[not understood]' });
  ledger.toolCall({ toolCallId: 'old', name: 'n', argumentsJson: '{}' });
  ledger.toolOutput('old', 'answer');
  for (let n = 0; n < 399; n++) ledger.text('user', `line ${n}`);
  const { seeds } = ledger.seeds('p');
  t.equal(seeds.length, 399);
  t.match(seeds[0], { text: 'line 0' });
  const long = new Ledger({ bytesPerMs: 8, unintelligible: '[not understood]' });
  for (let n = 0; n < 10; n++) long.text('user', `${n}`.repeat(10_000));
  t.equal(long.seeds('p').seeds.length, 6, 'about 60,000 characters');
});

t.test('audio without words is kept for a minute, the newest turn always', async (t) => {
  const ledger = new Ledger({ bytesPerMs: 8, unintelligible: '[not understood]' });
  for (let turn = 0; turn < 5; turn++) ledger.caller(turn, Buffer.alloc(20_000 * 8, turn));
  t.same(
    ledger.seeds('p').seeds.map((seed) => seed.kind),
    ['text', 'text', 'audio', 'audio', 'audio'],
  );
  ledger.caller(5, Buffer.alloc(90_000 * 8));
  t.same(
    ledger.seeds('p').seeds.map((seed) => seed.kind),
    ['text', 'text', 'text', 'text', 'text', 'audio'],
  );
});
