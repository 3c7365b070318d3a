// "Try it" as a person does it, in a real browser against the running daemon: a WAV file is the microphone, the page shows
// what both say and plays the agent's voice; and typing, where there is no microphone.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { compare, readWav, writeWav } from '../../scripts/simulate/sound.ts';
import { listenIn, loudspeaker } from './browser-page.ts';
import { focused, openDashboard, picture, section } from './browser-rig.ts';
import { NO_CHROMIUM } from './chromium.ts';
import { until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const FIXTURES = join(import.meta.dirname, '../fixtures/audio');
const RATE_HZ = 8_000;

t.test('Try it', { skip: NO_CHROMIUM }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-microphone-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // He waits for the greeting to end, then speaks once.
  const words = readWav(readFileSync(join(FIXTURES, 'caller-thanks.wav'))).channels[0] ?? new Float32Array();
  const speech = new Float32Array(RATE_HZ * 27 + words.length);
  speech.set(words, RATE_HZ * 7);
  const microphone = join(folder, 'microphone.wav');
  writeFileSync(microphone, writeWav(speech));

  const dashboard = await openDashboard(t, {
    flags: [
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      '--autoplay-policy=no-user-gesture-required',
    ],
  });
  const { rig, url } = dashboard;
  const agent = await rig.lab.api<{ id: string }>('POST', '/v1/agents', {
    name: 'Front desk',
    type: 'inbound',
    instructions: 'TEST-BRIEF In the browser.',
    returns: { said_goodbye: 'boolean' },
  });
  const agentId = agent.body.id;

  await t.test('with a microphone: heard, answered, written down, recorded', async (t) => {
    const sight = await dashboard.signedIn({ permissions: ['microphone'] });
    const { page, context } = sight;
    await page.addInitScript(listenIn);
    await page.goto(`${url}/agents/${agentId}`);
    await page.getByText('Nobody is on the line').waitFor();
    // The bars are watched from within: they move too fast for a look now and then.
    await page.evaluate(`(() => {
      globalThis.widest = { you: 0, agent: 0 };
      globalThis.lateMs = 0;
      let lookedAt = performance.now();
      setInterval(() => {
        lateMs = Math.max(lateMs, performance.now() - lookedAt - 50);
        lookedAt = performance.now();
        for (const bar of document.querySelectorAll('.meter')) {
          const who = bar.classList.contains('you') ? 'you' : 'agent';
          widest[who] = Math.max(widest[who], parseFloat(bar.firstElementChild?.style.inlineSize || '0'));
        }
      }, 50);
    })()`);
    await page.getByRole('button', { name: 'Start the call' }).click();
    const call = section(page, 'Try it');
    await call.getByText('On the line').waitFor();
    const transcript = page.getByRole('list', { name: 'Transcript' });
    await transcript.getByText(GREETING).waitFor();
    await picture(page, 'try-talking');
    await transcript.getByText(/Thank you for trying out/).waitFor();
    await transcript.getByText('Thank you. Goodbye.').waitFor();
    await call.getByText('The agent ended the call').waitFor();
    const widest = (await page.evaluate('widest')) as { you: number; agent: number };
    t.ok(widest.you > 10 && widest.agent > 10, `the bars moved: ${JSON.stringify(widest)} %`);

    const { data } = await rig.lab.ask<{ data: { sent_wav: string; violations: unknown[] }[] }>(
      'model',
      '/sessions',
    );
    t.same(data[0]?.violations, []);
    const sent = readWav(readFileSync(data[0]?.sent_wav ?? '')).channels[0] ?? new Float32Array();
    const heard = compare(sent, await loudspeaker(page), 0);
    // A machine, or a page, that stalls for longer than what is sent ahead tears holes into it: then the whole of it counts.
    const stalled = Math.max(await rig.lateMs(), (await page.evaluate('lateMs')) as number) > 100;
    const like = stalled ? heard.mean > 0.8 : heard.weakest > 0.9;
    t.ok(
      heard.found.length > 3 && like,
      `at the loudspeaker: weakest ${heard.weakest.toFixed(3)}, mean ${heard.mean.toFixed(3)}`,
    );

    await page.getByRole('link', { name: 'See this call' }).click();
    await page.getByRole('heading', { level: 1, name: /^Call in the browser/ }).waitFor();
    const id = new URL(page.url()).pathname.split('/')[2] ?? '';
    t.match(await rig.ended(id), {
      status: 'completed',
      hangup_cause: 'agent_ended',
      metadata: { source: 'browser' },
    });
    await page
      .getByRole('list', { name: 'Transcript' })
      .getByText(/Thank you for trying out/)
      .waitFor();
    await section(page, 'Recording').locator('.waves').waitFor();
    await section(page, 'Result').getByText('yes', { exact: true }).waitFor();
    const hosts = new Set(
      sight.asked.filter((one) => /^(http|ws)/.test(one)).map((one) => new URL(one).host),
    );
    t.same([...hosts], [new URL(url).host]);
    t.ok(
      sight.asked.some((one) => one.startsWith('ws://')),
      'the sound went by a socket of the daemon',
    );
    t.same(sight.problems(), []);
    await context.close();
  });

  await t.test('the microphone refused: said plainly, and typing does as well', async (t) => {
    const sight = await dashboard.signedIn();
    const { page, context } = sight;
    await page.addInitScript(`
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
    `);
    await page.goto(`${url}/agents/${agentId}/try`);
    const calls = async () => (await rig.lab.api<unknown[]>('GET', '/v1/calls')).body.length;
    const before = await calls();
    await page.getByRole('button', { name: 'Start the call' }).click();
    await page
      .getByRole('alert')
      .getByText(/or type instead/)
      .waitFor();
    t.equal(await calls(), before, 'no call was made');
    await picture(page, 'try-denied');
    await page.getByRole('button', { name: 'Type instead of speaking' }).click();
    const transcript = page.getByRole('list', { name: 'Transcript' });
    await transcript.getByText(GREETING).waitFor();
    await until('the focus in the field', async () => /^Type to the agent/.test(await focused(page)));
    // After the greeting was heard, so that it is not cut.
    await until('the greeting to be heard', async () => {
      const [call] = (await rig.lab.api<{ id: string }[]>('GET', '/v1/calls?limit=1')).body;
      return (await rig.transcript(call?.id ?? ''))[0]?.heard_text === GREETING;
    });
    await page.keyboard.type('That is all, thank you.');
    await page.keyboard.press('Enter');
    await transcript.getByText('That is all, thank you.').waitFor();
    await transcript.getByText('Thank you. Goodbye.').waitFor();
    await section(page, 'Try it').getByText('The agent ended the call').waitFor();

    // Once more, and this time one hangs up oneself; leaving asks first.
    await page.getByRole('button', { name: 'Type instead of speaking' }).click();
    await section(page, 'Try it').getByText('On the line').waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click();
    const question = page.getByRole('dialog', { name: 'Hang up and leave?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Hang up' }).click();
    await section(page, 'Try it').getByText('You hung up').waitFor();
    const [last] = (await rig.lab.api<{ id: string }[]>('GET', '/v1/calls?limit=1')).body;
    t.match(await rig.ended(last?.id ?? ''), { status: 'completed', hangup_cause: 'remote_hangup' });
    t.same(sight.problems(), []);
    await context.close();
  });

  await t.test(
    'what is not saved is tried as it stands, and voices are heard before one is chosen',
    async (t) => {
      const sight = await dashboard.signedIn();
      const { page, context } = sight;
      const pane = section(page, 'Try it');
      await page.goto(`${url}/agents/new/receptionist`);
      await page.getByRole('tab', { name: /^Results/ }).click();
      await page.getByLabel('Name of field 1').fill('');
      await pane.getByRole('button', { name: 'Type instead of speaking' }).click();
      await pane.getByRole('alert').getByText('Not tried yet.').waitFor();
      await page.getByLabel('Name of field 1').fill('who');
      await page.getByRole('tab', { name: 'Instructions' }).click();
      await page.getByRole('textbox', { name: 'Instructions' }).fill('TEST-BRIEF Not saved.');
      await pane.getByRole('button', { name: 'Type instead of speaking' }).click();
      await pane.getByRole('list', { name: 'Transcript' }).getByText(GREETING).waitFor();
      const last = async () => {
        const [call] = (await rig.lab.api<{ id: string }[]>('GET', '/v1/calls?limit=1')).body;
        return rig.call(call?.id ?? '');
      };
      t.match(await last(), {
        agent_id: null,
        instructions: 'TEST-BRIEF Not saved.',
        metadata: { source: 'browser', draft: 'Receptionist' },
      });
      await page.getByRole('textbox', { name: 'Instructions' }).fill('TEST-BRIEF Something else.');
      await pane.getByText(/counts from the next one/).waitFor();
      await picture(page, 'try-draft');
      await pane.getByRole('button', { name: 'Hang up' }).click();
      await pane.getByText('You hung up').waitFor();

      await page.getByRole('button', { name: 'Hear the voices' }).click();
      const voices = page.getByRole('dialog', { name: 'Hear the voices' });
      await voices.getByRole('button', { name: 'Hear cedar' }).click();
      await voices.getByRole('button', { name: 'Stop cedar' }).waitFor();
      await voices.getByRole('button', { name: 'Hear cedar' }).waitFor();
      const heard = await rig.ended((await last()).id);
      t.match(heard, { hangup_cause: 'remote_hangup', metadata: { draft: 'Voice cedar' } });
      await voices.getByText(/The last one cost about/).waitFor();
      await picture(page, 'voices');
      await voices.getByRole('button', { name: 'Hear cedar' }).click();
      await voices.getByRole('button', { name: 'Stop cedar' }).click();
      t.equal((await last()).id, heard.id, 'heard again without a call');
      await voices.getByRole('button', { name: 'Choose cedar' }).click();
      t.equal(await page.locator('select[name=voice]').inputValue(), 'cedar');
      t.equal(
        (await rig.lab.api<{ data: unknown[] }>('GET', '/v1/agents')).body.data.length,
        1,
        'none is made',
      );
      t.same(sight.problems(), []);
      await context.close();
    },
  );

  await t.test('a model that cannot be used: that is said, and not that the agent hung up', async (t) => {
    await rig.lab.ask('model', '/faults', {
      kind: 'close_on_open',
      close_code: 3000,
      message: 'invalid_request_error.invalid_api_key',
      times: 50,
    });
    const sight = await dashboard.signedIn();
    const { page, context } = sight;
    // The call may be over before its sound is connected; the browser tells of that in its console.
    sight.expect(/WebSocket connection to .*404/);
    await page.goto(`${url}/agents/${agentId}/try`);
    await page.getByRole('button', { name: 'Type instead of speaking' }).click();
    const call = section(page, 'Try it');
    await call.getByText('The call failed').waitFor();
    await call.getByRole('alert').getByText('The speech model refused.').waitFor();
    t.equal(await page.getByText('The agent ended the call').count(), 0);
    await picture(page, 'try-failed');
    await rig.lab.ask('model', '/faults', undefined, 'DELETE');
    t.same(sight.problems(), []);
    await context.close();
  });
});
