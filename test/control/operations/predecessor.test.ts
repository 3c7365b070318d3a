// The daemon before, as the one that goes on for it asks it: whoever says nothing for a moment is not gone.

import { existsSync, renameSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readPeerSecret } from '../../../bridge/peers/peer-secret.ts';
import { PrivatePort } from '../../../bridge/peers/private-port.ts';
import { systemClock } from '../../../clock.ts';
import { ANY, Predecessor } from '../../../control/operations/predecessor.ts';
import { AppError } from '../../../errors.ts';
import { openStore } from '../../../storage/sqlite/store.ts';

const HEIR = { epoch: 9, pid: 900, version: '9.9.9' };
const LOG = { info() {}, warn() {}, error() {} };

t.test('asked until it answers or is proven dead', async (t) => {
  const dataDir = t.testdir();
  const databasePath = join(dataDir, 'offhook.db');
  const store = await openStore({ path: databasePath, shared: true });
  const asked: string[] = [];
  const privatePort = await PrivatePort.open({
    secret: readPeerSecret(dataDir),
    epoch: store.self().epoch,
    now: systemClock.now,
    log: LOG,
    strangers: { saw() {} },
    onHook() {},
    commands: {
      async ready(body) {
        asked.push(`ready ${JSON.stringify(body)}`);
      },
      'upgrade-state': async () => ({ at: 'leaving' }),
      async upgrade() {
        throw new AppError('conflict', 'Not now.');
      },
    },
  });
  t.teardown(() => privatePort.close());
  // It stands still for its first questions.
  let deaf = 3;
  const gate: Server = createServer((socket) => {
    socket.on('error', () => {});
    if (deaf-- > 0) return void socket.destroy();
    const there = connect({ host: '127.0.0.1', port: privatePort.port });
    there.on('error', () => socket.destroy());
    socket.pipe(there).pipe(socket);
  });
  await new Promise<void>((listening) => gate.listen(0, '127.0.0.1', listening));
  t.teardown(() => gate.close());
  await store.tellSelf({ private_port: (gate.address() as { port: number }).port });

  const clock = { now: systemClock.now, monotonicMs: () => performance.now() };
  const find = () => Predecessor.find({ databasePath, dataDir, which: ANY, clock, log: LOG });
  const [key, away] = [join(dataDir, 'peers.key'), join(dataDir, 'away')];
  renameSync(key, away);
  t.throws(find, { message: /peers\.key is missing/ });
  t.notOk(existsSync(key), 'who asks may be somebody else than the daemon, whose key the file would be');
  renameSync(away, key);
  const before = find();
  if (before === null) throw new Error('nobody was found');
  await before.ready(HEIR);
  t.same(asked, [`ready ${JSON.stringify(HEIR)}`], 'it has heard of it, once');
  deaf = 3;
  t.match(await before.report(), { at: 'leaving' });
  await t.rejects(before.upgrade('/program'), { message: 'Not now.' });

  await store.close();
  deaf = 1_000;
  t.equal(await before.report(), null, 'gone');
  await before.ready(HEIR);
  t.equal(asked.length, 1);
});
