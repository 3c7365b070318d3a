// Campaigns and their contacts.
import type { Campaign, CampaignContact } from './api.ts';
import type { Requests } from './requests.ts';
import type { BodyOf, QueryOf, RequestOptions } from './transport.ts';

export const campaignsOf = ({ ask, list }: Requests) => ({
  /** A draft: it calls nobody before it is started. */
  create: (body: BodyOf<'createCampaign'>, o?: RequestOptions) => ask('createCampaign', { ...o, body }),
  list: (query?: QueryOf<'listCampaigns'>, o?: RequestOptions) =>
    list<Campaign, 'listCampaigns'>('listCampaigns', query, o),
  get: (id: string, o?: RequestOptions) => ask('getCampaign', { ...o, params: { id } }),
  update: (id: string, body: BodyOf<'updateCampaign'>, o?: RequestOptions) =>
    ask('updateCampaign', { ...o, params: { id }, body }),
  /** A draft alone; what was started is stopped. */
  delete: (id: string, o?: RequestOptions): Promise<void> => ask('deleteCampaign', { ...o, params: { id } }),
  start: (id: string, o?: RequestOptions) => ask('startCampaign', { ...o, params: { id } }),
  /** Calls that are on go on. */
  pause: (id: string, o?: RequestOptions) => ask('pauseCampaign', { ...o, params: { id } }),
  resume: (id: string, o?: RequestOptions) => ask('resumeCampaign', { ...o, params: { id } }),
  /** For good: whoever waits is skipped. */
  stop: (id: string, o?: RequestOptions) => ask('stopCampaign', { ...o, params: { id } }),
  /** Up to 500; those that are not taken are named in the answer. */
  addContacts: (id: string, body: BodyOf<'addContacts'>, o?: RequestOptions) =>
    ask('addContacts', { ...o, params: { id }, body }),
  /** @param csv the text of a file whose first line names its columns */
  importContacts: (id: string, csv: string, query: QueryOf<'importContacts'> = {}, o?: RequestOptions) =>
    ask('importContacts', { timeoutMs: 300_000, ...o, params: { id }, query, body: csv }),
  /** Newest first. */
  contacts: (id: string, query?: QueryOf<'listContacts'>, o?: RequestOptions) =>
    list<CampaignContact, 'listContacts'>('listContacts', query, { ...o, params: { id } }),
  /** With every call to him. */
  contact: (id: string, contactId: string, o?: RequestOptions) =>
    ask('getContact', { ...o, params: { id, contact_id: contactId } }),
  report: (id: string, o?: RequestOptions) => ask('getCampaignReport', { ...o, params: { id } }),
  /** The contacts with what their calls brought, as CSV: a `Response`, made while its `body` is read. */
  exportCsv: (id: string, o?: RequestOptions): Promise<Response> =>
    ask('exportContacts', { ...o, params: { id } }),
});
