// A call whose sound broke off and came back, in a real browser: in plain words, between its lines and turns, over both lanes,
// and on the live page while it lasts. The rows are stored; what breaks a line for real is told elsewhere.
import t from 'tap';
import type { CallGap, CallRecord } from '../../storage/records.ts';
import { openDashboardRig, PASSWORD } from '../control/dashboard/rig.ts';
import { makeCall, makeItem, makeTurn } from '../storage/makers.ts';
import { axe, bringAxe, DESKTOP, PHONE, picture, section, signIn, watch } from './browser-rig.ts';
import { NO_CHROMIUM, openChromium } from './chromium.ts';

const AT = '2026-03-01T12:00:00.000Z';
const lost: CallGap = { why: 'stream_lost', started_at: AT, from_ms: 2_100, to_ms: 2_920 };
const restarted: CallGap = { ...lost, why: 'daemon_restart', from_ms: 9_000, to_ms: null };

t.test('where a call had no sound', { skip: NO_CHROMIUM }, async (t) => {
  const rig = await openDashboardRig(t, { publicUrl: 'http://localhost' });
  await rig.browser().setUp();
  const agent = await rig.agent({ name: 'Front desk' });
  const store = async (fields: Partial<CallRecord>) => {
    const call = makeCall(rig.orgId, {
      agent_id: agent.id,
      status: 'in_progress',
      started_at: AT,
      answered_at: AT,
      ...fields,
    });
    await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
    await rig.store.saveTranscript([
      makeItem(call.id, { text: 'I will look', heard_text: 'I will look', start_ms: 2_000, end_ms: 5_000 }),
      makeItem(call.id, {
        role: 'caller',
        text: 'Hello?',
        heard_text: 'Hello?',
        start_ms: 6_000,
        end_ms: 6_500,
      }),
    ]);
    await rig.store.saveTurns({
      turns: [
        makeTurn(call.id, { kind: 'greeting', speech_end_ms: null, decided_ms: 1.5, requested_ms: 2 }),
        makeTurn(call.id, { turn_index: 2 }),
      ],
      interruptions: [],
    });
    return call;
  };
  const over = await store({
    status: 'failed',
    ended_at: '2026-03-01T12:00:30.000Z',
    hangup_cause: 'daemon_restart',
    gaps: [lost, restarted],
  });
  const live = await store({ gaps: [] });
  const browser = await openChromium(t);
  const sight = await watch(
    await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' }),
    rig.url,
  );
  await bringAxe(sight);
  const { page } = sight;
  sight.expect(/answered 401|status of 401/);
  await page.goto(rig.url);
  await signIn(page, PASSWORD);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

  await t.test('the page of a call that is over', async (t) => {
    await page.goto(`${rig.url}/calls/${over.id}`);
    await page
      .getByText('The line to the carrier broke at 0:02: nothing was heard for 820 ms, then')
      .waitFor();
    await page
      .getByText('The daemon stopped and started again at 0:09: the line did not come back.')
      .waitFor();
    const lines = section(page, 'Transcript').getByRole('listitem');
    t.match(await lines.allInnerTexts(), [
      /I will look/,
      /No sound for 820 ms/,
      /Hello\?/,
      /No sound from here to the end/,
    ]);
    const talk = section(page, 'Who spoke when');
    for (const lane of ['caller', 'agent'])
      t.equal(await talk.locator(`.talk-lane.${lane} .talk-gap`).count(), 2, lane);
    t.match(await talk.getByRole('row', { name: /Line lost/ }).allInnerTexts(), [
      /The line to the carrier broke. No sound for 820 ms/,
      /The daemon stopped and started again. No sound from here to the end/,
    ]);
    const turns = section(page, 'Turns and latency');
    t.match(await turns.getByRole('listitem').allInnerTexts(), [
      /Greeting/,
      /0:02[\s\S]*No sound for 820 ms/,
      /Answer/,
      /0:09/,
    ]);
    await turns.getByRole('radio', { name: 'Table' }).check();
    t.equal(await turns.getByRole('row', { name: /^No sound for 820 ms/ }).count(), 1);
    await picture(page, 'call-gaps', true);
    t.same(await axe(page), []);
    await page.setViewportSize(PHONE);
    t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false);
    t.same(await axe(page), []);
    await page.setViewportSize(DESKTOP);
  });

  await t.test('while it lasts, on the live page and on its own', async () => {
    const show = (gaps: CallGap[]) => rig.feed.observer.changed?.({ ...live, gaps });
    show([]);
    await page.goto(`${rig.url}/live`);
    const card = page.getByRole('article');
    await card.getByText('Nobody speaks').waitFor();
    show([{ ...lost, to_ms: null }]);
    await card.getByText('Line lost, waiting for it').waitFor();
    await picture(page, 'live-gap');
    show([lost]);
    await card.getByText('Nobody speaks').waitFor();
    await page.goto(`${rig.url}/calls/${live.id}`);
    await page.getByRole('heading', { name: 'Transcript' }).waitFor();
    show([lost, { ...restarted, why: 'thread_lost' }]);
    await page.getByText('A part of the daemon broke down at 0:09: the line is not back yet.').waitFor();
    show([lost, { ...restarted, why: 'thread_lost', to_ms: 10_000 }]);
    await page.getByText('A part of the daemon broke down at 0:09: nothing was heard for 1.00 s').waitFor();
  });
  t.same(sight.problems(), []);
});
