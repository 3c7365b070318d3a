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

t.test('a draft is tried as it stands: the call keeps it, the agent does not', async (t) => {
  const { rig, browser, agent } = await open(t);
  const numberId = await rig.number('+15550100001');
  const { id } = await agent({
    type: 'outbound',
    instructions: 'Remind.',
    number_ids: [numberId],
    tools: [
      {
        type: 'http',
        name: 'find',
        description: 'Finds.',
        method: 'POST',
        url: 'https://tools.example.com/find',
        parameters: { type: 'object', properties: {} },
        headers: { Authorization: 'Bearer secret' },
      },
    ],
  });
  const shown = await rig.api('GET', `/v1/agents/${id}`);
  const tools = (shown.body as { tools: object[] }).tools;
  const draft = {
    name: 'Reminder, louder',
    type: 'inbound',
    instructions: 'Remind them, and ask how they are.',
    returns: { well: 'boolean' },
    voice: 'cedar',
    patience: 'long',
    tools,
  };
  const answer = await browser.ask('POST', path, { body: { agent_id: id, draft } });
  t.equal(answer.status, 201, answer.text);
  t.match(rig.awaited[0], {
    agent_id: id,
    direction: 'outbound',
    from_number: '+15550100001',
    instructions: 'Remind them, and ask how they are.',
    returns: { well: 'boolean' },
    voice: 'cedar',
    patience: 'long',
    metadata: { source: 'browser', draft: 'Reminder, louder' },
  });
  t.match(rig.awaited[0]?.prompt, /ask how they are/);
  t.match(rig.awaited[0]?.tools, [{ headers: { Authorization: 'Bearer secret' } }], 'what is masked is kept');
  t.same((await rig.api('GET', `/v1/agents/${id}`)).body, shown.body, 'nothing of it is stored as the agent');

  const fresh = await browser.ask('POST', path, { body: { draft: { name: 'New', type: 'inbound' } } });
  t.equal(fresh.status, 201, fresh.text);
  t.match(rig.awaited[1], { agent_id: null, direction: 'inbound', persona: null, tools: null });
  const { body } = await rig.api('GET', '/v1/agents');
  t.equal((body as { data: unknown[] }).data.length, 1, 'and none is made');
});

t.test('a draft is checked like an agent', async (t) => {
  const { rig, browser } = await open(t);
  const draft = { name: 'New', type: 'inbound' };
  const http = {
    type: 'http',
    name: 'find',
    description: 'Finds.',
    method: 'POST',
    parameters: { type: 'object', properties: {} },
  };
  for (const [change, code, param] of [
    [{ name: '' }, 'invalid_request', 'draft.name'],
    [{ type: undefined }, 'missing_parameter', 'draft.type'],
    [{ voice: 'nobody' }, 'invalid_voice', 'draft.voice'],
    [{ language: 'speech' }, 'invalid_language', 'draft.language'],
    [{ model: 'unheard' }, 'invalid_model', 'model'],
    [{ returns: { a: 'text' } }, 'invalid_returns', 'returns.a'],
    [{ tools: [{ ...http, url: 'https://10.0.0.1/' }] }, 'blocked_address', 'tools[0].url'],
    [
      { tools: [{ ...http, url: 'https://a.example.com/', headers: { Authorization: '********' } }] },
      'invalid_tool',
      'tools[0].headers.Authorization',
    ],
    [{ number_ids: [] }, 'unknown_parameter', 'draft.number_ids'],
    [{ webhook_url: 'ftp://example.com' }, 'invalid_url', 'webhook_url'],
  ] as const) {
    const answer = await browser.ask('POST', path, { body: { draft: { ...draft, ...change } } });
    t.match(answer, { status: 400, body: { error: { code, param } } }, JSON.stringify(change));
  }
  t.same(rig.awaited, []);
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
