// The page's side of a call alone, in a real browser against a media socket that the test plays: what it sends, in which
// order, and what it does with sound, marks and a clear.

import type { WebSocketRoute } from 'playwright-core';
import t from 'tap';
import { encodeMulaw } from '../../../../audio/g711.ts';
import { notes, openPage, startCall } from '../../../e2e/browser-page.ts';
import { NO_CHROMIUM, openChromium } from '../../../e2e/chromium.ts';
import { until } from '../../../e2e/rig.ts';
import { openDashboardRig } from '../rig.ts';

declare const window: {
  notes: {
    loudCount: number;
    rateHz: number;
    call: { type(text: string): void; press(digit: string): void; hangUp(): Promise<void> } | null;
  };
};

t.test(
  'what the page sends, and what a clear does to three seconds of sound',
  { skip: NO_CHROMIUM },
  async (t) => {
    const rig = await openDashboardRig(t);
    const browser = await openChromium(t, [
      '--use-fake-device-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
    ]);
    const context = await browser.newContext({ permissions: ['microphone'] });
    await context.exposeFunction('openCall', () => ({
      call_id: 'call-1',
      stream_path: '/media/1/browser/call-1',
      token: 'one-time',
    }));
    const { page } = await openPage(context, rig.url);
    const texts: Record<string, unknown>[] = [];
    const frames: Buffer[] = [];
    let daemon: WebSocketRoute | null = null;
    await page.routeWebSocket('**/media/1/browser/call-1', (socket) => {
      daemon = socket;
      socket.onMessage((message) => {
        if (typeof message === 'string') texts.push(JSON.parse(message));
        else frames.push(message);
      });
    });
    await startCall(page, true);
    await until('some sound of the page', () => frames.length >= 50);
    t.same(texts, [{ type: 'start', version: 1, call_id: 'call-1', token: 'one-time' }], 'first of all');
    t.ok(frames.every((frame) => frame.length === 168));
    t.same(
      frames.map((frame) => [frame.readUInt32BE(0), frame.readUInt32BE(4)]),
      frames.map((_, n) => [n * 20, n + 1]),
      'without a gap',
    );
    const send = (message: string | Buffer) => (daemon as WebSocketRoute | null)?.send(message);
    const pcm = Int16Array.from(
      { length: 24_000 },
      (_, i) => 8_000 * Math.sin((2 * Math.PI * 440 * i) / 8_000),
    );
    const tone = Buffer.alloc(8 + pcm.length);
    encodeMulaw(pcm, tone.subarray(8));
    const soundMs = () => page.evaluate(() => (1_000 * window.notes.loudCount) / window.notes.rateHz);
    // A sine is above an eighth of its height for 92 % of the time.
    const whole = 0.92 * 3_000;

    send(tone);
    send('{"type":"mark","name":"all"}');
    await until('all of it to be played', () => texts.some(({ name }) => name === 'all'));
    const first = await soundMs();
    t.ok(
      first > whole - 150 && first < whole + 150,
      `a mark comes back when it was played: ${first} ms of sound`,
    );

    send(tone);
    send('{"type":"mark","name":"never heard"}');
    await until('the beginning of it', async () => (await soundMs()) > first + 300);
    send('{"type":"clear"}');
    await until('the mark', () => texts.some(({ name }) => name === 'never heard'));
    const cut = await soundMs();
    await page.waitForTimeout(1_000);
    t.ok((await soundMs()) - cut < 150, 'silent from the clear on');
    t.ok(cut - first < 2_000, `and before the end of it: ${cut - first} ms`);

    await page.evaluate(() => {
      window.notes.call?.type('Good day');
      window.notes.call?.press('#');
      return window.notes.call?.hangUp();
    });
    t.same(texts.slice(-3), [
      { type: 'text', text: 'Good day' },
      { type: 'digit', digit: '#' },
      { type: 'stop' },
    ]);
    t.match((await notes(page)).states.at(-1), { at: 'ended', why: 'hung_up' });
  },
);
