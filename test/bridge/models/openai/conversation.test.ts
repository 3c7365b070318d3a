// What a new session is told of a call.
import t from 'tap';
import { SoundQueue } from '../../../../audio/sound-queue.ts';
import { Conversation } from '../../../../bridge/models/openai/conversation.ts';

function sound(bytes: Buffer): SoundQueue {
  const queue = new SoundQueue();
  queue.push(bytes);
  return queue;
}

t.test('in the order it was said, with what is known of it', async (t) => {
  const conversation = new Conversation({ bytesPerMs: 8, unintelligible: '[not understood]' });
  conversation.text('system', 'now');
  conversation.agentDelta('a1', 'Hel');
  conversation.agentDelta('a1', 'lo.');
  conversation.caller(0, sound(Buffer.from('zero')));
  conversation.agentDelta('a2', 'Su');
  conversation.agentText('a2', 'Sure, one moment please.');
  conversation.toolCall({ toolCallId: 'c', name: 'n', argumentsJson: '{}' });
  conversation.toolOutput('c', 'out');
  conversation.agentText('a3', 'Unheard.');
  conversation.caller(1, sound(Buffer.from('one')));
  conversation.caller(2, sound(Buffer.from('two')));
  conversation.text('user', 'Pressed 5');
  // The words of the first turn come last.
  conversation.callerText(0, 'Hi.');
  conversation.callerText(2, null);
  conversation.cut('a2', 'Sure, one');
  t.ok(conversation.drop('a3'));
  t.notOk(conversation.drop('a3'));
  const { seeds, items } = conversation.seeds('p');
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
  const conversation = new Conversation({ bytesPerMs: 8, unintelligible: '[not understood]' });
  conversation.caller(0, sound(Buffer.from('x')));
  conversation.dropCaller(0);
  conversation.agentDelta('a', '');
  t.same(conversation.seeds('p').seeds, []);
});

t.test('of a long call the newest is told, and no answer of a tool without its call', async (t) => {
  const conversation = new Conversation({ bytesPerMs: 8, unintelligible: '[not understood]' });
  conversation.toolCall({ toolCallId: 'old', name: 'n', argumentsJson: '{}' });
  conversation.toolOutput('old', 'answer');
  for (let n = 0; n < 399; n++) conversation.text('user', `line ${n}`);
  const { seeds } = conversation.seeds('p');
  t.equal(seeds.length, 399);
  t.match(seeds[0], { text: 'line 0' });
  const long = new Conversation({ bytesPerMs: 8, unintelligible: '[not understood]' });
  for (let n = 0; n < 10; n++) long.text('user', `${n}`.repeat(10_000));
  t.equal(long.seeds('p').seeds.length, 6, 'about 60,000 characters');
});

t.test('audio without words is kept for a minute, the newest turn always', async (t) => {
  const conversation = new Conversation({ bytesPerMs: 8, unintelligible: '[not understood]' });
  for (let turn = 0; turn < 5; turn++) conversation.caller(turn, sound(Buffer.alloc(20_000 * 8, turn)));
  t.same(
    conversation.seeds('p').seeds.map((seed) => seed.kind),
    ['text', 'text', 'audio', 'audio', 'audio'],
  );
  conversation.caller(5, sound(Buffer.alloc(90_000 * 8)));
  t.same(
    conversation.seeds('p').seeds.map((seed) => seed.kind),
    ['text', 'text', 'text', 'text', 'text', 'audio'],
  );
});
