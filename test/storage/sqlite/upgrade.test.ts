// The short form of upgrade.ts: one kill from each schema, and one upgrade from each that nobody disturbs.
import t from 'tap';
import { killUpgrades, OLD_SCHEMAS } from './upgrade.ts';

t.setTimeout(170_000);

t.test('an upgrade that is killed leaves the old schema or the new one, and every row', async (t) => {
  const seed = Date.now() % 2 ** 31;
  const report = await killUpgrades({ kills: OLD_SCHEMAS.length, seed, calls: 400 });
  t.same(report.faults, [], `seed ${seed}`);
  t.equal(report.kills, OLD_SCHEMAS.length);
  t.comment(JSON.stringify(report));
});
