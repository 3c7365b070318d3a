// What was heard of a line, and which line a moment belongs to.
import t from 'tap';
import { heardParts, lineAt, toolCall } from '../../../../control/dashboard/app/spoken.ts';

t.test('what was heard and what was cut', async (t) => {
  const cases: [string, string, boolean, string, string][] = [
    ['Good morning.', 'Good morning.', false, 'Good morning.', ''],
    ['Good morning to you.', 'Good morning', true, 'Good morning', ' to you.'],
    ['Good morning.', '', true, '', 'Good morning.'],
    // The line goes on: nothing of it is cut yet.
    ['Good morning to', '', false, 'Good morning to', ''],
    // Written otherwise than generated: matched by letters.
    ['Well - good morning, to you.', 'well good morning', true, 'Well - good morning', ', to you.'],
    ['Eins, zwei, drei.', 'one two', true, 'one two', ''],
  ];
  for (const [text, heard_text, interrupted, heard, cut] of cases) {
    t.same(heardParts({ text, heard_text, interrupted }), { heard, cut }, `${text} / ${heard_text}`);
  }
});

t.test('which line a moment of the recording belongs to', async (t) => {
  const items = [{ start_ms: 300 }, { start_ms: 4000 }, { start_ms: 4000 }, { start_ms: 9000 }];
  const cases: [number, number][] = [
    [0, -1],
    [299, -1],
    [300, 0],
    [3999, 0],
    [4000, 2],
    [100_000, 3],
  ];
  for (const [atMs, line] of cases) t.equal(lineAt(items, atMs), line, String(atMs));
  t.equal(lineAt([], 5), -1);
});

t.test("a tool's line", async (t) => {
  t.same(
    toolCall(JSON.stringify({ name: 'find', arguments: '{"order":"1042"}', ok: false, output: 'gone' })),
    { name: 'find', arguments: '{\n  "order": "1042"\n}', output: 'gone', ok: false },
  );
  t.same(toolCall(JSON.stringify({ name: 'ping', arguments: '{}', ok: true, output: '' })), {
    name: 'ping',
    arguments: '',
    output: '',
    ok: true,
  });
  t.same(toolCall('send_dtmf: 12#'), { name: 'send_dtmf', arguments: '12#', output: '', ok: null });
  t.same(toolCall('end_call'), { name: 'end_call', arguments: '', output: '', ok: null });
  t.match(toolCall('{broken'), { name: 'tool', arguments: '{broken' });
});
