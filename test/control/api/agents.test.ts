// Agents over HTTP: what is required, what is refused, numbers and their primary one, archiving.
import t from 'tap';
import { SPECIFIED_FIELDS } from '../../specified-fields.ts';
import { modelsFile, openRig } from '../rig.ts';

t.test('an agent with name and type alone has the defaults of the specification', async (t) => {
  const rig = await openRig(t);
  const { status, body } = await rig.api('POST', '/v1/agents', {
    body: { name: 'Front desk', type: 'inbound' },
  });
  t.equal(status, 201);
  t.same(Object.keys(body), SPECIFIED_FIELDS.agent);
  t.match(body, {
    org_id: rig.orgId,
    name: 'Front desk',
    type: 'inbound',
    persona: null,
    instructions: null,
    voice: 'marin',
    model: null,
    language: null,
    returns: {},
    tools: null,
    webhook_url: null,
    voicemail_action: 'hangup',
    interruption_words: [],
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: false,
    disclosure: { mode: 'off', text: null },
    mask: [],
    primary_number_id: null,
    archived_at: null,
    created_at: '2026-03-01T12:00:00.000Z',
    numbers: [],
  });
  t.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/, 'UUIDv7');
  t.same((await rig.api('GET', `/v1/agents/${body.id}`)).body, body);
  t.equal((await rig.api('GET', `/v1/agents/${body.id.toUpperCase()}`)).status, 200, 'ids in any case');
});

t.test('every field of create is kept as it was given', async (t) => {
  const rig = await openRig(t);
  const one = await rig.number('+15550000001');
  const two = await rig.number('+15550000002');
  const given = {
    name: 'Sales',
    type: 'outbound',
    persona: 'You are Ada.',
    instructions: 'Ask for the order number.',
    voice: 'cedar',
    language: 'pt-BR',
    returns: { order: 'string', mood: { type: 'string', enum: ['good', 'bad'] } },
    tools: [{ type: 'end_call' }],
    webhook_url: 'https://example.com/hook',
    voicemail_action: 'leave_message',
    interruption_words: ['Sarah', 'okay doctor'],
    patience: 'long',
    eagerness: 'relaxed',
    interruption: 'hard',
    summarize: true,
    disclosure: { mode: 'custom', text: 'A machine calls.' },
    mask: ['card', 'iban'],
  };
  const { status, body } = await rig.api('POST', '/v1/agents', {
    body: { ...given, number_ids: [one, two, one], primary_number_id: two },
  });
  t.equal(status, 201);
  t.match(body, given);
  t.equal(body.primary_number_id, two);
  t.same(
    body.numbers.map((number: { id: string }) => number.id),
    [one, two],
  );
  t.same(body.numbers[0].outbound_agent_ids, [body.id]);
  t.same(Object.keys(body.numbers[0]), SPECIFIED_FIELDS.number);
});

t.test('without primary_number_id the first of number_ids becomes primary', async (t) => {
  const rig = await openRig(t);
  const one = await rig.number('+15550000001');
  const two = await rig.number('+15550000002');
  const { body } = await rig.api('POST', '/v1/agents', {
    body: { name: 'A', type: 'outbound', number_ids: [two, one] },
  });
  t.equal(body.primary_number_id, two);
});

t.test('create refuses what is wrong and names the field', async (t) => {
  const rig = await openRig(t);
  const mine = await rig.number('+15550000001');
  const foreign = await rig.number('+15550000009', rig.other.orgId);
  const good = { name: 'A', type: 'outbound' };
  const cases: [string, unknown, string, string][] = [
    ['no name', { type: 'outbound' }, 'missing_parameter', 'name'],
    ['no type', { name: 'A' }, 'missing_parameter', 'type'],
    ['nothing at all', {}, 'missing_parameter', 'name'],
    ['empty name', { ...good, name: '' }, 'invalid_request', 'name'],
    ['blank name', { ...good, name: '  ' }, 'invalid_request', 'name'],
    ['name of 201 characters', { ...good, name: 'x'.repeat(201) }, 'invalid_request', 'name'],
    ['name as a number', { ...good, name: 5 }, 'invalid_request', 'name'],
    ['name null', { ...good, name: null }, 'invalid_request', 'name'],
    ['unknown type', { ...good, type: 'both' }, 'invalid_request', 'type'],
    ['persona of 32,001 characters', { ...good, persona: 'x'.repeat(32_001) }, 'invalid_request', 'persona'],
    [
      'instructions of 32,001',
      { ...good, instructions: 'x'.repeat(32_001) },
      'invalid_request',
      'instructions',
    ],
    ['unknown voice', { ...good, voice: 'siri' }, 'invalid_voice', 'voice'],
    ['a model that is not configured', { ...good, model: 'other' }, 'invalid_model', 'model'],
    ['voice null', { ...good, voice: null }, 'invalid_request', 'voice'],
    ['no language', { ...good, language: 'klingon!' }, 'invalid_language', 'language'],
    ['unknown returns type', { ...good, returns: { a: 'money' } }, 'invalid_returns', 'returns.a'],
    ['returns as a list', { ...good, returns: ['a'] }, 'invalid_returns', 'returns'],
    ['unknown tool', { ...good, tools: [{ type: 'rocket' }] }, 'invalid_tool', 'tools[0].type'],
    ['URL without a scheme', { ...good, webhook_url: 'example.com' }, 'invalid_url', 'webhook_url'],
    ['URL with another scheme', { ...good, webhook_url: 'ftp://example.com' }, 'invalid_url', 'webhook_url'],
    ['loopback URL', { ...good, webhook_url: 'https://127.0.0.1/x' }, 'blocked_address', 'webhook_url'],
    [
      'loopback URL in disguise',
      { ...good, webhook_url: 'https://0x7f000001/x' },
      'blocked_address',
      'webhook_url',
    ],
    [
      'metadata service as a tool',
      {
        ...good,
        tools: [
          { type: 'http', name: 'x', description: 'x', url: 'https://169.254.169.254/', method: 'GET' },
        ],
      },
      'blocked_address',
      'tools[0].url',
    ],
    [
      'unknown voicemail_action',
      { ...good, voicemail_action: 'sing' },
      'invalid_request',
      'voicemail_action',
    ],
    [
      'blank interruption word',
      { ...good, interruption_words: ['Sarah', ' '] },
      'invalid_request',
      'interruption_words[1]',
    ],
    [
      'interruption word that nobody can say',
      { ...good, interruption_words: ['3', '…!'] },
      'invalid_request',
      'interruption_words[1]',
    ],
    [
      'too many interruption words',
      { ...good, interruption_words: Array.from({ length: 51 }, (_, i) => `word ${i}`) },
      'invalid_request',
      'interruption_words',
    ],
    ['unknown patience', { ...good, patience: 'endless' }, 'invalid_request', 'patience'],
    ['a number for eagerness', { ...good, eagerness: 3 }, 'invalid_request', 'eagerness'],
    ['interruption null', { ...good, interruption: null }, 'invalid_request', 'interruption'],
    ['unknown field', { ...good, colour: 'red' }, 'unknown_parameter', 'colour'],
    ['read-only field', { ...good, archived_at: null }, 'unknown_parameter', 'archived_at'],
    ['number_ids not ids', { ...good, number_ids: ['x'] }, 'invalid_request', 'number_ids[0]'],
    [
      'primary not in number_ids',
      { ...good, number_ids: [mine], primary_number_id: foreign },
      'primary_number_not_attached',
      'primary_number_id',
    ],
    [
      'primary alone',
      { ...good, primary_number_id: mine },
      'primary_number_not_attached',
      'primary_number_id',
    ],
    ["another organization's number", { ...good, number_ids: [foreign] }, 'number_not_found', 'number_ids'],
    [
      'a number that nobody has',
      { ...good, number_ids: ['0199c000-0000-7000-8000-000000000000'] },
      'number_not_found',
      'number_ids',
    ],
  ];
  for (const [name, body, code, param] of cases) {
    const answer = await rig.api('POST', '/v1/agents', { body });
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param], name);
    t.ok(answer.body.error.message.length > 10, `${name}: says something`);
  }
  t.same((await rig.api('GET', '/v1/agents')).body, { data: [] }, 'none of them was kept');
  t.match(
    (await rig.api('POST', '/v1/agents', { body: { ...good, voice: 'siri' } })).body.error.message,
    /alloy, ash, ballad, coral, echo, sage, shimmer, verse, marin, cedar/,
    'a wrong voice is told which there are',
  );
});

t.test('the limits themselves are allowed', async (t) => {
  const rig = await openRig(t);
  const { status } = await rig.api('POST', '/v1/agents', {
    body: {
      name: 'x'.repeat(200),
      type: 'outbound',
      persona: 'x'.repeat(32_000),
      instructions: 'y'.repeat(32_000),
    },
  });
  t.equal(status, 201);
});

t.test('a number has one inbound agent at most, and any count of outbound ones', async (t) => {
  const rig = await openRig(t);
  const id = await rig.number('+15550000001');
  const create = (type: string) =>
    rig.api('POST', '/v1/agents', { body: { name: type, type, number_ids: [id] } });
  t.equal((await create('inbound')).status, 201);
  t.equal((await create('outbound')).status, 201);
  t.equal((await create('outbound')).status, 201);
  const second = await create('inbound');
  t.same(
    [second.status, second.body.error.code, second.body.error.param],
    [409, 'number_taken', 'number_ids'],
  );
  t.equal(
    (await rig.api('GET', '/v1/agents?type=inbound')).body.data.length,
    1,
    'the refused one was not kept',
  );

  const loose = await rig.api('POST', '/v1/agents', { body: { name: 'loose', type: 'inbound' } });
  const attach = await rig.api('POST', `/v1/agents/${loose.body.id}/numbers`, { body: { number_id: id } });
  t.same([attach.status, attach.body.error.code], [409, 'number_taken']);
});

t.test('the list has filters, leaves archived agents out, and shows no numbers', async (t) => {
  const rig = await openRig(t);
  const make = async (name: string, type: string) => {
    rig.advance(1);
    return (await rig.api('POST', '/v1/agents', { body: { name, type } })).body.id as string;
  };
  await make('a', 'inbound');
  await make('b', 'outbound');
  const c = await make('c', 'outbound');
  const names = async (query: string) =>
    (await rig.api('GET', `/v1/agents${query}`)).body.data.map((agent: { name: string }) => agent.name);
  t.same(await names(''), ['c', 'b', 'a'], 'newest first');
  t.same(await names('?type=outbound'), ['c', 'b']);
  await rig.api('DELETE', `/v1/agents/${c}`);
  t.same(await names(''), ['b', 'a']);
  t.same(await names('?include_archived=true'), ['c', 'b', 'a']);
  t.same(await names('?include_archived=false'), ['b', 'a']);
  t.notOk('numbers' in (await rig.api('GET', '/v1/agents')).body.data[0]);
  for (const [query, param] of [
    ['?type=x', 'type'],
    ['?include_archived=1', 'include_archived'],
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=abc', 'limit'],
    ['?limit=', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?limit=1&limit=2', 'limit'],
    ['?starting_after=x', 'starting_after'],
    ['?starting_after=0199c000-0000-7000-8000-000000000000', 'starting_after'],
    ['?page=2', 'page'],
    ['?__proto__=2', '__proto__'],
  ] as const) {
    const answer = await rig.api('GET', `/v1/agents${query}`);
    t.same([answer.status, answer.body.error?.param], [400, param], query);
  }
});

t.test('PATCH changes what it names, null clears, and type and numbers are not its own', async (t) => {
  const rig = await openRig(t);
  const { id } = await rig.agent({
    persona: 'P',
    instructions: 'I',
    language: 'es',
    webhook_url: 'https://example.com/a',
    tools: [{ type: 'end_call' }],
    returns: { a: 'string' },
  });
  const before = (await rig.api('GET', `/v1/agents/${id}`)).body;
  rig.advance(5000);
  const named = await rig.api('PATCH', `/v1/agents/${id}`, { body: { name: 'B', language: 'en-us' } });
  t.equal(named.status, 200);
  t.same(named.body, { ...before, name: 'B', language: 'en-US', updated_at: '2026-03-01T12:00:05.000Z' });

  const cleared = await rig.api('PATCH', `/v1/agents/${id}`, {
    body: {
      persona: null,
      instructions: null,
      language: null,
      webhook_url: null,
      tools: null,
      returns: {},
      interruption_words: null,
    },
  });
  t.match(cleared.body, {
    persona: null,
    instructions: null,
    language: null,
    webhook_url: null,
    tools: null,
    returns: {},
    interruption_words: [],
    name: 'B',
  });
  t.equal(cleared.body.numbers.length, 1);

  for (const [body, code, param] of [
    [{ type: 'inbound' }, 'unknown_parameter', 'type'],
    [{ number_ids: [] }, 'unknown_parameter', 'number_ids'],
    [{ primary_number_id: null }, 'unknown_parameter', 'primary_number_id'],
    [{ name: null }, 'invalid_request', 'name'],
    [{ voice: null }, 'invalid_request', 'voice'],
    [{ voicemail_action: null }, 'invalid_request', 'voicemail_action'],
    [{ patience: null }, 'invalid_request', 'patience'],
    [{ eagerness: 'fast' }, 'invalid_request', 'eagerness'],
    [{ interruption: 2 }, 'invalid_request', 'interruption'],
    [{ webhook_url: 'https://10.0.0.1/' }, 'blocked_address', 'webhook_url'],
  ] as const) {
    const answer = await rig.api('PATCH', `/v1/agents/${id}`, { body });
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param]);
  }
});

t.test('an archived agent keeps its record, loses its numbers, and cannot be changed', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const archived = await rig.api('DELETE', `/v1/agents/${agent.id}`);
  t.equal(archived.status, 200);
  t.match(archived.body, { archived_at: '2026-03-01T12:00:00.000Z', numbers: [], primary_number_id: null });
  rig.advance(1000);
  t.same(
    (await rig.api('DELETE', `/v1/agents/${agent.id}`)).body,
    archived.body,
    'archiving again changes nothing',
  );
  t.same((await rig.api('GET', `/v1/agents/${agent.id}`)).body, archived.body);
  for (const [method, path, body] of [
    ['PATCH', '', { name: 'x' }],
    ['POST', '/numbers', { number_id: agent.number_id }],
    ['PUT', '/primary-number', { number_id: agent.number_id }],
  ] as const) {
    const answer = await rig.api(method, `/v1/agents/${agent.id}${path}`, { body });
    t.same([answer.status, answer.body.error.code], [400, 'agent_archived'], method + path);
  }
});

t.test('numbers are attached, made primary and detached', async (t) => {
  const rig = await openRig(t);
  const one = await rig.number('+15550000001');
  const two = await rig.number('+15550000002');
  const three = await rig.number('+15550000003');
  const { id } = (await rig.api('POST', '/v1/agents', { body: { name: 'A', type: 'outbound' } })).body;
  const attach = (body: unknown) => rig.api('POST', `/v1/agents/${id}/numbers`, { body });
  const shape = (body: { primary_number_id: string | null; numbers: { id: string }[] }) => [
    body.primary_number_id,
    ...body.numbers.map((number) => number.id),
  ];
  const first = await attach({ number_id: one });
  t.equal(first.status, 200);
  t.same(shape(first.body), [one, one], 'the first number becomes primary');
  t.same(shape((await attach({ number_id: two })).body), [one, one, two]);
  t.same(shape((await attach({ number_id: three, primary: true })).body), [three, one, two, three]);
  t.same(
    shape((await attach({ number_id: three })).body),
    [three, one, two, three],
    'attaching again changes nothing',
  );

  const put = await rig.api('PUT', `/v1/agents/${id}/primary-number`, { body: { number_id: two } });
  t.equal(put.status, 200);
  t.same(shape(put.body), [two, one, two, three]);
  const detached = await rig.api('DELETE', `/v1/agents/${id}/numbers/${two}`);
  t.equal(detached.status, 200);
  t.same(shape(detached.body), [one, one, three], 'the oldest left becomes primary');
  await rig.api('DELETE', `/v1/agents/${id}/numbers/${one}`);
  t.same(shape((await rig.api('DELETE', `/v1/agents/${id}/numbers/${three}`)).body), [null]);

  const gone = await rig.api('DELETE', `/v1/agents/${id}/numbers/${three}`);
  t.same([gone.status, gone.body.error.code], [404, 'not_found']);
  const notMine = await rig.api('PUT', `/v1/agents/${id}/primary-number`, { body: { number_id: three } });
  t.same([notMine.status, notMine.body.error.code], [400, 'primary_number_not_attached']);
  const foreign = await rig.number('+15550000009', rig.other.orgId);
  for (const [body, code, param] of [
    [{}, 'missing_parameter', 'number_id'],
    [{ number_id: 'x' }, 'invalid_request', 'number_id'],
    [{ number_id: one, primary: 'yes' }, 'invalid_request', 'primary'],
    [{ number_id: foreign }, 'number_not_found', 'number_id'],
  ] as const) {
    const answer = await attach(body);
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param]);
  }
});

t.test('every type of returns and every kind of tool is kept, on the agent and on its calls', async (t) => {
  const rig = await openRig(t);
  const types = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'enum(a|b|c)'];
  const returns = {
    ...Object.fromEntries(types.map((type, i) => [`one_${i}`, type])),
    ...Object.fromEntries(types.map((type, i) => [`many_${i}`, `${type}[]`])),
    described: { type: 'string', description: 'How it went', enum: ['well', 'badly'] },
  };
  const tools = [
    {
      type: 'http',
      name: 'find_order',
      description: 'Finds an order',
      parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      url: 'https://api.example.com/orders',
      method: 'GET',
      headers: { 'X-Key': 'fixed' },
      timeout_ms: 3000,
      speak_first: 'One moment.',
    },
    { type: 'end_call' },
    { type: 'transfer_call', targets: [{ name: 'Sales', number: '+14155550123' }] },
    { type: 'send_dtmf' },
  ];
  const agent = await rig.agent({ returns, tools });
  const { body } = await rig.api('GET', `/v1/agents/${agent.id}`);
  const [http, ...others] = tools;
  const masked = [{ ...http, headers: { 'X-Key': '********' } }, ...others];
  t.same([body.returns, body.tools], [returns, masked]);
  const call = await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  t.same(call.body.returns, returns);
  t.same(rig.dispatched[0]?.tools, tools);
});

t.test('the value of a header is never told again; given back masked, it stays where it was', async (t) => {
  const rig = await openRig(t);
  const tool = (fields: Record<string, unknown> = {}) => ({
    type: 'http',
    name: 'find_order',
    description: 'Finds an order',
    url: 'https://api.example.com/orders',
    headers: { 'X-Key': 'first-value', 'X-Shop': 'second-value' },
    ...fields,
  });
  const masked = { 'X-Key': '********', 'X-Shop': '********' };
  const agent = await rig.agent({ tools: [{ type: 'send_dtmf' }, tool()] });
  const path = `/v1/agents/${agent.id}`;
  const stored = async () => {
    const found = (await rig.store.getAgent(rig.orgId, agent.id))?.tools?.find((one) => one.type === 'http');
    return found?.type === 'http' ? found.headers : null;
  };
  const patch = (...tools: unknown[]) => rig.api('PATCH', path, { body: { tools } });

  const number = await rig.number('+15550007777');
  for (const answer of [
    await rig.api('GET', path),
    await rig.api('GET', '/v1/agents'),
    await rig.api('PATCH', path, { body: { name: 'Other' } }),
    await rig.api('POST', `${path}/numbers`, { body: { number_id: number } }),
    await rig.api('PUT', `${path}/primary-number`, { body: { number_id: number } }),
    await rig.api('DELETE', `${path}/numbers/${number}`),
    await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }),
  ]) {
    t.notMatch(answer.text, /first-value|second-value/, answer.text.slice(0, 60));
  }

  const kept = await patch(tool({ headers: { ...masked, 'X-Shop': 'third-value', 'X-New': 'fourth' } }));
  t.same(kept.body.tools[0].headers, { ...masked, 'X-New': '********' });
  t.same(await stored(), { 'X-Key': 'first-value', 'X-Shop': 'third-value', 'X-New': 'fourth' });
  await patch(
    tool({ name: 'renamed', url: 'https://api.example.com/other', headers: { 'x-key': '********' } }),
  );
  t.same(await stored(), { 'x-key': 'first-value' }, 'also under another name, and on another path');
  await patch({ type: 'send_dtmf' }, tool({ name: 'renamed', headers: { 'x-key': '********' } }));
  t.same(await stored(), { 'x-key': 'first-value' }, 'or in another place');

  const refused = async (
    answer: Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>,
    at: string,
  ) => {
    const { status, body } = await answer;
    t.same([status, body.error.code, body.error.param], [400, 'invalid_tool', at]);
    t.match(body.error.message, /give it in full/);
  };
  const headers = { 'X-Key': '********' };
  const other = (url: string) => tool({ name: 'renamed', url, headers });
  await refused(patch({ type: 'send_dtmf' }, other('https://evil.example/orders')), 'tools[1].headers.X-Key');
  await refused(patch(other('http://api.example.com/orders')), 'tools[0].headers.X-Key');
  await refused(patch(other('https://api.example.com:8443/orders')), 'tools[0].headers.X-Key');
  await refused(
    patch(tool({ name: 'renamed', headers: { 'X-Unknown': '********' } })),
    'tools[0].headers.X-Unknown',
  );
  await refused(
    rig.api('POST', '/v1/agents', {
      body: { name: 'New', type: 'outbound', tools: [other('https://api.example.com/')] },
    }),
    'tools[0].headers.X-Key',
  );
  t.same(await stored(), { 'x-key': 'first-value' }, 'and what is refused changes nothing');
  await patch({ type: 'send_dtmf' }, tool({ name: 'other', headers: undefined }));
  t.same(await stored(), undefined, 'left out, it is gone');
});

t.test('every voice is kept, and no other is taken', async (t) => {
  const rig = await openRig(t);
  const { id } = await rig.agent();
  for (const voice of [
    'alloy',
    'ash',
    'ballad',
    'coral',
    'echo',
    'sage',
    'shimmer',
    'verse',
    'marin',
    'cedar',
  ]) {
    t.equal((await rig.api('PATCH', `/v1/agents/${id}`, { body: { voice } })).body.voice, voice);
  }
  const wrong = await rig.api('PATCH', `/v1/agents/${id}`, { body: { voice: 'Marin' } });
  t.same([wrong.status, wrong.body.error.code], [400, 'invalid_voice']);
});

t.test('If-Match holds a change to what it was made on', async (t) => {
  const rig = await openRig(t);
  const { id } = await rig.agent();
  const path = `/v1/agents/${id}`;
  const read = await rig.api('GET', path);
  const made = read.headers.get('etag') ?? '';
  t.equal(made, `"${read.body.updated_at}"`);
  const change = (name: string, tag?: string) =>
    rig.api('PATCH', path, {
      body: { name },
      ...(tag === undefined ? {} : { headers: { 'if-match': tag } }),
    });
  const first = await change('First', made);
  t.same(
    [first.status, first.body.name, first.headers.get('etag')],
    [200, 'First', `"${first.body.updated_at}"`],
  );
  t.ok(first.body.updated_at > read.body.updated_at, 'also within one millisecond');

  const late = await change('Late', made);
  t.same([late.status, late.body.error.code, late.body.error.param], [412, 'changed_meanwhile', 'If-Match']);
  t.match(late.body.error.message, /Read it again/);
  t.equal((await rig.api('GET', path)).body.name, 'First', 'and nothing was changed');
  t.equal((await change('Weak', `W/${first.headers.get('etag')}`)).status, 200, 'as a proxy may hand it on');
  t.equal((await change('Any', '*')).status, 200);
  t.equal((await change('Later stands')).status, 200, 'without the header nothing is asked');
  for (const tag of ['2026', '', '"a", "b"']) {
    const wrong = await change('Wrong', tag);
    // An empty header is one all the same.
    t.same([wrong.status, wrong.body.error?.param], [400, 'If-Match'], tag);
  }
  const both = await Promise.all(
    ['One', 'Two'].map(async (name) => change(name, (await rig.api('GET', path)).headers.get('etag') ?? '')),
  );
  t.same(both.map(({ status }) => status).sort(), [200, 412], 'of two at once one is told');
});

t.test('an agent has one of the configured models, null for the default, and no other', async (t) => {
  const rig = await openRig(t, { env: { MODELS_FILE: modelsFile(t, { mini: { model: 'gpt-mini' } }) } });
  const { body: agent } = await rig.api('POST', '/v1/agents', {
    body: { name: 'A', type: 'inbound', model: 'mini' },
  });
  t.equal(agent.model, 'mini');
  const patch = (model: string | null) => rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { model } });
  const refused = await patch('maxi');
  t.same(
    [refused.status, refused.body.error.code, refused.body.error.param],
    [400, 'invalid_model', 'model'],
  );
  t.match(refused.body.error.message, 'gpt-realtime-2.1, mini');
  t.equal((await patch('gpt-realtime-2.1')).body.model, 'gpt-realtime-2.1', 'the default by its name');
  t.equal((await patch(null)).body.model, null);
});
