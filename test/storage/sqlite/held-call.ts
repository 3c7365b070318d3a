// A process for the tests of owners: has a call on, prints its id, and does nothing more of it for as long as it lives.
import { writeSync } from 'node:fs';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, makeCall, succeeded } from '../makers.ts';

const store = await openStore({ path: process.argv[2] ?? '', shared: true });
const org = (await store.firstOrganization())?.id ?? (await addOrganization(store));
const call = makeCall(org, { status: 'in_progress' });
succeeded(await store.createCall(call, { events: [], reserve: 0 }));
writeSync(1, `${call.id}\n`);
setInterval(() => {}, 60_000);
