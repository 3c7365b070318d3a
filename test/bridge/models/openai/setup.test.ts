// What is told of an account's models, by table.
import t from 'tap';
import { formatFor } from '../../../../bridge/models/openai/formats.ts';
import { judgeModels, openaiSetup } from '../../../../bridge/models/openai/setup.ts';

const NOW = new Date('2026-12-01T00:00:00Z');

t.test('the models: those that are not offered, and those that will not be', async (t) => {
  const listed = [
    { id: 'a' },
    { id: 'b', shutdown_date: '2027-01-20' },
    { id: 'c', shutdown_date: Date.parse('2026-11-01') / 1000 },
    { id: 'd', shutdown_date: '2028-01-01' },
  ];
  t.match(judgeModels(listed, { X: 'a', Y: 'd' }, NOW), [{ state: 'ok', says: /a, d/ }]);
  t.match(judgeModels(listed, { X: 'b' }, NOW), [{ state: 'warn', says: /2027-01-20/ }]);
  t.match(judgeModels(listed, { X: 'c' }, NOW), [{ state: 'fail', says: /was shut down/ }]);
  t.match(judgeModels(listed, { X: 'z' }, NOW), [{ state: 'fail', says: /does not offer z \(X\)/ }]);
});

t.test('each format that is told can be had, by a line in it', async (t) => {
  for (const format of openaiSetup.formats) t.same(formatFor(format), format);
});
