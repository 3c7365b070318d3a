// POST /dashboard/api/browser_calls: what becomes the call's record, and who may ask. The talk itself is in e2e/.
import t from 'tap';
import { openDashboardRig } from './rig.ts';

const path = '/browser_calls';

async function open(t: Parameters<typeof openDashboardRig>[0]) {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const agent = async (fields: Record<string, unknown>) => {
    const made = await rig.api('POST', '/v1/agents', { body: { name: 'Front desk', ...fields } });
    if (made.status !== 201) throw new Error(made.text);
    return made.body as { id: string };
  };
  return { rig, browser, agent };
}

t.test('an inbound agent without a number is called by a browser', async (t) => {
  const { rig, browser, agent } = await open(t);
  const { id } = await agent({
    type: 'inbound',
    instructions: 'Take orders.',
    returns: { order: 'string' },
    webhook_url: 'https://hooks.example.com/calls',
  });
  const answer = await browser.ask('POST', path, { body: { agent_id: id } });
  t.equal(answer.status, 201, answer.text);
  const call = rig.awaited[0];
  t.same(answer.body, {
    call_id: call?.id,
    stream_path: `/media/1/1/browser/${call?.id}`,
    token: 'one-time',
  });
  t.match(call, {
    carrier: 'browser',
    telephone: false,
    agent_id: id,
    org_id: rig.orgId,
    direction: 'inbound',
    status: 'ringing',
    from_number: 'browser',
    to_number: 'browser',
    instructions: 'Take orders.',
    returns: { order: 'string' },
    webhook_url: 'https://hooks.example.com/calls',
    context: null,
    metadata: { source: 'browser' },
  });
  t.same(rig.patience, [1]);
  t.match(call?.prompt, /someone who called you[\s\S]*Take orders\./);
});

t.test('an outbound agent calls the browser, from its primary number, with facts to try', async (t) => {
  const { rig, browser, agent } = await open(t);
  const numberId = await rig.number('+15550100001');
  const { id } = await agent({ type: 'outbound', instructions: 'Remind.', number_ids: [numberId] });
  const answer = await browser.ask('POST', path, {
    body: { agent_id: id, text_only: true, context: { customer: 'Ada' } },
  });
  t.equal(answer.status, 201, answer.text);
  t.match(rig.awaited[0], {
    direction: 'outbound',
    status: 'queued',
    from_number: '+15550100001',
    to_number: 'browser',
    context: { customer: 'Ada' },
    metadata: { source: 'browser', text_only: true },
  });
  t.same(rig.patience, [5], 'who types is waited for longer');
  t.match(rig.awaited[0]?.prompt, /someone you called[\s\S]*Ada/);
});

t.test('what is wrong is refused in plain words, and no call is made', async (t) => {
  const { rig, browser, agent } = await open(t);
  const { id } = await agent({ type: 'inbound' });
  await rig.api('DELETE', `/v1/agents/${id}`);
  for (const [body, code, param] of [
    [{}, 'missing_parameter', 'agent_id'],
    [{ agent_id: 'front desk' }, 'invalid_request', 'agent_id'],
    [{ agent_id: id, text_only: 'yes' }, 'invalid_request', 'text_only'],
    [{ agent_id: id, to: '+15550100' }, 'unknown_parameter', 'to'],
    [{ agent_id: rig.orgId }, 'agent_not_found', 'agent_id'],
    [{ agent_id: id }, 'agent_archived', 'agent_id'],
  ] as const) {
    const answer = await browser.ask('POST', path, { body });
    t.match(answer, { status: 400, body: { error: { code, param, message: String } } }, JSON.stringify(body));
  }
  t.same(rig.awaited, []);
});

t.test('only a session of our own page may open one', async (t) => {
  const { rig, browser, agent } = await open(t);
  const { id } = await agent({ type: 'inbound' });
  const body = { agent_id: id };
  t.equal((await rig.browser().ask('POST', path, { body })).status, 401, 'signed out');
  t.equal((await rig.api('POST', `/dashboard/api${path}`, { body })).status, 403, 'an API key is no session');
  t.equal((await browser.ask('POST', path, { body, headers: { 'offhook-csrf': null } })).status, 403);
  t.equal(
    (await browser.ask('POST', path, { body, headers: { 'sec-fetch-site': 'cross-site' } })).status,
    403,
  );
  t.equal((await browser.ask('GET', path)).status, 405);
  t.same(rig.awaited, []);
});
