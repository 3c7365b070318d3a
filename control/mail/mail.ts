// E-mail by the operator's server (SMTP_URL): one message at a time, no queue. The library is loaded with the first one.
import type { Config } from '../../config.ts';

const CONNECT_MS = 10_000;
const SILENT_MS = 15_000;

export interface Letter {
  to: readonly string[];
  subject: string;
  text: string;
  /** The same for every attempt, so that a server or a reader drops a repeat. */
  id: string;
}

export interface Mail {
  /** @throws MailError */
  send(letter: Letter): Promise<void>;
}

/** What an operator may read of a letter that was not taken; the cause has the server's own words. */
export class MailError extends Error {}

/** Nodemailer's codes, in words; what is none of these says the status that the server answered with. */
const TEXT: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refuses the credentials',
  ECONNECTION: 'the mail server cannot be reached',
  EDNS: 'the mail server cannot be reached',
  EENVELOPE: 'the mail server refuses the addresses',
  ESOCKET: 'the mail server cannot be reached',
  ETIMEDOUT: 'the mail server does not answer in time',
  ETLS: 'the mail server offers no encryption',
};

function textOf(error: unknown): string {
  const { code = '', responseCode } = error as { code?: string; responseCode?: number };
  const status = responseCode === undefined ? '' : ` (${responseCode})`;
  return `${TEXT[code] ?? 'the mail server did not take it'}${status}`;
}

/** Credentials go to no server in the clear, but on this machine, or where the address says so (`?requireTLS=false`). */
function mustEncrypt(url: URL): boolean {
  if (url.username === '' || url.searchParams.has('requireTLS')) return false;
  return !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
}

/** Null where no server is set. */
export function openMail(config: Pick<Config, 'SMTP_URL' | 'SMTP_FROM'>): Mail | null {
  const { SMTP_URL, SMTP_FROM } = config;
  if (SMTP_URL === null || SMTP_FROM === null) return null;
  const url = new URL(SMTP_URL);
  if (mustEncrypt(url) && url.protocol === 'smtp:') url.searchParams.set('requireTLS', 'true');
  const host = /@([\w.-]+)>?\s*$/.exec(SMTP_FROM)?.[1] ?? 'offhook';
  return {
    async send({ to, subject, text, id }) {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        url: url.href,
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        socketTimeout: SILENT_MS,
        // Nothing of a letter is fetched from anywhere.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      try {
        const sent = await transport.sendMail({
          from: SMTP_FROM,
          to: [...to],
          subject,
          text,
          messageId: `<${id}@${host}>`,
          // RFC 3834: no answers by machines.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const refused = (sent.rejected ?? []).length;
        if (refused > 0) throw new MailError(`the mail server refuses ${refused} of ${to.length} addresses`);
      } catch (error) {
        if (error instanceof MailError) throw error;
        throw new MailError(textOf(error), { cause: error });
      } finally {
        transport.close();
      }
    },
  };
}
