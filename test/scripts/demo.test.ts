// The demo's traffic on the real daemon: who calls the order line hears what the shop's own system says of the order.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { writeScenarios } from '../../scripts/demo/model-scenarios.ts';
import { openTraffic } from '../../scripts/demo/traffic.ts';
import { openLab } from '../../scripts/lab.ts';
import { until } from '../e2e/rig.ts';

t.setTimeout(240_000);

interface Call {
  id: string;
  direction: string;
  status: string;
  result_status: string;
  result: Record<string, unknown> | null;
}

t.test('the order line tells what the shop says of the order', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-demo-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const lab = await openLab({
    folder,
    scenario: writeScenarios(folder),
    carrier: {},
    env: { REDIS_MODE: 'none', RING_SECONDS: '15', MEDIA_THREADS: '1' },
  });
  t.teardown(() => lab.close());
  const traffic = await openTraffic(lab);
  t.teardown(() => traffic.close());
  const stop = new AbortController();
  const living = traffic.live(1, stop.signal);
  const inbound = async () =>
    (await lab.api<Call[]>('GET', '/v1/calls?direction=inbound')).body.at(-1) ?? null;
  const rang = await until('somebody who calls', inbound);
  stop.abort();
  await living;
  const over = await until(
    'the end of it and its result',
    async () => {
      const { body } = await lab.api<Call>('GET', `/v1/calls/${rang.id}`);
      return body.status === 'completed' && body.result_status !== 'pending' ? body : null;
    },
    180_000,
  );
  const { body } = await lab.api<{ data: { role: string; text: string }[] }>(
    'GET',
    `/v1/calls/${rang.id}/transcript`,
  );
  const said = body.data.filter(({ role }) => role === 'agent').map(({ text }) => text);
  t.match(
    said.join(' '),
    /The order number is 1042\. The status is shipped\. Delivery is planned for Thursday\./,
  );
  t.match(over.result, { order_number: '1042', status: 'shipped' });
});
