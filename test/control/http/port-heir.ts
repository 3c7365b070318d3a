// A program of its own for public-port.test.ts: goes on with the socket that was left to it as descriptor 3, once it is told to:
// as one that has taken over from another daemon (`beside`), or was started by systemd (`adopt`).
import { once } from 'node:events';
import { PublicPort } from '../../../control/http/public-port.ts';

const [port = '0', how] = process.argv.slice(2);
const take = (socket: { end(text: string): unknown }) => void socket.end('heir');
console.log('ready');
await once(process.stdin, 'data');
let publicPort: PublicPort;
if (how === 'adopt') publicPort = await PublicPort.adopt(3, take);
else {
  const address = { address: '127.0.0.1', port: Number(port), family: 'IPv4' };
  publicPort = PublicPort.beside({ address, fd: 3, isShared: true, take });
  await publicPort.listen();
}
console.log(`listens on ${publicPort.address.port}, ${publicPort.isShared ? 'shared' : 'alone'}`);
await once(process.stdin, 'end');
await publicPort.close();
