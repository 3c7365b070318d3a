// What Twilio needs of the settings, and whether its account can be used. PURE: it asks by what it is given.
import type { CarrierSetup } from '../setup.ts';

export const TWILIO = 'twilio';

export const twilioSetup: CarrierSetup = {
  name: TWILIO,
  needs: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
  address: ({ TWILIO_BASE_URL }) => ({ url: TWILIO_BASE_URL, vendor: 'twilio.com' }),
  /** Account and token, by reading the account. */
  async tryOut(config, ask) {
    const { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token, TWILIO_BASE_URL: base } = config;
    const asked = await ask(`${base}/2010-04-01/Accounts/${encodeURIComponent(sid ?? '')}.json`, {
      authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`,
    });
    if ('error' in asked) {
      return {
        state: 'fail',
        says: `${base} does not answer (${asked.error}).`,
        mend: 'Check the network and the firewall of this host: it needs https to the carrier.',
      };
    }
    const { status, body } = asked;
    if (status === 401 || status === 403) {
      return {
        state: 'fail',
        says: 'It refuses the credentials.',
        mend: 'Copy TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN again from the carrier’s console; an API key of the carrier will not do: its hooks are signed with the auth token.',
      };
    }
    if (status !== 200) {
      return {
        state: 'fail',
        says: `It answers ${status}.`,
        mend: 'Look at the carrier’s status page and console.',
      };
    }
    const account = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    if (account.status !== undefined && account.status !== 'active') {
      return {
        state: 'fail',
        says: `The account is ${String(account.status)}.`,
        mend: 'Settle it in the carrier’s console.',
      };
    }
    return account.type === 'Trial'
      ? {
          state: 'warn',
          says: 'The credentials work. It is a trial account: it calls verified numbers only, and plays a notice first.',
          mend: 'Upgrade it before customers are called.',
        }
      : { state: 'ok', says: 'The credentials work, the account is active.' };
  },
};
