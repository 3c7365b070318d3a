// Whether a call was recorded, as the call's page asks before it asks for the sound.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { makeCall } from '../../storage/makers.ts';
import { openDashboardRig } from './rig.ts';

t.test('recorded, not recorded, gone, another organization, signed out', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  t.equal((await rig.browser().ask('GET', '/recordings/x')).status, 401);
  await browser.setUp();
  const organization = await rig.store.firstOrganization();
  const call = makeCall(organization?.id ?? '', { agent_id: null, status: 'queued', recording_path: null });
  await rig.store.createCall(call, { events: [], reserve: 0 });
  const look = async () => (await browser.ask('GET', `/recordings/${call.id}`)).body;
  t.same(await look(), { recorded: false, bytes: null });
  mkdirSync(path.join(rig.dataDir, 'recordings'));
  writeFileSync(path.join(rig.dataDir, 'recordings', 'one.wav'), 'RIFFxxxx');
  await rig.store.saveCall(call.id, { from: ['queued'], change: { recording_path: 'recordings/one.wav' } });
  t.same(await look(), { recorded: true, bytes: 8 });
  await rig.store.saveCall(call.id, { from: ['queued'], change: { recording_path: 'recordings/gone.wav' } });
  t.same(await look(), { recorded: false, bytes: null }, 'a file that was taken away is no recording');
  const unknown = await browser.ask('GET', '/recordings/019a0000-0000-7000-8000-000000000000');
  t.equal(unknown.status, 404);
});
