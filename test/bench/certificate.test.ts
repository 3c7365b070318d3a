// The bench's certificate: good to whoever trusts its authority, and to nobody else.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import t from 'tap';
import { makeCertificate } from './certificate.ts';

t.test('a peer is believed by its authority only', async (t) => {
  const files = makeCertificate(t.testdir());
  const server = createServer({ key: readFileSync(files.key), cert: readFileSync(files.certificate) });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const outcome = (ca?: Buffer) =>
    new Promise<string>((done) => {
      const socket = connect({ host: '127.0.0.1', port, ...(ca === undefined ? {} : { ca }) }, () => {
        done(socket.getProtocol() ?? '');
        socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    });
  t.equal(await outcome(readFileSync(files.authority)), 'TLSv1.3');
  t.equal(await outcome(), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
});
