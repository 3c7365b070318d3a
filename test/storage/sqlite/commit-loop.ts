// A process for the crash tests: commits calls one after another, and prints each one's id once it is acknowledged.
import { writeSync } from 'node:fs';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, makeCall, makeEndpoint, makeItem, succeeded } from '../makers.ts';

const store = await openStore({ path: process.argv[2] ?? '' });
const org =
  (await store.firstOrganization())?.id ?? (await addOrganization(store, { balance_milli_cents: 1e9 }));
if ((await store.listEndpoints(org, { limit: 1 })).length === 0) {
  await store.createEndpoint(makeEndpoint(org));
}

const say = (line: string) => writeSync(1, `${line}\n`);
for (;;) {
  const call = succeeded(
    await store.createCall(makeCall(org, { webhook_url: 'https://inline.example.com' }), {
      events: ['call.queued'],
      reserve: 500,
    }),
  );
  say(`queued ${call.id}`);
  await store.saveTranscript([makeItem(call.id)]);
  succeeded(
    await store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'completed', billing_amount_milli_cents: 120, result_status: 'completed' },
      events: ['call.completed'],
      ledger: [{ kind: 'settle', amountMilliCents: 380 }],
    }),
  );
  say(`completed ${call.id}`);
}
