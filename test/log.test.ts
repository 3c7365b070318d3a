// What the log masks, whatever it comes in with: by the shape of a value, and by the values it was told of.
import t from 'tap';
import { maskNumber, openLog, redact } from '../log.ts';

/** What one line looks like, written by `work`. */
function lineOf(work: (log: ReturnType<typeof openLog>) => void, secrets: string[] = []) {
  const lines: string[] = [];
  work(openLog('debug', secrets, { write: (line) => lines.push(line) }));
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

t.test('shapes that are masked in any text', async (t) => {
  for (const [text, masked] of [
    ['to +15551234567.', 'to +15***67.'],
    ['to +1 (555) 123-4567', 'to +15***67'],
    ['?To=%2B15551234567', '?To=+15***67'],
    ['the number 15551234567 is', 'the number 155***67 is'],
    ['"15551234567"', '"155***67"'],
    ['key sk_abcdefgh12, sk-proj-abcdefgh', 'key [redacted], [redacted]'],
    [String.raw`a\nsk_abcdefgh12`, String.raw`a\n[redacted]`],
    ['whsec_MfKQ9r8GKYqrTwjUPD8I+/==', '[redacted]'],
    ['authorization: Bearer abc.def-ghi', 'authorization: Bearer [redacted]'],
    ['Basic QUM6dG9rZW4=', 'Basic [redacted]'],
    ['https://user:pass@host.example/path', 'https://[redacted]@host.example/path'],
    ['https://host.example/path?token=abc#x, then', 'https://host.example/path?[redacted] then'],
    ['redis://:pass@host:6379', 'redis://[redacted]@host:6379'],
  ] as const) {
    t.equal(redact(text), masked);
  }
});

t.test('a line moves no terminal, and is the JSON that it was', async (t) => {
  const lines: string[] = [];
  const path = '/a\u001b[2J\u009bb\u202ec\u{e0041}\n';
  openLog('debug', [], { write: (line) => lines.push(line) }).info({ path }, 'request.done');
  const line = lines[0] ?? '';
  t.match(JSON.parse(line), { path });
  t.match(line, /\\u009b.*\\u202e.*\\udb40\\udc41/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  t.notMatch(line.slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
});

t.test('what is no secret stays', async (t) => {
  for (const text of [
    '{"ms":1732141234567,"list":[1732141234567,15551234567]}',
    '0199b0c4-7a10-7cc0-9b1e-123456789012',
    '2026-11-20T22:45:03.123Z',
    'CA00000000000000000000000000000001',
    'task-runner-abcdefgh risk_assessment',
    'https://host.example:8080/v1/calls',
    'file:///app/daemon.ts:123:45',
    'PT1H +02:00',
  ]) {
    t.equal(redact(text), text);
  }
});

t.test('a masked number keeps its first and last two digits', async (t) => {
  t.equal(maskNumber('+4915112345678'), '+49***78');
  t.equal(maskNumber('+12345'), '***');
});

t.test('values it was told of, in any field, also as JSON spells them', async (t) => {
  const line = lineOf(
    (log) => log.info({ a: { b: ['x 32hexhexhex y'] }, c: 'quo"te\\secret' }, 'e'),
    ['32hexhexhex', 'quo"te\\secret', 'short'],
  );
  t.match(line, { a: { b: ['x [redacted] y'] }, c: '[redacted]', event: 'e' });
  t.match(
    lineOf((log) => log.child({ z: 'abcdefgh' }).warn({}, 'e'), ['abcdefgh']),
    { z: '[redacted]' },
  );
});

t.test(
  'an error: message, code and the way to it; no requests, answers or excerpts that hang on it',
  async (t) => {
    let parsing: unknown;
    try {
      JSON.parse('{"a": these were spoken words');
    } catch (error) {
      parsing = error;
    }
    const cause = Object.assign(new Error('for +15551234567', { cause: parsing }), { code: 'ECONNRESET' });
    const error = Object.assign(new Error('Bearer abcdefgh failed', { cause }), {
      headers: { a: 'b' },
      request: 'c',
      status: 500,
    });
    const { err } = lineOf((log) => log.error({ err: error }, 'e')) as { err: Record<string, unknown> };
    t.same(Object.keys(err).sort(), ['cause', 'message', 'stack', 'status', 'type']);
    t.match(err, {
      type: 'Error',
      message: 'Bearer [redacted] failed',
      status: 500,
      stack: /^at .*log\.test\.ts/,
      cause: { message: 'for +15***67', code: 'ECONNRESET', cause: { type: 'SyntaxError' } },
    });
    t.notMatch(JSON.stringify(err), /spoken/);
    const many = new AggregateError([new Error('one'), 'two'], 'both');
    t.match(
      lineOf((log) => log.error({ err: many }, 'e')),
      { err: { message: 'both', errors: [{ message: 'one' }, 'two'] } },
    );
    t.match(
      lineOf((log) => log.error({ err: 'words of +15551234567' }, 'e')),
      { err: 'words of +15***67' },
    );
  },
);

t.test('an error that another thread has described is told as it is', async (t) => {
  const described = { type: 'TypeError', message: 'broken', stack: 'at a' };
  t.match(
    lineOf((log) => log.error({ err: described }, 'e')),
    { err: described },
  );
});
