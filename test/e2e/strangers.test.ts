// Strangers at every door of a real daemon: what they do is counted, and fills no log.
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { freePort } from '../../scripts/free-port.ts';
import { openRig, until } from './rig.ts';

async function strangers(t: Test, mediaThreads: number): Promise<void> {
  const mediaPort = await freePort(mediaThreads);
  const rig = await openRig(t, {
    env: { MEDIA_THREADS: String(mediaThreads), MEDIA_PORT: String(mediaPort), CALLER_IDLE_SECONDS: '600' },
    carrier: { defaultCallee: { ringMs: 200 } },
  });
  const { lab } = rig;
  const { lines, url } = lab.daemon;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const live = await rig.dial(agent.id, '+15550700001');
  await until('a talk', async () => (await rig.call(live.id)).status === 'in_progress');
  const upgrade = (to: string, path: string) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(to.replace('http', 'ws') + path);
      socket.on('unexpected-response', (_request, response) => {
        response.destroy();
        resolve(response.statusCode ?? 0);
      });
      socket.on('error', reject);
    });
  const hook = () =>
    fetch(`${url}/carriers/twilio/status`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
  // Who knows of a call is told no more than who does not, by whichever thread has the port.
  t.equal(await upgrade(url, `/media/1/1/twilio/${live.id}`), 403);
  t.match(
    await until('its line', () => lines.find((line) => line.includes('"media.refused"'))),
    /"why":"signature".*"address":"127\.0\.0\.1"|"address":"127\.0\.0\.1".*"why":"signature"/,
    'with who it was',
  );
  const before = lines.length;
  for (let i = 0; i < 100; i++) {
    await Promise.all([
      upgrade(url, '/media/1/1/twilio/x'),
      upgrade(url, '/elsewhere'),
      upgrade(`http://127.0.0.1:${mediaPort}`, '/elsewhere'),
      fetch(`${url}/v1/calls`),
      fetch(`${url}/nowhere`),
      hook(),
    ]);
  }
  const metrics = async () =>
    (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${lab.apiKey}` } })).text();
  const counted = (text: string, event: string) =>
    Number(new RegExp(`offhook_strangers_total{event="${event}"} (\\d+)`).exec(text)?.[1] ?? 0);
  const text = await until('the count of the media thread too', async () => {
    const now = await metrics();
    return counted(now, 'media.refused') >= 300 ? now : null;
  });
  for (const [event, least] of [
    ['carrier.hook.refused', 100],
    ['http.request', 300],
  ] as const)
    t.ok(counted(text, event) >= least, `${event}: ${counted(text, event)}`);
  const events = lines
    .slice(before)
    // Hooks of the carrier about the call are no stranger's.
    .filter((line) => line.startsWith('{') && !/"org_id"|"status":2\d\d/.test(line))
    .map((line) => (JSON.parse(line) as { event: string }).event);
  for (const event of ['media.refused', 'carrier.hook.refused', 'http.request']) {
    const written = events.filter((one) => one === event).length;
    t.ok(written > 0 && written <= 20, `${event}: ${written} lines`);
  }
  t.match(await rig.call(live.id), { status: 'in_progress' }, 'the call heard nothing of it');
}

t.test('what strangers do is counted, and its lines in the log are few', (t) => strangers(t, 2));
t.test('the same with one media thread', (t) => strangers(t, 1));
