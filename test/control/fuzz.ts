// Every operation of the OpenAPI document, fed bodies derived from it and hostile ones, over HTTP with the real store:
// what the document does not allow is refused, a refusal changes nothing, nothing is a fault of the service.
// In full: node test/control/fuzz.ts [--bodies 1000] [--seed n] [--operation createCall]; a short form runs with the tests.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Operation } from '../../control/reference/openapi.ts';
import { GATE_CODES } from '../../storage/outbound/outbound-records.ts';
import { type Bytes, damage, derive, hostile, type Random, randomOf, textOf } from './bodies.ts';
import { document, faultOfAnswer, faultOfBody } from './document.ts';
import { openRig, type Rig } from './rig.ts';

const NOBODY = '0199c000-0000-7000-8000-000000000000';
const OPERATOR_KEY = 'operator-key-of-the-test';

/** One organization's ids, by resource. */
interface World {
  agents: string[];
  numbers: string[];
  calls: string[];
  webhook_endpoints: string[];
  webhook_deliveries: string[];
  campaigns: string[];
  /** One of each campaign, in their order. */
  contacts: string[];
  do_not_call: string[];
  consents: string[];
  legal_holds: string[];
  erasures: string[];
  /** Agents that keep for other times than the organization does. */
  retention: string[];
}

type Resource = keyof World;

let serial = 0;

/** What makes things for an organization, and takes what it has made for its world. */
function furnisher(rig: Rig, orgId: string, key: string) {
  const make = async (path: string, body: unknown) => {
    const answer = await rig.api('POST', path, { key, body });
    if (answer.status !== 201) throw new Error(answer.text);
    return String(answer.body.id);
  };
  const number = () => {
    serial += 1;
    return rig.number(`+1555${String(2_000_000 + serial)}`, orgId);
  };
  const makers: Record<Resource, (world: World) => Promise<string[]>> = {
    webhook_endpoints: async () => [await make('/v1/webhook_endpoints', { url: 'https://example.com/a' })],
    numbers: async () => [await number(), await number(), await number()],
    agents: async (world) => {
      // One number of both, so that a path with an agent and a number names two that belong together.
      const shared = await number();
      world.numbers = [shared, shared, ...world.numbers.slice(-3)];
      const fields = { number_ids: [shared, await number()] };
      return [
        await make('/v1/agents', { ...fields, name: 'Out', type: 'outbound' }),
        await make('/v1/agents', { ...fields, name: 'In', type: 'inbound' }),
      ];
    },
    calls: async (world) => [
      await make('/v1/calls', { agent_id: world.agents[0], to: '+14155550123' }),
      await make('/v1/calls', { to: '+14155550124', instructions: 'Ask.' }),
    ],
    webhook_deliveries: async () => {
      const listed = await rig.api('GET', '/v1/webhook_deliveries', { key });
      return (listed.body.data as { id: string }[]).map((one) => one.id);
    },
    // One that waits to be started, one that runs, one that is paused.
    campaigns: async (world) => {
      const made: string[] = [];
      world.contacts = [];
      for (const turns of [[], ['start'], ['start', 'pause']]) {
        const body = { name: 'Campaign', agent_id: world.agents[0] };
        const id = await make('/v1/campaigns', body);
        const contacts = [{ to: '+14155550123' }];
        await rig.api('POST', `/v1/campaigns/${id}/contacts`, { key, body: { contacts } });
        for (const turn of turns) await rig.api('POST', `/v1/campaigns/${id}/${turn}`, { key });
        const listed = await rig.api('GET', `/v1/campaigns/${id}/contacts`, { key });
        made.push(id);
        world.contacts.push((listed.body.data as { id: string }[])[0]?.id ?? '');
      }
      return made;
    },
    contacts: async (world) => world.contacts,
    do_not_call: async () => {
      serial += 1;
      const { body } = await rig.api('POST', '/v1/do_not_call', {
        key,
        body: { numbers: [`+1415555${1000 + serial}`] },
      });
      return (body.data as { id: string }[]).map(({ id }) => id);
    },
    consents: async () => {
      const body = {
        numbers: ['+14155550123'],
        purpose: 'Reminders.',
        source: 'form',
        given_at: '2026-01-01T00:00:00Z',
      };
      const { body: made } = await rig.api('POST', '/v1/consents', { key, body });
      return (made.data as { id: string }[]).map(({ id }) => id);
    },
    legal_holds: async () => {
      serial += 1;
      return [await make('/v1/legal_holds', { number: `+1415556${1000 + serial}`, reason: 'A lawsuit.' })];
    },
    erasures: async () => [await make('/v1/erasures', { number: '+14155559999' })],
    retention: async (world) => {
      const [agent = ''] = world.agents;
      await rig.api('PATCH', '/v1/retention', { key, body: { agent_id: agent, calls_days: 9_000 } });
      return [agent];
    },
  };
  return {
    /** @param attacked what is deleted by and by, under later requests, is there for its own operations alone */
    async all(attacked: string): Promise<World> {
      const world: World = {
        webhook_endpoints: [],
        numbers: [],
        agents: [],
        calls: [],
        webhook_deliveries: [],
        campaigns: [],
        contacts: [],
        do_not_call: [],
        consents: [],
        legal_holds: [],
        erasures: [],
        retention: [],
      };
      for (const [name, maker] of Object.entries(makers)) {
        const deletes = name === 'erasures' || name === 'retention';
        if (!deletes || name === attacked) world[name as Resource] = await maker(world);
      }
      // Somebody whom a test of the alerts is for.
      await rig.api('PATCH', '/v1/alerts', { key, body: { emails: ['ops@example.com'] } });
      return world;
    },
    async again(world: World, resource: Resource): Promise<void> {
      world[resource] = await makers[resource](world);
    },
  };
}

interface Sent {
  path: string;
  method: string;
  body: Bytes | null;
  headers: Record<string, string>;
  /** Refused whatever the body says: another organization's or nobody's id, or a query it does not take. */
  refused: string | null;
  /** An id of the other organization is in the path. */
  foreign: boolean;
}

const BAD_QUERIES = [
  'odd=1',
  'limit=0',
  'limit=1e9',
  'limit=-1',
  'limit=x',
  'limit=1&limit=2',
  'limit[]=1',
  '__proto__[polluted]=1',
  'constructor.prototype.polluted=1',
  'starting_after=x',
  `starting_after=${NOBODY}`,
  'status=%00',
  'a[b][c][d][e][f][g]=1',
  `x=${'y'.repeat(5000)}`,
  '%ff=1',
  'api_key=1',
];
const BAD_IDS = [
  'x',
  '%00',
  '%2e%2e%2f',
  `${NOBODY}'`,
  '0',
  'null',
  '*',
  `${NOBODY.slice(0, -1)}g`,
  '%F0%9F%8E%88',
  'x'.repeat(4000),
];

/** What the daemon makes of bytes, by its own promise: UTF-8, JSON, an object; nothing is `{}`. Null: no such thing. */
function read(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return bytes.length === 0 ? {} : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Opens a campaign of `bodies` requests an operation; every fault is a failure of `t`. */
export async function campaign(
  t: Test,
  o: { bodies: number; seed: number; only?: string | undefined },
): Promise<void> {
  t.comment(`seed ${o.seed}, ${o.bodies} bodies an operation`);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  t.teardown(() => agent.destroy());
  const sums = { requests: 0, good: 0, refused: 0, not_found: 0 };
  let at = 0;
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      at += 1;
      if (o.only !== undefined && o.only !== operation.operationId) continue;
      // Each operation by itself: what one of them finds does not depend on those before it.
      const random = randomOf(o.seed + at * 1_000_003);
      await t.test(`${method.toUpperCase()} ${path}`, async (t) => {
        const counts = await attack(t, { path, method, operation, random, bodies: o.bodies, agent });
        for (const name of ['requests', 'good', 'refused', 'not_found'] as const) sums[name] += counts[name];
      });
    }
  }
  t.comment(JSON.stringify(sums));
  t.equal((Object.prototype as Record<string, unknown>).polluted, undefined, 'no prototype was touched');
}

async function attack(
  t: Test,
  o: { path: string; method: string; operation: Operation; random: Random; bodies: number; agent: Agent },
): Promise<{ requests: number; good: number; refused: number; not_found: number }> {
  const { random, operation } = o;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-fuzz-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'fuzz.db');
  const rig = await openRig(t, {
    path: file,
    env: { OPERATOR_KEY, DATA_DIR: dirname(file), RATE_LIMIT_BURST: '10000000' },
  });
  const ours = furnisher(rig, rig.orgId, rig.key);
  const own = await ours.all(o.path.split('/')[2] ?? '');
  // Credit is added to a balance; without one there is nothing to add to.
  if (operation.operationId === 'addCredit') await rig.store.setBalance(rig.orgId, 1_000_000);
  const other = await furnisher(rig, rig.other.orgId, rig.other.key).all(o.path.split('/')[2] ?? '');
  const foreignIds = Object.values(other).flat() as string[];

  const watcher = new Database(file, { readonly: true });
  t.teardown(() => watcher.close());
  /** Another number once anything was committed by anybody. */
  const version = () => Number(watcher.pragma('data_version', { simple: true }));
  const tables = watcher
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all() as { name: string }[];
  const contents = () =>
    JSON.stringify(tables.map(({ name }) => watcher.prepare(`SELECT * FROM "${name}"`).all()));
  const asked = () => rig.dispatched.length + rig.bought.length + rig.released.length;

  const resource = (o.path.split('/')[2] ?? '') as Resource;
  const idFor = (field: string): string => {
    if (random.chance(0.03)) return NOBODY;
    if (random.chance(0.05)) return random.pick(foreignIds);
    const from = field.startsWith('agent')
      ? own.agents
      : field.includes('number')
        ? own.numbers
        : own[resource];
    return random.pick(from ?? own.agents);
  };
  const schema = operation.requestBody?.content['application/json']?.schema;
  const takesFile = operation.requestBody?.content['text/csv'] !== undefined;

  function next(): Sent {
    let refused: string | null = null;
    let foreign = false;
    const path = o.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      const kind = name === 'number_id' ? 'numbers' : name === 'contact_id' ? 'contacts' : resource;
      const chance = random.below(100);
      if (chance < 80) return random.pick(own[kind]);
      if (chance < 90) {
        foreign = true;
        refused ??= 'an id of the other organization';
        return random.pick(other[kind]);
      }
      refused = chance < 93 ? 'an id of nobody' : 'no id';
      return chance < 93 ? NOBODY : random.pick(BAD_IDS);
    });
    const query = random.chance(schema === undefined && o.method === 'get' ? 0.3 : 0.05)
      ? random.pick(BAD_QUERIES)
      : '';
    // The document itself takes any query: it is the same for everybody.
    if (query !== '' && operation.security?.length !== 0) refused = 'a bad query';
    // A malformed id is found before the query, a foreign one after it: either is a refusal.
    const good = textOf(
      schema === undefined ? {} : derive(schema, '', { random, schemas: document.components.schemas, idFor }),
    );
    const kind = random.below(100);
    const text = kind < 30 ? good : textOf(damage(JSON.parse(good), random));
    const headers: Record<string, string> = {};
    if (operation.parameters?.some((one) => 'name' in one && one.name === 'Operator-Key')) {
      headers['operator-key'] = OPERATOR_KEY;
    }
    if (random.chance(0.05))
      headers['idempotency-key'] = random.chance(0.8) ? `key-${random.below(50)}` : 'x'.repeat(300);
    const file: Bytes = {
      bytes: Buffer.from(`to,name\n+1415555${1000 + random.below(9000)},${text}\n`),
      headers: { 'content-type': 'text/csv' },
      kind: 'derived',
    };
    const body: Bytes =
      takesFile && kind < 65
        ? file
        : kind < 65
          ? {
              bytes: Buffer.from(text),
              headers: { 'content-type': 'application/json' },
              kind: kind < 30 ? 'derived' : 'damaged',
            }
          : hostile(good, random);
    return {
      path: query === '' ? path : `${path}?${query}`,
      method: o.method.toUpperCase(),
      body,
      headers,
      refused,
      foreign,
    };
  }

  const counts = { requests: 0, good: 0, refused: 0, not_found: 0 };
  for (let i = 0; i < o.bodies; i++) {
    const sent = next();
    // The audit log's rows of what went before, which nobody waits for.
    await rig.store.flush();
    const before = { version: version(), asked: asked(), contents: null as string | null };
    // A key is noted before the request runs, and its note taken back after a refusal.
    if (sent.headers['idempotency-key'] !== undefined) before.contents = contents();
    const answer = await send(rig, sent, o.agent);
    const { status } = answer;
    counts.requests += 1;
    if (status < 300) counts.good += 1;
    else if (status === 404) counts.not_found += 1;
    else counts.refused += 1;

    const fail = (what: string) =>
      t.fail(`${what}: ${sent.method} ${sent.path.slice(0, 200)} (${sent.body?.kind}) -> ${status}`, {
        body: sent.body?.bytes.toString('latin1').slice(0, 2000),
        headers: { ...sent.headers, ...sent.body?.headers },
        answer: answer.text.slice(0, 2000),
      });

    if (status >= 500) fail('a fault of the service');
    const unlisted = faultOfAnswer(sent.method, o.path, answer);
    if (unlisted !== null) fail(`not as documented (${unlisted})`);
    if (status >= 400 && /\n\s+at |\.[tj]s:\d|node_modules|SQLITE|ZodError|prototype/.test(answer.text)) {
      // The names of fields are the client's own words.
      if (!/"param":"[^"]*prototype/.test(answer.text)) fail('an answer that shows the inside');
    }

    const replayed = answer.headers.get('idempotent-replayed') !== null;
    const parsed = sent.body === null ? {} : read(sent.body.bytes);
    const bodyFault =
      o.method === 'get'
        ? null
        : sent.body?.wrongHeaders && sent.body.bytes.length > 0
          ? 'wrong headers'
          : takesFile
            ? sent.body?.headers['content-type'] === 'text/csv'
              ? null
              : 'no file'
            : faultOfBody(sent.method, o.path, parsed);
    if (status < 400 && bodyFault !== null && !replayed) fail(`taken, though not allowed (${bodyFault})`);
    if (status < 400 && sent.refused !== null && !replayed) fail(`taken, with ${sent.refused}`);
    const text = sent.body?.bytes.toString() ?? '';
    if (status < 400 && o.method !== 'get' && !replayed && foreignIds.some((id) => text.includes(id))) {
      fail('taken, with an id of the other organization');
    }
    // A rule beyond the schema may speak first where there is a body; nothing else may.
    const other404 =
      sent.foreign && sent.headers['idempotency-key'] === undefined && !sent.path.includes('?');
    if (other404 && bodyFault === null && status !== 404 && (schema === undefined || status !== 400)) {
      fail('an id of the other organization is not 404');
    }

    const changed = version() !== before.version;
    const effect = changed && (before.contents === null || contents() !== before.contents);
    // A call that the gate refuses is written down as refused, by the verb that would have stored it.
    const byGate = GATE_CODES.some((code) => answer.text.includes(`"code":"${code}"`));
    // What a rule lets go is swept when the answer has been given, and so under a later request.
    const swept = /^\/v1\/(retention|erasures)/.test(o.path);
    if (status >= 400 && !byGate && !swept && (effect || asked() !== before.asked))
      fail('a refusal that changed something');
    if (o.method === 'get' && effect) fail('a read that changed something');
    // What was used up is made anew, so that the next request finds something; what has a limit is taken away.
    if (
      changed &&
      status < 300 &&
      (o.method === 'delete' || /cancel|hangup|start|pause|resume|stop/.test(o.path))
    ) {
      await ours.again(own, resource);
    }
    if (status === 201 && operation.operationId === 'createWebhookEndpoint') {
      await rig.store.deleteEndpoint(rig.orgId, answer.body.id);
    }
  }
  for (const line of rig.lines) {
    if (line.level === 'error') t.fail(`logged as an error: ${line.message}`, { fields: line.fields });
  }
  // None is recorded; and what is erased is one of three, which no schema says.
  if (!['getRecording', 'createErasure', 'createLegalHold'].includes(operation.operationId ?? ''))
    t.ok(counts.good > 0, `${counts.good} of ${o.bodies} went well`);
  const open = operation.security?.length === 0;
  if (!open)
    t.ok(counts.refused + counts.not_found > 0, `${counts.refused} refused, ${counts.not_found} not found`);
  return counts;
}

async function send(rig: Rig, sent: Sent, agent: Agent) {
  const outgoing = request(rig.url + sent.path, {
    method: sent.method,
    agent,
    headers: {
      authorization: `Bearer ${rig.key}`,
      ...sent.headers,
      ...sent.body?.headers,
      'content-length': String(sent.body?.bytes.length ?? 0),
    },
  });
  outgoing.end(sent.body?.bytes);
  const [response] = await once(outgoing, 'response');
  const text = (await buffer(response)).toString();
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
  const isJson = /json/.test(headers.get('content-type') ?? '');
  return {
    status: Number(response.statusCode),
    headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      bodies: { type: 'string', default: '1000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      operation: { type: 'string' },
    },
  });
  t.setTimeout(3_600_000);
  await campaign(t, { bodies: Number(values.bodies), seed: Number(values.seed), only: values.operation });
}
