// The SQLite store does what every store must do: on disk, as it runs.
import { join } from 'node:path';
import t from 'tap';
import { UNLIMITED } from '../../../storage/outbound/rules.ts';
import { calls } from '../../../storage/sqlite/calls.ts';
import { openConnection } from '../../../storage/sqlite/connection.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { organizations } from '../../../storage/sqlite/organizations.ts';
import { OutboundGate } from '../../../storage/sqlite/outbound-gate.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { storeConformance } from '../conformance.ts';
import { ownerConformance } from '../conformance-owners.ts';
import { makeCall, makeKey, makeOrganization, START } from '../makers.ts';

let opened = 0;
storeConformance(t, ({ now }) => {
  opened += 1;
  return openStore({ path: join(t.testdirName, `${opened}`, 'offhook.db'), now });
});
ownerConformance(t, ({ now }) => {
  opened += 1;
  const path = join(t.testdirName, `${opened}`, 'offhook.db');
  return () => openStore({ path, now, shared: true });
});
t.teardown(() => t.testdir());

t.test(
  'a full disk: the change is refused whole, reads go on, and space brings everything back',
  async (t) => {
    const path = join(t.testdir(), 'offhook.db');
    const database = openDatabase({ path });
    t.teardown(() => database.close());
    const connection = openConnection({
      db: database.db,
      owner: database.daemon.epoch,
      clock: () => new Date(START),
    });
    const store = {
      ...organizations(connection),
      ...calls(connection, new OutboundGate(connection, UNLIMITED)),
    };
    const organization = makeOrganization({ balance_milli_cents: 1e6 });
    await store.createOrganization(organization, makeKey(organization.id));
    const { db } = database;
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 12}`);
    const ids: string[] = [];
    let refused: unknown;
    while (refused === undefined && ids.length < 1000) {
      const call = makeCall(organization.id, { prompt: 'x'.repeat(3000) });
      try {
        await store.createCall(call, { events: ['call.queued'], reserve: 10 });
        ids.push(call.id);
      } catch (error) {
        refused = error;
        t.equal(await store.findCall(call.id), null, 'nothing of the refused one');
      }
    }
    t.match(refused, { code: 'storage_low', status: 503 });
    t.ok(ids.length > 0);
    for (const id of ids) t.ok(await store.findCall(id), 'every acknowledged call is readable');
    const balance = (await store.getOrganization(organization.id))?.balance_milli_cents;
    t.equal(balance, 1e6 - 10 * ids.length, 'and their money is right');
    db.pragma('max_page_count = 100000');
    t.match(await store.createCall(makeCall(organization.id), { events: ['call.queued'], reserve: 10 }), {
      status: 'queued',
    });
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  },
);
