// A process for the kill test: writes lines of calls without waiting for them, patiently and not, some of which are refused,
// and prints the id of each once it is acknowledged.
import { writeSync } from 'node:fs';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, makeCall, makeItem, succeeded } from '../makers.ts';

const store = await openStore({ path: process.argv[2] ?? '' });
const org = (await store.firstOrganization())?.id ?? (await addOrganization(store));
const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
const run = store.self().epoch;

for (let serial = 0; ; serial++) {
  const id = `patient ${run}${String(serial).padStart(8, '0')}`;
  const patient = store.saveTranscript([makeItem(call.id, { id })], { patient: true });
  void patient.then(() => writeSync(1, `${id}\n`));
  // All or nothing: the second line is of no call.
  const half = [makeItem(call.id, { id: `${id} half` }), makeItem('no such call')];
  store.saveTranscript(half).catch(() => {});
  if (serial % 5 === 0) {
    const prompt = id.replace('patient', 'prompt');
    await store.saveTranscript([makeItem(call.id, { id: prompt })]);
    writeSync(1, `${prompt}\n`);
  }
  await new Promise((next) => setImmediate(next));
}
