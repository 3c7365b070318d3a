// A call over whose agent somebody murmurs, says "stop", and who pauses in his own words: its page tells what each did, as a
// picture and as a table that a screen reader and the keyboard reach.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import type { z } from 'zod';
import type { callTurns } from '../../control/api/call-activity-schemas.ts';
import { axe, bringAxe, openDashboard, PHONE, picture, section, tabTo } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';
import { knownWord, otherWord, wavOf, wordOfAssent, wordsWithPause } from './sounds.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/audio');
const TALKER = '+14155550931';

t.test('the page of a call shows what was done to the voice', { skip: NO_CHROMIUM }, async (t) => {
  const folder = t.testdir();
  const sounds = { 'Mhm.': wordOfAssent(), 'Stop!': otherWord() };
  const hears = Object.entries(sounds).map(([text, sound], i) => {
    writeFileSync(join(folder, `said-${i}.wav`), wavOf(sound));
    return knownWord(join(folder, `known-${i}.wav`), sound, text);
  });
  writeFileSync(join(folder, 'goes-on.wav'), wavOf(wordsWithPause()));
  const thanks = {
    file: join(FIXTURES, 'caller-thanks.wav'),
    words: [
      [310, 990, 'Goodbye.'],
      [1_280, 2_140, 'Thank you.'],
    ],
  };
  const long = JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios/long.json'), 'utf8')) as {
    rules: { on: string }[];
  };
  const scenario = join(folder, 'talk.json');
  const [farewell] = long.rules.filter(({ on }) => on === 'caller');
  writeFileSync(
    scenario,
    JSON.stringify({
      ...long,
      name: 'talk',
      hears: [...hears, thanks],
      rules: [
        ...long.rules.slice(0, 2),
        { ...farewell, heard: 'Thank' },
        { on: 'caller', heard: 'Goodbye', say: 'One moment, please. I will look that up for you.' },
        { on: 'any', instructions: 'broken in', say: 'Yes, please?' },
        { on: 'any', say: 'All right.' },
      ],
    }),
  );
  const dashboard = await openDashboard(t, {
    scenario: [scenario],
    carrier: {
      callees: {
        [TALKER]: {
          ringMs: 200,
          amd: { verdict: 'human', afterMs: 2_000 },
          steps: [
            { do: 'barge_in', file: join(folder, 'said-0.wav'), afterAgentMs: 2_000 },
            { do: 'wait', ms: 2_500 },
            { do: 'barge_in', file: join(folder, 'said-1.wav'), afterAgentMs: 1_000 },
            {
              do: 'say',
              file: join(folder, 'goes-on.wav'),
              when: { afterAgentSilenceMs: 2_500, timeoutMs: 60_000 },
            },
          ],
        },
      },
    },
  });
  const { rig } = dashboard;
  const sight = await dashboard.signedIn();
  await bringAxe(sight);
  const { page } = sight;
  const agent = await rig.agent({ instructions: 'TEST-LONG', language: 'en' });
  const { id } = await rig.dial(agent.id, TALKER);
  await page.goto(`${dashboard.url}/calls/${id}`);
  const talk = section(page, 'Who spoke when');

  await t.test('while it goes on', async () => {
    await talk.getByRole('row', { name: /Let pass/ }).waitFor();
    await talk.getByRole('row', { name: /Interrupted/ }).waitFor();
  });

  t.match(await rig.ended(id, 90_000), { status: 'completed', hangup_cause: 'agent_ended' });
  const { body } = await rig.lab.api<z.infer<typeof callTurns>>('GET', `/v1/calls/${id}/turns`);
  const thrown = body.data.reduce((sum, turn) => sum + turn.thrown_away, 0);
  t.ok(thrown > 0, `${thrown} answers thrown away`);

  await t.test('afterwards: a row for each, with its words; marks in the lanes', async (t) => {
    await until('the row of what was thrown away', async () => (await talk.getByRole('row').count()) === 4);
    const rows = await talk.getByRole('row').allInnerTexts();
    const held = body.interruptions.find((one) => one.taken_back);
    t.match(rows[1], /Let pass/);
    t.match(
      rows[1],
      held?.paused_ms === null ? /lowered for .*, then went on/ : /paused for .*, then went on/,
    );
    t.match(rows[1], '“Mhm.”');
    t.match(rows[2], /Interrupted/);
    // Its words come while it is still held, or later.
    t.match(rows[2], /lowered .*silent after /);
    t.match(rows[2], '“Stop!”');
    t.match(rows[3], /Thrown away/);
    t.match(rows[3], new RegExp(`${thrown} answers? begun in a pause of this turn, never heard`));
    await talk.getByText(/Interrupted once; \d sounds? let pass, /).waitFor();
    for (const is of ['passed', 'stopped', 'thrown'])
      t.equal(await talk.locator(`.talk-lane .talk-${is}`).count(), 1, is);
    t.ok((await talk.locator('.talk-lane .talk-lowered').count()) >= 2);
    const [lane, mark] = await Promise.all(
      ['.talk-lane.agent', '.talk-lane .talk-lowered'].map((one) => talk.locator(one).first().boundingBox()),
    );
    t.ok(
      (mark?.x ?? 0) > (lane?.x ?? 0) && (mark?.width ?? 0) >= 3,
      'it is placed in the lane, and can be seen',
    );
  });

  await t.test('a row leads to its place in the recording, by keyboard', async () => {
    const recording = section(page, 'Recording');
    const at = async () => Number(await recording.getByRole('slider').inputValue());
    await talk
      .getByRole('button', { name: /^Play from/ })
      .first()
      .waitFor();
    await page.getByRole('heading', { name: 'Who spoke when' }).click();
    await tabTo(page, /^Play from/);
    await page.keyboard.press('Enter');
    await until('the sound at the murmur', async () => (await at()) >= 1);
    await recording.getByRole('button', { name: 'Pause' }).click();
  });

  await t.test('the turns say which answers were begun early', async () => {
    const turns = section(page, 'Turns and latency');
    await turns.getByText(/begun in a pause, \d+ thrown away unheard/).waitFor();
    await turns.getByRole('radio', { name: 'Table' }).check();
    await turns.getByText(/thrown away before/).waitFor();
  });

  await t.test('as wide as a screen and as narrow as a phone, with nothing that axe finds', async (t) => {
    await picture(page, 'call-talk', true);
    t.same(await axe(page), []);
    await page.setViewportSize(PHONE);
    await talk.getByText('Let pass').first().waitFor();
    await picture(page, 'call-talk-phone', true);
    t.same(await axe(page), []);
    const wider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    t.equal(wider, false, 'nothing to scroll sideways');
  });
  t.same(sight.problems(), []);
});
