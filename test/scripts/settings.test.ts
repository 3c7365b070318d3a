// The settings by their one table: the README and .env.example, defaults, what is refused, the summary for the log.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { ConfigError, readConfig, SETTINGS, summarize } from '../../config.ts';
import { asEnv, inReadme } from '../../scripts/print-settings.ts';

t.test('.env.example and the README are printed from the table (npm run settings)', async (t) => {
  t.equal(readFileSync('.env.example', 'utf8'), asEnv());
  const readme = readFileSync('README.md', 'utf8');
  t.equal(readme, inReadme(readme));
});

t.test('a setting that cannot be used is named, with why', async (t) => {
  for (const [env, told] of [
    [{ PORT: 'x' }, /^PORT: "x" is not a number/],
    [{ PORT: '70000' }, /^PORT: 70000 is above 65535/],
    [{ PORT: '1.5' }, /whole number/],
    [{ MEDIA_THREADS: '-1' }, /below 0/],
    [{ RECORD_CALLS: 'maybe' }, /neither true nor false/],
    [{ PUBLIC_URL: 'calls.example.com' }, /not a URL/],
    [{ PUBLIC_URL: 'ftp://x' }, /only http and https/],
    [{ PUBLIC_URL: 'https://x/?a=1' }, /no query/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
    [{ VAD_MODEL: 'v3' }, /^VAD_MODEL: "v3" is none of v4, v5, v6/],
    [{ OFFHOOK_API_KEY: 'secret' }, /starts with sk_/],
  ] as const) {
    t.throws(() => readConfig(env), { message: told });
    t.ok(
      (() => {
        try {
          readConfig(env);
          return false;
        } catch (error) {
          return error instanceof ConfigError;
        }
      })(),
    );
  }
});

t.test('an empty environment gives the defaults', async (t) => {
  const config = readConfig({});
  t.match(config, {
    PORT: 8080,
    HOST: '127.0.0.1',
    RECORD_CALLS: false,
    PUBLIC_URL: null,
    WEBHOOK_ALLOWED_CIDRS: [],
  });
  t.same(readConfig({ PORT: '' }), config, 'empty is as good as unset');
  t.ok(Object.isFrozen(config));
  t.equal(readConfig({ PUBLIC_URL: 'https://calls.example.com/' }).PUBLIC_URL, 'https://calls.example.com');
  t.equal(readConfig({ PUBLIC_URL: 'HTTPS://calls.example.com' }).PUBLIC_URL, 'https://calls.example.com');
});

t.test('the summary for the log shows no secret', async (t) => {
  const env: Record<string, string> = {};
  for (const [name, setting] of Object.entries(SETTINGS))
    if ('secret' in setting) env[name] = 'sk_planted_secret_value';
  // These have a form of their own.
  env.SMTP_URL = 'smtp://sales:planted@mail.example.com:587';
  env.SMTP_FROM = 'sales@example.com';
  env.SECRET_KEY = `${'planted+'.repeat(5)}abc=`;
  const text = JSON.stringify(summarize(readConfig(env)));
  t.notMatch(text, /planted/);
  t.match(text, /"TWILIO_AUTH_TOKEN_configured":true/);
});
