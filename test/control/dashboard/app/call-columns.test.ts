// The columns of the list of calls: the usual ones, a choice that is kept, and what of it is not known any more.
import t from 'tap';
import { CALL_COLUMNS, columnsFrom, keptColumns } from '../../../../control/dashboard/app/call-columns.ts';

t.test('a choice comes back as it was kept; the usual one is not kept at all', async (t) => {
  const usual = columnsFrom(null);
  t.ok(usual.has('who') && usual.has('result') && !usual.has('model'));
  t.equal(keptColumns(usual), null);
  const chosen = new Set([...usual, 'model' as const]);
  t.same([...columnsFrom(keptColumns(chosen))].sort(), [...chosen].sort());
});

t.test('what names a call is always there, and what nobody knows never', async (t) => {
  t.same(
    [...columnsFrom('')],
    CALL_COLUMNS.filter(({ always }) => always).map(({ id }) => id),
  );
  t.same([...columnsFrom('model,<script>,gone')], ['who', 'ended', 'model']);
});
