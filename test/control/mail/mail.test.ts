// E-mail against a real mail server: what arrives, what is said of what does not, and no credentials in the clear.
import t from 'tap';
import { readConfig, secretsOf } from '../../../config.ts';
import { openMail } from '../../../control/mail/mail.ts';
import { openPostOffice } from '../alerts/post-office.ts';

const letter = { to: ['ops@example.com'], subject: 'Grüße', text: 'A line.\n', id: 'one' };
const mailOf = (url: string) => openMail({ SMTP_URL: url, SMTP_FROM: 'Offhook <alerts@example.com>' });

t.test('no server, no mail; settings that cannot be used are refused', async (t) => {
  t.equal(openMail({ SMTP_URL: null, SMTP_FROM: 'a@example.com' }), null);
  for (const SMTP_URL of ['mail.example.com', 'https://mail.example.com', 'smtp://'])
    t.throws(
      () => readConfig({ SMTP_URL, SMTP_FROM: 'a@example.com' }),
      { message: /^SMTP_URL: / },
      SMTP_URL,
    );
  for (const SMTP_FROM of ['', 'nobody'])
    t.throws(
      () => readConfig({ SMTP_URL: 'smtp://mail.example.com', SMTP_FROM }),
      { message: /^SMTP_FROM: / },
      SMTP_FROM,
    );
  const config = readConfig({ SMTP_URL: 'smtp://me:hidden@mail.example.com', SMTP_FROM: 'a@example.com' });
  t.ok(secretsOf(config).includes('hidden'), 'its password is in no log');
});

t.test('a letter arrives, with an id of its own', async (t) => {
  const office = await openPostOffice();
  t.teardown(() => office.close());
  await mailOf(`smtp://127.0.0.1:${office.port}`)?.send(letter);
  t.match(office.letters, [{ from: 'alerts@example.com', to: ['ops@example.com'] }]);
  t.match(office.letters[0]?.text, /^Message-ID: <one@example\.com>/m);
  t.match(office.letters[0]?.text, /^Auto-Submitted: auto-generated/m);
});

t.test('what goes wrong is said in words', async (t) => {
  const refusing = await openPostOffice({
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode: 550 })),
  });
  const guarded = await openPostOffice({
    authOptional: false,
    onAuth: (_auth, _session, done) => done(new Error('no')),
    allowInsecureAuth: true,
  });
  t.teardown(() => Promise.all([refusing.close(), guarded.close()]));
  const says = (url: string, text: RegExp) =>
    t.rejects(mailOf(url)?.send(letter) ?? Promise.resolve(), { message: text }, url);
  await says(`smtp://127.0.0.1:${refusing.port}`, /refuses the addresses \(550\)/);
  await says(`smtp://me:wrong@127.0.0.1:${guarded.port}`, /refuses the credentials/);
  await refusing.close();
  await says(`smtp://127.0.0.1:${refusing.port}`, /cannot be reached/);
});

t.test(
  'credentials go to no server without encryption, but on this machine or where that is said',
  async (t) => {
    let asked = 0;
    const office = await openPostOffice({
      allowInsecureAuth: true,
      onAuth(_auth, _session, done) {
        asked++;
        done(null, { user: 'me' });
      },
    });
    t.teardown(() => office.close());
    // A name that is this machine's, and does not say so.
    const at = `0.0.0.0:${office.port}`;
    await t.rejects(mailOf(`smtp://me:secret@${at}`)?.send(letter) ?? Promise.resolve(), {
      message: /offers no encryption|cannot be reached/,
    });
    t.equal(asked, 0);
    await mailOf(`smtp://me:secret@${at}?requireTLS=false`)?.send(letter);
    await mailOf(`smtp://me:secret@127.0.0.1:${office.port}`)?.send(letter);
    t.equal(asked, 2);
  },
);
