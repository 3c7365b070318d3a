// Contacts out of files: columns, separators, quotes, pieces of any size, and what is not taken, by its line.
import t from 'tap';
import { type ImportOptions, importContacts } from '../../../control/campaigns/import.ts';
import { AppError } from '../../../errors.ts';
import type { ContactRecord } from '../../../storage/campaign-records.ts';
import { START } from '../../storage/makers.ts';

/** A file in pieces of so many bytes. */
function file(text: string, size = 7): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces = Math.ceil(bytes.length / size);
  return Array.from({ length: pieces }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

async function run(text: string, o: Partial<ImportOptions> & { size?: number } = {}) {
  const added: ContactRecord[] = [];
  const report = await importContacts(file(text, o.size), {
    campaign: { id: 'c', org_id: 'o' },
    numberColumn: null,
    country: null,
    now: START,
    async add(contacts) {
      added.push(...contacts);
      return { added: contacts.map(({ id }) => id) };
    },
    refusal: ({ conflict }) => new AppError('conflict', conflict),
    ...o,
  });
  return { report, added };
}

t.test('the number, what the agent is told, priority and zone', async (t) => {
  const { report, added } = await run(
    '\uFEFFname,Phone Number,priority,time_zone,note\r\n"Zoë ""Z"", jr.",+1 (415) 555-0101,7,Europe/Berlin,\r\nBo,+4930123456,,,"two\nlines"\r\n',
  );
  t.match(report, { lines: 2, added: 2, duplicates: 0, refused: 0, not_taken: [] });
  t.equal(report.number_column, 'Phone Number');
  t.same(report.context_columns, ['name', 'note']);
  t.match(added, [
    {
      to_number: '+14155550101',
      context: { name: 'Zoë "Z", jr.' },
      priority: 7,
      time_zones: ['Europe/Berlin'],
    },
    {
      to_number: '+4930123456',
      context: { name: 'Bo', note: 'two\nlines' },
      priority: 0,
      time_zones: ['Europe/Berlin'],
    },
  ]);
  t.same(report.preview[0], {
    to_number: '+14155550101',
    context: { name: 'Zoë "Z", jr.' },
    priority: 7,
    time_zones: ['Europe/Berlin'],
  });
});

t.test('what is not taken is told by its line, and keeps nobody out', async (t) => {
  const { report, added } = await run(
    'to;name;priority;time_zone\n+14155550101;A;;\n0301234;B;;\n+14155550101;C;;\nhello;D;;\n+14155550102;E;12;\n+14155550103;F;;Mars/Olympus\n+14155550104;G;;\n',
  );
  t.match(report, { lines: 7, added: 2, duplicates: 1, refused: 4 });
  t.match(report.not_taken, [
    { line: 3, code: 'invalid_number' },
    { line: 4, code: 'duplicate' },
    { line: 5, code: 'invalid_number' },
    { line: 6, code: 'invalid_priority' },
    { line: 7, code: 'invalid_time_zone' },
  ]);
  t.same(
    added.map(({ to_number }) => to_number),
    ['+14155550101', '+14155550104'],
  );
});

t.test('numbers of a country, a column that is named, tabs', async (t) => {
  const text = 'work\thome\n030 1234567\t0170 1234567\n0049 30 7654321\t\n';
  const { added } = await run(text, { country: 'DE', numberColumn: 'work' });
  t.same(
    added.map(({ to_number, context }) => [to_number, context]),
    [
      ['+49301234567', { home: '0170 1234567' }],
      ['+49307654321', {}],
    ],
  );
});

t.test('those that the campaign has already are duplicates', async (t) => {
  const { report } = await run('to\n+14155550101\n+14155550102\n', {
    add: async ([first]) => ({ added: [first?.id ?? ''] }),
  });
  t.match(report, { added: 1, duplicates: 1, not_taken: [{ line: 3, code: 'duplicate' }] });
});

t.test('a file that is only looked at is not stored', async (t) => {
  const { report, added } = await run('to\n+14155550101\n', { add: null });
  t.match(report, { added: 1 });
  t.same(added, []);
});

const refused: [string, string, RegExp][] = [
  ['nothing', '', /empty/],
  ['no column of a number', 'name,age\nA,1\n', /must name its columns/],
  ['a column twice', 'to,name,name\n+14155550101,A,B\n', /twice/],
  ['a quote that is open', `to,name\n+14155550101,"${'x'.repeat(300_000)}`, /no CSV/],
];
for (const [name, text, message] of refused)
  t.test(`refused: ${name}`, async (t) =>
    t.rejects(run(text, { size: 60_000 }), { code: 'invalid_request', message }),
  );

t.test('a refusal ends it', async (t) => {
  await t.rejects(run('to\n+14155550101\n', { add: async () => ({ conflict: 'status' }) }), {
    code: 'conflict',
    message: 'status',
  });
});

t.test('4,000 lines in pieces of any size are 4,000 contacts, a part at a time', async (t) => {
  const lines = Array.from({ length: 4_000 }, (_, at) => `+1415555${String(1_000 + at)},Caller ${at}`);
  let parts = 0;
  const { report } = await run(`to,name\n${lines.join('\n')}\n`, {
    size: 8_191,
    async add(contacts) {
      parts++;
      t.ok(contacts.length <= 500);
      return { added: contacts.map(({ id }) => id) };
    },
  });
  t.match(report, { lines: 4_000, added: 4_000, refused: 0, duplicates: 0 });
  t.equal(parts, 8);
});
