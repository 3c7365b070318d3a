// The form of a campaign's rules: there and back, and what it says in words.
import t from 'tap';
import { CAMPAIGN } from '../../../../control/api/campaign-examples.ts';
import { changeCampaign } from '../../../../control/api/campaign-schemas.ts';
import {
  changeOf,
  daysInWords,
  formOf,
  newWindow,
  outcomeInWords,
  shareDone,
  windowsInWords,
} from '../../../../control/dashboard/app/forms/campaign-form.ts';
import type { Campaign } from '../../../../control/sdk/index.ts';

const campaign = CAMPAIGN as unknown as Campaign;

t.test('what is shown is what is saved, and the API takes it', async (t) => {
  const change = changeOf(formOf(campaign));
  const { name, calls_per_minute, windows, retries, window_zone } = campaign;
  t.match(change, { name, calls_per_minute, windows, retries, window_zone });
  t.ok(changeCampaign.safeParse(change).success);
  const fresh = changeOf({ ...formOf(campaign), windows: [newWindow()] });
  t.ok(changeCampaign.safeParse(fresh).success, 'a new window too');
});

t.test('what is no number is left to the API to refuse, with its field', async (t) => {
  const refused = (form: Partial<ReturnType<typeof formOf>>) =>
    changeCampaign.safeParse(changeOf({ ...formOf(campaign), ...form })).error?.issues[0]?.path;
  t.same(refused({ callsPerMinute: 'many' }), ['calls_per_minute']);
  t.same(refused({ maxAttempts: '' }), ['max_attempts']);
  t.same(refused({ windows: [{ days: 'mon', from: '9', to: '10:00' }] }), ['windows', 0, 'from']);
  t.equal(refused({ callsPerMinute: ' 30 ' }), undefined);
});

t.test('in words', async (t) => {
  t.equal(daysInWords(['mon', 'tue', 'wed', 'thu', 'fri']), 'Monday to Friday');
  t.equal(daysInWords(['mon', 'wed']), 'Mon, Wed');
  t.equal(windowsInWords(campaign), 'Monday to Friday, 09:00 to 18:00, where the contact is');
  t.match(windowsInWords({ ...campaign, windows: [] }), /any hour/);
  t.same(['no_answer', 'refused:do_not_call'].map(outcomeInWords), ['No answer', 'Refused: do not call']);
  t.equal(shareDone({ total: 0, waiting: 0, calling: 0, done: 0, refused: 0, skipped: 0 }), 0);
  t.equal(shareDone({ total: 4, waiting: 1, calling: 1, done: 1, refused: 1, skipped: 0 }), 0.5);
});
