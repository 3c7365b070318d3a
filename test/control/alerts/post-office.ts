// A mail server on loopback for tests: real SMTP, keeps what it got.
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface PostOffice {
  port: number;
  letters: { from: string; to: string[]; text: string }[];
  close(): Promise<void>;
}

export async function openPostOffice(o: SMTPServerOptions = {}): Promise<PostOffice> {
  const letters: PostOffice['letters'] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        letters.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...o,
  });
  server.on('error', () => {});
  const port = await new Promise<number>((listening) => {
    const tcp = server.listen(0, '127.0.0.1', () => {
      const at = tcp.address();
      listening(typeof at === 'object' && at !== null ? at.port : 0);
    });
  });
  return { port, letters, close: () => new Promise((closed) => server.close(() => closed())) };
}
