// Which tools of a call are still unanswered, by its row and its transcript.
import t from 'tap';
import { toolLine, unanswered, withoutTool, withTool } from '../../../bridge/calls/running-tools.ts';

const tool = (id: string, atMs = 100.4, name = 'look_up') => ({
  tool_call_id: id,
  name,
  arguments_json: '{"a":1}',
  at_ms: atMs,
});
const line = (start_ms: number, text: string, role: 'tool' | 'agent' = 'tool') => ({ role, text, start_ms });
const answer = (atMs: number, name = 'look_up', asked = '{"a":1}') =>
  line(atMs, toolLine({ name, arguments: asked, ok: true, output: 'done' }));

t.test('on the row and off it', async (t) => {
  const asked = { toolCallId: 'b', name: 'look_up', argumentsJson: '{"a":1}', atMs: 100.4 };
  t.strictSame(withTool([tool('a')], asked), [tool('a'), tool('b')]);
  t.strictSame(withTool([tool('b'), tool('a')], asked), [tool('a'), tool('b')]);
  t.strictSame(withoutTool([tool('a'), tool('b')], 'a'), [tool('b')]);
  t.strictSame(withoutTool([tool('b')], 'a'), [tool('b')]);
});

t.test('a line has so much of an answer', async (t) => {
  const text = toolLine({ name: 'n', arguments: '{}', ok: false, output: 'x'.repeat(5_000) });
  t.strictSame(JSON.parse(text), { name: 'n', arguments: '{}', ok: false, output: 'x'.repeat(4_000) });
});

const ROWS: [string, Parameters<typeof unanswered>[1], string[]][] = [
  ['no transcript: all', [], ['a', 'later']],
  ['its answer is there, and its row was not written any more', [answer(100)], ['later']],
  ['another call of the same tool', [answer(900)], ['a']],
  ['another tool at the same time', [answer(100, 'other')], ['a', 'later']],
  ['with other arguments', [answer(100, 'look_up', '{"a":2}')], ['a', 'later']],
  ['a note that is no answer', [line(100, 'transfer_call: desk'), line(100, '"look_up"')], ['a', 'later']],
  ['what the agent says is none', [line(100, answer(100).text, 'agent')], ['a', 'later']],
];
for (const [name, transcript, left] of ROWS)
  t.test(name, async (t) => {
    const found = unanswered([tool('a'), tool('later', 900)], transcript);
    t.strictSame(
      found.map(({ tool_call_id }) => tool_call_id),
      left,
    );
  });
