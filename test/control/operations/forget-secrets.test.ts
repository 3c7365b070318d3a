// The key of the stored secrets, from the host: `offhook secrets rotate` adds one, `npm run forget-secrets` goes on without
// one that is lost. As programs.
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Tool } from '../../../storage/records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { at, makeAgent, makeEndpoint, makeKey, makeOrganization } from '../../storage/makers.ts';

const TOOL = {
  type: 'http',
  name: 'find',
  description: 'finds',
  parameters: { type: 'object', properties: {} },
  url: 'https://example.com/find',
  method: 'GET',
  headers: { 'X-Key': 'of the shop' },
} satisfies Tool;

const { headers: _headers, ...WITHOUT_HEADERS } = TOOL;

function run(args: string[], env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}
const forget = (data: string, ...args: string[]) =>
  run(['main.js', 'forget-secrets', ...args], { DATA_DIR: data });
const rotate = (data: string, env = {}) =>
  run(['control/cli/main.ts', 'secrets', 'rotate', '--data-dir', data], env);

async function installation(t: Test) {
  const data = join(t.testdir(), 'data');
  const path = join(data, 'offhook.db');
  const store = await openStore({ path });
  const organization = makeOrganization();
  await store.createOrganization(organization, makeKey(organization.id));
  const endpoint = makeEndpoint(organization.id);
  await store.createEndpoint(endpoint);
  const agent = makeAgent(organization.id, { tools: [TOOL] });
  await store.createAgent(agent, []);
  await store.beginIdempotent(organization.id, 'once', 'hash', at(0));
  await store.finishIdempotent(organization.id, 'once', 201, '{}');
  return { data, path, file: join(data, 'secret.key'), store, organization, endpoint, agent };
}

t.test('a key that is lost: refused, then gone on without', async (t) => {
  const { data, path, file, store, organization, endpoint, agent } = await installation(t);
  t.match(
    forget(data, '--yes'),
    { code: 1, stderr: /another daemon is using/ },
    'never under a daemon that runs',
  );
  await store.close();
  rmSync(file);
  await t.rejects(openStore({ path }), { code: 'secret_key' });
  t.match(forget(data), {
    code: 2,
    stdout: '',
    stderr: /new secret.*takes the headers of all tools away.*--yes/,
  });
  await t.rejects(openStore({ path }), { code: 'secret_key' }, 'which changed nothing');

  const done = forget(data, '--yes');
  t.match(done, { code: 0, stdout: /^Sealing .* MB anew[\s\S]*1 organizations, 1 webhook endpoints/ });
  t.match(done.stdout, `agent ${agent.name} (${agent.id}), X-Key`);
  t.notMatch(done.stdout, /whsec_/);
  const again = await openStore({ path });
  const renewed = await again.getOrganization(organization.id);
  t.match(renewed?.webhook_secret, /^whsec_[\w+/=]{40,}$/);
  t.match((await again.getEndpoint(organization.id, endpoint.id))?.secret, /^whsec_[\w+/=]{40,}$/);
  t.same((await again.getAgent(organization.id, agent.id))?.tools, [WITHOUT_HEADERS]);
  t.match(await again.beginIdempotent(organization.id, 'once', 'hash', at(1)), { state: 'new' });
  t.match(renewed, { name: organization.name });
  await again.close();
  t.match(forget(join(data, 'none'), '--yes'), { code: 1, stderr: /there is no .*set DATA_DIR/ });
  t.match(run(['main.js', 'forget'], {}), {
    code: 1,
    stderr: /no command "forget", only .*forget-secrets/,
  });
});

t.test('a new key, taken up at the next start, after which the old one can go', async (t) => {
  const { data, path, file, store, organization, agent } = await installation(t);
  const before = readFileSync(file, 'utf8').split('\n').at(-2) ?? '';
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chownSync(file, 4321, 4322);
  t.match(rotate(data), { code: 0, stdout: /first in .*secret\.key, of 2\.[\s\S]*Start the daemon again/ });
  const owner = statSync(file);
  t.equal(owner.mode & 0o777, 0o600);
  if (asRoot) t.same([owner.uid, owner.gid], [4321, 4322]);
  t.equal(
    (await store.getOrganization(organization.id))?.webhook_secret,
    organization.webhook_secret,
    'a daemon that runs goes on',
  );
  await store.close();
  const keys = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  t.equal(keys.length, 2);
  t.equal(keys[1], before);

  const second = await openStore({ path });
  t.same((await second.getAgent(organization.id, agent.id))?.tools, [TOOL]);
  await second.close();
  await t.rejects(
    openStore({ path, secretKeys: before }).then(async (third) => {
      await third.close();
      rmSync(file);
      return openStore({ path, secretKeys: keys[0] ?? '' });
    }),
    { code: 'secret_key' },
    'a setting goes before the file',
  );
  const last = await openStore({ path, secretKeys: before });
  t.same((await last.getAgent(organization.id, agent.id))?.tools, [TOOL]);
  await last.close();

  t.match(rotate(data), { code: 2, stderr: /There is no .*secret\.key/ });
  t.match(rotate(data, { SECRET_KEY: before }), { code: 2, stderr: /in SECRET_KEY: put a new one/ });
});
