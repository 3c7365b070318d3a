// Calls of another daemon in the live feed: as they are stored, from their beginning to their end, and no call of this daemon's.
import { join } from 'node:path';
import t from 'tap';
import type { LiveEvents } from '../../../control/dashboard/app/session-shapes.ts';
import { openLiveFeed } from '../../../control/dashboard/live-feed.ts';
import { OthersCalls } from '../../../control/dashboard/others-calls.ts';
import { openLog } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, makeCall, makeItem, succeeded } from '../../storage/makers.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000).toISOString();

t.test('what another daemon writes of its calls is told here, once', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const [store, other] = [await openStore({ path, shared: true }), await openStore({ path, shared: true })];
  t.teardown(async () => {
    await store.close();
    await other.close();
  });
  const org = await addOrganization(store);
  const log = openLog('silent');
  const feed = openLiveFeed({ store, log });
  const { observer, isWatched } = feed;
  const others = new OthersCalls({ store, observer, isWatched, log });
  const told: string[] = [];
  const hear = <E extends keyof LiveEvents>(event: E, data: LiveEvents[E]) => {
    const words = event === 'words' ? ` ${(data as LiveEvents['words']).item.heard_text}` : '';
    told.push(`${event}${words}`);
  };
  const look = async () => {
    told.length = 0;
    await others.look();
    await new Promise((next) => setImmediate(next));
    return [...told];
  };
  const liveCall = async (daemon: typeof store) =>
    succeeded(
      await daemon.createCall(makeCall(org, { status: 'in_progress', answered_at: at(0) }), {
        events: [],
        reserve: 0,
      }),
    );
  await liveCall(store);
  t.strictSame(await look(), []);
  t.strictSame(feed.calls(org), [], 'its own calls tell of themselves');

  const call = await liveCall(other);
  await other.saveTranscript([makeItem(call.id, { heard_text: 'Hello' })]);
  await look();
  t.match(feed.calls(org), [{ id: call.id, status: 'in_progress', words: [], floor: null }]);
  const leave = feed.follow(org, hear);
  t.strictSame(await look(), ['words Hello'], 'words for whoever looks');
  t.strictSame(await look(), [], 'nothing twice');
  const item = { ...makeItem(call.id), id: feed.calls(org)[0]?.words[0]?.id ?? '', heard_text: 'Hello you' };
  await other.saveTranscript([item]);
  await other.saveCall(call.id, { from: ['in_progress'], change: { answered_by: 'human' } });
  t.strictSame(await look(), ['call', 'words Hello you']);

  await other.saveCall(call.id, {
    from: ['in_progress'],
    change: { status: 'completed', ended_at: at(9), hangup_cause: 'requested' },
  });
  t.strictSame(await look(), ['ended']);
  t.strictSame(feed.calls(org), []);
  t.strictSame(await look(), []);
  leave();
});
