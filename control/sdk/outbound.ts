// Whom an organization may call: its rules, a number tried, the do-not-call list, consents, what was refused.
import type { Consent, DoNotCallEntry, RefusedCall } from './api.ts';
import type { Requests } from './requests.ts';
import type { BodyOf, QueryOf, RequestOptions } from './transport.ts';

export const outboundOf = ({ ask, list }: Requests) => ({
  /** The rules in force. */
  rules: (o?: RequestOptions) => ask('getOutboundRules', o),
  /** What is left out stays as it is; `reset` gives rules up for those of the daemon. */
  updateRules: (body: BodyOf<'updateOutboundRules'>, o?: RequestOptions) =>
    ask('updateOutboundRules', { ...o, body }),
  /** What the gate would say of a call now; nobody is called. */
  check: (body: BodyOf<'checkOutbound'>, o?: RequestOptions) => ask('checkOutbound', { ...o, body }),
  /** Calls that were not placed, newest first. */
  refused: (query?: QueryOf<'listRefusedCalls'>, o?: RequestOptions) =>
    list<RefusedCall, 'listRefusedCalls'>('listRefusedCalls', query, o),
});

export const doNotCallOf = ({ ask, list }: Requests) => ({
  /** Newest first; with `number`, that one alone. */
  list: (query?: QueryOf<'listDoNotCall'>, o?: RequestOptions) =>
    list<DoNotCallEntry, 'listDoNotCall'>('listDoNotCall', query, o),
  /** Up to 500. */
  add: (body: BodyOf<'addDoNotCall'>, o?: RequestOptions) => ask('addDoNotCall', { ...o, body }),
  /** @param csv the text of a file, 256 KB at most */
  import: (csv: string, o?: RequestOptions) => ask('importDoNotCall', { ...o, body: csv }),
  /** It may be called again. */
  remove: (id: string, o?: RequestOptions): Promise<void> => ask('removeDoNotCall', { ...o, params: { id } }),
});

export const consentsOf = ({ ask, list }: Requests) => ({
  /** Newest first. */
  list: (query?: QueryOf<'listConsents'>, o?: RequestOptions) =>
    list<Consent, 'listConsents'>('listConsents', query, o),
  add: (body: BodyOf<'addConsents'>, o?: RequestOptions) => ask('addConsents', { ...o, body }),
  /** It stays on the list, with the time. */
  revoke: (id: string, o?: RequestOptions) => ask('revokeConsent', { ...o, params: { id } }),
});
