// The contacts of campaigns: added one by one or by a file, listed, and exported with what their calls brought.
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../errors.ts';
import type { ContactRecord, ContactView } from '../../storage/campaign-records.ts';
import { isDialledCountry } from '../../storage/outbound/dialled-number.ts';
import type { Store } from '../../storage/store.ts';
import { contactOf } from '../campaigns/contact.ts';
import { importContacts } from '../campaigns/import.ts';
import { found } from '../http/answer.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './campaign-schemas.ts';
import { contactColumns, contactView } from './campaign-views.ts';
import { campaignRefused, NO_CAMPAIGN } from './campaigns.ts';
import { type CsvValue, sendCsv } from './csv.ts';

const NO_CONTACT = 'The campaign has no contact with this id; GET /v1/campaigns/{id}/contacts lists them.';
const FILE_BYTES = 5_000_000;
/** Contacts that an export reads at once. */
const EXPORTED_AT_ONCE = 500;

export const campaignContactRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/campaigns/:id/contacts',
    operation: 'addContacts',
    errors: ['conflict'],
    summary: 'Add contacts to a campaign',
    description:
      'Each number is called once a campaign: whoever it has already is not added again. What cannot be called is named in the answer, and does not keep out the others.',
    status: 200,
    body: schemas.addContacts,
    answer: schemas.addedContacts,
    once: { failures: 'dropped' },
    async run({ store, orgId, params, body, campaigns, now }) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      const o = { campaign, country: null, now: now().toISOString() };
      const checked = body.contacts.map((given, index) => ({
        index,
        contact: contactOf({ ...given, context: given.context ?? {} }, { ...o, id: uuidv7() }),
      }));
      const fit = checked.flatMap(({ contact }) => ('code' in contact ? [] : [contact]));
      const stored = found(await store.addContacts(orgId, campaign.id, fit), NO_CAMPAIGN);
      if ('conflict' in stored) throw campaignRefused(stored, 'given contacts');
      const added = new Set(stored.added);
      const not_taken = checked.flatMap(({ index, contact }) => {
        if ('code' in contact) return [{ index, ...contact }];
        const twice = { code: 'duplicate', message: 'the campaign has this number already' };
        return added.has(contact.id) ? [] : [{ index, ...twice }];
      });
      campaigns.wake();
      return { body: { added: added.size, not_taken } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/campaigns/:id/contacts/import',
    operation: 'importContacts',
    errors: ['conflict'],
    summary: 'Add contacts from a file of CSV',
    description:
      'The first line names the columns: one is the number, `priority` and `time_zone` are read where they are there, and all others are what the agent is told. Commas, semicolons or tabs. Lines that are no contact are named in the answer with their numbers, and do not keep out the others. With `dry_run=true` nothing is added.',
    status: 200,
    query: schemas.importContacts,
    takes: { description: 'CSV in UTF-8, 5 MB at most, the names of the columns first.', bytes: FILE_BYTES },
    answer: schemas.importReport,
    async run({ store, orgId, params, query, campaigns, now, file }) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      if (query.country !== undefined && !isDialledCountry(query.country)) {
        throw new AppError('invalid_request', 'country must be one of ISO 3166 with telephone numbers.', {
          param: 'country',
        });
      }
      const add = async (contacts: ContactRecord[]) =>
        found(await store.addContacts(orgId, campaign.id, contacts), NO_CAMPAIGN);
      const report = await importContacts(await file(), {
        campaign,
        numberColumn: query.number_column ?? null,
        country: query.country ?? null,
        now: now().toISOString(),
        add: query.dry_run === 'true' ? null : add,
        refusal(conflict, added) {
          const refused = campaignRefused(conflict, 'given contacts');
          if (added === 0) return refused;
          return new AppError(
            'conflict',
            `${refused.message} ${added} contacts of the file were added before.`,
          );
        },
      });
      campaigns.wake();
      return { body: report };
    },
  }),

  route({
    method: 'get',
    path: '/v1/campaigns/:id/contacts',
    operation: 'listContacts',
    summary: 'List the contacts of a campaign, newest first',
    status: 200,
    query: schemas.listContacts,
    answer: schemas.contactList,
    async run({ store, orgId, params, query, url }) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      const { status, outcome, search } = query;
      return page({
        query,
        url,
        exists: (id) => store.getContact(orgId, campaign.id, id),
        list: (at) => store.listContacts(orgId, campaign.id, { status, outcome, search }, at),
        body: (contacts) => ({ data: contacts.map(contactView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/campaigns/:id/contacts/:contact_id',
    operation: 'getContact',
    summary: 'Read a contact, with every call to him',
    status: 200,
    answer: schemas.contactWithCalls,
    async run({ store, orgId, params }) {
      const contact = found(await store.getContact(orgId, params.id, params.contact_id), NO_CONTACT);
      const calls = (await store.listAttempts(contact.id)).map(
        ({ attempt, call_id, started_at, ended_at, outcome }) => ({
          attempt,
          call_id,
          started_at,
          ended_at,
          outcome,
        }),
      );
      return { body: { ...contactView(contact), calls } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/campaigns/:id/contacts.csv',
    operation: 'exportContacts',
    errors: ['at_capacity'],
    summary: 'Export the contacts of a campaign as CSV, in the order in which they were added',
    description:
      "Numbers, outcomes and attempts, the fields of the agent's `returns` as `result.<field>`, and what the agent was told as `context.<name>`. As with calls, a cell that a spreadsheet would take for a formula begins with an apostrophe.",
    status: 200,
    answer: null,
    media: 'text/csv',
    async run({ store, orgId, params }, res) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      const agent = await store.getAgent(orgId, campaign.agent_id);
      const first = await store.contactsInOrder(orgId, campaign.id, null, EXPORTED_AT_ONCE);
      const columns = contactColumns(first, Object.keys(agent?.returns ?? {}));
      await sendCsv(res, {
        of: orgId,
        name: `contacts-${campaign.created_at.slice(0, 10)}.csv`,
        header: columns.map(({ name }) => name),
        pages: linesOf(store, campaign, first, (contact) => columns.map((column) => column.of(contact))),
        forSpreadsheet: false,
      });
      return null;
    },
  }),
];

async function* linesOf(
  store: Pick<Store, 'contactsInOrder'>,
  campaign: { id: string; org_id: string },
  first: ContactView[],
  line: (contact: ContactView) => CsvValue[],
): AsyncGenerator<CsvValue[][]> {
  for (let contacts = first; ; ) {
    yield contacts.map(line);
    const last = contacts.at(-1);
    if (last === undefined || contacts.length < EXPORTED_AT_ONCE) return;
    contacts = await store.contactsInOrder(campaign.org_id, campaign.id, last.id, EXPORTED_AT_ONCE);
  }
}
