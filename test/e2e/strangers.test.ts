// Strangers at every door of a real daemon: what they do is counted, and fills no log.
import t from 'tap';
import { WebSocket } from 'ws';
import { freePort } from '../../scripts/free-port.ts';
import { openRig, until } from './rig.ts';

t.test('what strangers do is counted, and its lines in the log are few', async (t) => {
  const mediaPort = await freePort();
  const { lab } = await openRig(t, { env: { MEDIA_THREADS: '1', MEDIA_PORT: String(mediaPort) } });
  const { lines, url } = lab.daemon;
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
  for (let i = 0; i < 100; i++) {
    await Promise.all([
      upgrade(url, '/media/1/twilio/x'),
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
    .filter((line) => line.startsWith('{') && !line.includes('"org_id"'))
    .map((line) => (JSON.parse(line) as { event: string }).event);
  for (const event of ['media.refused', 'carrier.hook.refused', 'http.request']) {
    const written = events.filter((one) => one === event).length;
    t.ok(written > 0 && written <= 20, `${event}: ${written} lines`);
  }
});
