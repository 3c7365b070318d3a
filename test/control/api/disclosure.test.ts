// What is said before all else, over HTTP: of agents, of calls, and by which name an organization is spoken of.
import t from 'tap';
import { openRig } from '../rig.ts';

const TO = '+14155550123';
const OFF = { mode: 'off', text: null };
const STANDARD = { mode: 'standard', text: null };
const NAMELESS = 'Hello, this is an AI assistant.';

t.test('an agent: as is usual for its type, or as it is told; wrong ones are refused', async (t) => {
  const rig = await openRig(t);
  const create = async (body: Record<string, unknown>) =>
    (await rig.api('POST', '/v1/agents', { body: { name: 'A', type: 'outbound', ...body } })).body;
  t.same((await create({})).disclosure, STANDARD);
  t.same((await create({ type: 'inbound' })).disclosure, OFF);
  t.same((await create({ disclosure: { mode: 'off' } })).disclosure, OFF);
  const own = { mode: 'custom', text: 'A machine of {organization} calls.' };
  const { id, disclosure } = await create({ disclosure: { ...own, text: ` ${own.text} ` } });
  t.same(disclosure, own);
  const change = (disclosure: unknown) => rig.api('PATCH', `/v1/agents/${id}`, { body: { disclosure } });
  t.same((await change({ mode: 'off' })).body.disclosure, OFF);
  t.same((await change(null)).body.disclosure, STANDARD, 'null: as is usual');
  for (const [wrong, param] of [
    ['standard', 'disclosure'],
    [{}, 'disclosure.mode'],
    [{ mode: 'loud' }, 'disclosure.mode'],
    [{ mode: 'custom' }, 'disclosure.text'],
    [{ mode: 'custom', text: ' ' }, 'disclosure.text'],
    [{ mode: 'custom', text: 'x'.repeat(401) }, 'disclosure.text'],
    [{ mode: 'custom', text: 'a\nb' }, 'disclosure.text'],
    [{ mode: 'standard', text: 'Hello.' }, 'disclosure.text'],
  ] as const) {
    const { status, body } = await change(wrong);
    t.same([status, body.error.param], [400, param], JSON.stringify(wrong));
  }
  const off = await openRig(t, { env: { OUTBOUND_DISCLOSURE: 'off' } });
  const agent = await off.api('POST', '/v1/agents', { body: { name: 'A', type: 'outbound' } });
  t.same(agent.body.disclosure, OFF, 'OUTBOUND_DISCLOSURE=off');
});

t.test('your organization: what it is called on the phone', async (t) => {
  const rig = await openRig(t);
  const read = async () => (await rig.api('GET', '/v1/organization')).body;
  t.match(await read(), { id: rig.orgId, spoken_name: null, recording_notice: null });
  const change = (body: Record<string, unknown>) => rig.api('PATCH', '/v1/organization', { body });
  const named = await change({ spoken_name: ' the Bluebird Clinic ' });
  t.match(named, {
    status: 200,
    body: { spoken_name: 'the Bluebird Clinic', said_as: 'the Bluebird Clinic' },
  });
  t.match((await change({ recording_notice: 'never' })).body, {
    spoken_name: 'the Bluebird Clinic',
    recording_notice: 'never',
  });
  t.match((await change({ spoken_name: null, recording_notice: null })).body, {
    spoken_name: null,
    recording_notice: null,
  });
  for (const wrong of [
    { spoken_name: '' },
    { spoken_name: '{a}' },
    { recording_notice: 'loud' },
    { name: 'X' },
  ])
    t.equal((await change(wrong)).status, 400, JSON.stringify(wrong));
  await change({ spoken_name: 'ours' });
  const theirs = await rig.api('GET', '/v1/organization', { key: rig.other.key });
  t.match(theirs.body, { id: rig.other.orgId, spoken_name: null }, 'each its own');
});

t.test('a call has the line that is to be said, of which nothing has been heard', async (t) => {
  const rig = await openRig(t, { env: { RECORD_CALLS: 'true' } });
  await rig.api('PATCH', '/v1/organization', { body: { spoken_name: 'Bluebird' } });
  const lineOf = async (body: Record<string, unknown>) =>
    (await rig.api('POST', '/v1/calls', { body: { to: TO, ...body } })).body.disclosure;
  const unsaid = { heard_text: '', heard_ms: 0, started_ms: null, ended_ms: null, complete: false };
  const agent = await rig.agent({ disclosure: { mode: 'standard' } });
  const text = 'Hello, this is an AI assistant calling for Bluebird. This call is recorded.';
  t.same(await lineOf({ agent_id: agent.id }), { text, ...unsaid });
  await rig.api('PATCH', '/v1/organization', { body: { recording_notice: 'never' } });
  t.match(await lineOf({ agent_id: agent.id }), {
    text: 'Hello, this is an AI assistant calling for Bluebird.',
  });
  await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { language: 'de-AT' } });
  t.match(await lineOf({ agent_id: agent.id }), {
    text: 'Guten Tag, hier spricht ein KI-Assistent im Auftrag von Bluebird.',
  });
  await rig.api('PATCH', `/v1/agents/${agent.id}`, { body: { disclosure: { mode: 'off' } } });
  t.equal(await lineOf({ agent_id: agent.id }), null, 'off is off');
  await rig.api('PATCH', '/v1/organization', { body: { recording_notice: null } });
  t.match(
    await lineOf({ agent_id: agent.id }),
    { text: 'Dieses Gespräch wird aufgezeichnet.' },
    'and said alone',
  );
  const prompt = { instructions: 'Ask.', language: 'es' };
  t.match(await lineOf(prompt), {
    text: 'Hola, soy un asistente de inteligencia artificial y llamo en nombre de Bluebird. Esta llamada se graba.',
  });
  t.match(
    await lineOf({ ...prompt, disclosure: { mode: 'custom', text: 'Soy una máquina de {organization}.' } }),
    {
      text: 'Soy una máquina de Bluebird. Esta llamada se graba.',
    },
  );
  const refused = await rig.api('POST', '/v1/calls', {
    body: { to: TO, agent_id: agent.id, disclosure: OFF },
  });
  t.match([refused.status, refused.body.error.message], [400, /comes from the agent/]);
});

t.test('as long as an organization has no name of its own, none is said', async (t) => {
  const rig = await openRig(t);
  await rig.store.updateOrganization(rig.orgId, { name: 'Default' });
  t.equal((await rig.api('GET', '/v1/organization')).body.said_as, null);
  const agent = await rig.agent({ disclosure: { mode: 'standard' } });
  const { body } = await rig.api('POST', '/v1/calls', { body: { to: TO, agent_id: agent.id } });
  t.equal(body.disclosure.text, NAMELESS);
});
