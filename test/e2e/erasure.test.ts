// Erased is found nowhere: planted numbers, names and words of calls in a real daemon, which is killed in the middle of each
// erasure; then the raw files of its folder (database, its log, recordings, the queue) and all that it has logged are searched.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findRedis } from '../../scripts/chaos/redis.ts';
import { openRig, until } from './rig.ts';

interface Receipt {
  id: string;
  state: string;
  counts: Record<string, number>;
  files: { path: string; sha256: string }[];
  rewritten_at: string | null;
}

/** Where the process dies: with files gone and rows there, with the rows gone, with the index of words cleared. */
const DEATHS = ['erasure_before_rows', 'erasure_before_clearing', 'erasure_before_log'] as const;

const person = (at: number) => ({
  number: `+1555731${2040 + at}`,
  name: `Zorblattina${'abcd'[at]}`,
  note: `quuxword${'abcd'[at]}`,
});

/** Which of the texts stand in a file below a folder, in any case of letters; as `file: text`. */
function search(folder: string, texts: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name);
    // Sockets, and what has gone since it was listed.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
    const bytes = readFileSync(path).toString('latin1').toLowerCase();
    return texts.filter((text) => bytes.includes(text.toLowerCase())).map((text) => `${name}: ${text}`);
  });
}

t.test('an erased person is found nowhere, whenever the process is killed', async (t) => {
  const people = DEATHS.map((_death, at) => person(at));
  const other = { number: '+15557319999', name: 'Wibblesworth' };
  const says = (file: string) => ({
    ringMs: 200,
    steps: [{ do: 'say' as const, file, when: { afterAgentSilenceMs: 700, timeoutMs: 20_000 } }],
  });
  const rig = await openRig(t, {
    env: {
      RECORD_CALLS: 'true',
      LOG_LEVEL: 'debug',
      ...(findRedis() === null ? {} : { REDIS_MODE: 'auto' }),
    },
    carrier: {
      callees: Object.fromEntries(people.map(({ number }) => [number, says('jfk-8k.wav')])),
      defaultCallee: says('caller-thanks.wav'),
    },
  });
  const { lab } = rig;
  const folder = join(rig.folder, 'data');
  const logged: string[][] = [lab.daemon.lines];
  const agent = await rig.agent({ instructions: 'TEST-BRIEF', returns: { caller_words: 'string' } });
  const headers = { 'Idempotency-Key': 'planted-once' };
  const dialled = await Promise.all(
    [...people, other].map((one, at) =>
      rig.dial(agent.id, one.number, {
        context: { name: one.name },
        metadata: { of: one.name },
        instructions: `TEST-BRIEF Call ${one.name} about ${people[at]?.note ?? 'nothing'}.`,
        webhook_url: `${lab.receiverUrl}?of=${one.name}`,
      }),
    ),
  );
  const again = await fetch(`${lab.daemon.url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lab.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ agent_id: agent.id, to: people[0]?.number, context: { name: people[0]?.name } }),
  });
  t.equal(again.status, 201);
  const calls = [...dialled, (await again.json()) as { id: string }];
  await Promise.all(calls.map(({ id }) => rig.ended(id)));
  const words =
    (await rig.transcript(dialled[0]?.id ?? '')).find(({ role }) => role === 'caller')?.text ?? '';
  t.match(words, /fellow Americans/, 'words that nobody else says');
  await until('every webhook', async () => {
    const { body } = await lab.api<{ data: { status: string }[] }>('GET', '/v1/webhook_deliveries?limit=100');
    return body.data.every(({ status }) => status !== 'pending');
  });

  const planted = people.flatMap(({ number, name, note }) => [number.slice(1), name, note]);
  planted.push('americans');
  const before = new Set(search(folder, planted).map((found) => found.split(': ')[1]));
  t.strictSame(
    planted.filter((text) => !before.has(text)),
    [],
    'everything planted is found before',
  );
  const recordings = () => readdirSync(join(folder, 'recordings')).length;
  t.equal(recordings(), calls.length);

  const receipts: Receipt[] = [];
  for (const [at, death] of DEATHS.entries()) {
    const { number } = people[at] ?? { number: '' };
    await lab.daemon.stop('SIGKILL');
    await lab.restartDaemon({ FAILPOINTS: `${death}:1` });
    logged.push(lab.daemon.lines);
    // It dies under the question.
    await t.rejects(lab.api('POST', '/v1/erasures', { number, reason: death }));
    await lab.restartDaemon();
    logged.push(lab.daemon.lines);
    const done = await until(`the erasure that died at ${death}`, async () => {
      const { body } = await lab.api<{ data: Receipt[] }>(
        'GET',
        `/v1/erasures?number=${encodeURIComponent(number)}`,
      );
      const [receipt] = body.data;
      return receipt?.state === 'done' && receipt.rewritten_at !== null ? receipt : null;
    });
    t.equal(done.counts.calls, at === 0 ? 2 : 1);
    t.equal(done.files.length, at === 0 ? 2 : 1);
    receipts.push(done);
  }
  t.strictSame(search(folder, planted), [], 'in no file of a daemon that runs');
  t.equal(recordings(), 1, 'the other one’s recording');
  for (const { id } of [...dialled.slice(0, -1), { id: calls.at(-1)?.id ?? '' }])
    t.match(await rig.call(id), { to_number: 'erased', context: null, status: 'completed' });
  const left = dialled.at(-1) ?? { id: '' };
  t.match(await rig.call(left.id), { to_number: other.number, erased_at: null });
  t.ok((await rig.transcript(left.id)).length > 0);
  for (const text of ['americans', ...people.map(({ number }) => number.slice(-7))]) {
    const { body } = await lab.api<unknown[]>('GET', `/v1/calls?search=${text}`);
    t.strictSame(body, [], `a search for ${text}`);
  }
  const repeat = await fetch(`${lab.daemon.url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lab.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ agent_id: agent.id, to: people[0]?.number, context: { name: people[0]?.name } }),
  });
  t.equal(repeat.status, 409, 'a repeat of the request dials nobody');
  t.notOk((await repeat.text()).includes(people[0]?.name ?? ''));

  await lab.daemon.stop('SIGTERM');
  t.strictSame(search(folder, planted), [], 'in no file after its end');
  const lines = logged.flat().join('\n').toLowerCase();
  t.strictSame(
    planted.filter((text) => lines.includes(text.toLowerCase())),
    [],
    'in no line of its log',
  );
  t.ok(receipts.every(({ files }) => files.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))));
  await lab.restartDaemon();
});
