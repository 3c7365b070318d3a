// The client: every operation of /v1, by resource. What a request is, and when it is repeated, is in transport.ts.
import type {
  Action,
  AgentSummary,
  AvailableNumber,
  Call,
  Erasure,
  Event,
  LegalHold,
  Organization,
  PhoneNumber,
  Returns,
  SpeechModel,
  WebhookDelivery,
  WebhookEndpoint,
} from './api.ts';
import { campaignsOf } from './campaigns.ts';
import { OffhookConnectionError } from './errors.ts';
import { consentsOf, doNotCallOf, outboundOf } from './outbound.ts';
import { type Requests, requestsOf } from './requests.ts';
import type { AgentOf, AskedFor, CallOf, IdOf, PromptCallOf } from './results.ts';
import {
  type AnswerOf,
  type BodyOf,
  createTransport,
  type OffhookOptions,
  pause,
  type QueryOf,
  type RequestOptions,
} from './transport.ts';
import { sign, verify } from './webhooks.ts';

const ENDED: ReadonlySet<string> = new Set(['completed', 'no_answer', 'busy', 'canceled', 'failed']);
const FIRST_LOOK_MS = 500;
const LATER_LOOKS_MS = 5_000;
/** Seconds that one request waits for the next event: below the time limit of a request. */
const FOLLOW_S = 20;

/** Whether a call has reached its end. */
export const hasEnded = (call: Pick<Call, 'status'>): boolean => ENDED.has(call.status);

export interface WaitOptions extends Omit<RequestOptions, 'idempotencyKey'> {
  /** `result` (the default): also until its result is settled, up to a minute after the end. */
  until?: 'ended' | 'result' | undefined;
  /** Told of every change of status. */
  onChange?: ((call: Call) => void) | undefined;
  /** Milliseconds to wait in all (default: as long as it takes). */
  withinMs?: number | undefined;
}

const agentsOf = ({ ask, list }: Requests) => ({
  /** The agent knows what it `returns`, and so do its calls. */
  create: <const R extends AskedFor = Returns>(
    body: Omit<BodyOf<'createAgent'>, 'returns'> & { returns?: R | null },
    o?: RequestOptions,
  ): Promise<AgentOf<R>> =>
    ask('createAgent', { ...o, body: body as BodyOf<'createAgent'> }) as Promise<unknown> as Promise<
      AgentOf<R>
    >,
  /** Newest first; archived ones only with `include_archived`. */
  list: (query?: QueryOf<'listAgents'>, o?: RequestOptions) =>
    list<AgentSummary, 'listAgents'>('listAgents', query, o),
  get: (id: string, o?: RequestOptions) => ask('getAgent', { ...o, params: { id } }),
  /**
   * Null clears a field that may be null.
   * @param o.ifUpdatedAt the `updated_at` that the change was made on: one that was overtaken is refused
   * @throws OffhookError `changed_meanwhile` (412) then; without it the later change stands
   */
  update: (
    id: string,
    body: BodyOf<'updateAgent'>,
    { ifUpdatedAt, ...o }: RequestOptions & { ifUpdatedAt?: string | undefined } = {},
  ) =>
    ask('updateAgent', {
      ...o,
      ...(ifUpdatedAt === undefined ? {} : { headers: { ...o.headers, 'if-match': `"${ifUpdatedAt}"` } }),
      params: { id },
      body,
    }),
  /** Detaches its numbers; live calls go on. */
  archive: (id: string, o?: RequestOptions) => ask('archiveAgent', { ...o, params: { id } }),
  attachNumber: (id: string, body: BodyOf<'attachNumber'>, o?: RequestOptions) =>
    ask('attachNumber', { ...o, params: { id }, body }),
  detachNumber: (id: string, numberId: string, o?: RequestOptions) =>
    ask('detachNumber', { ...o, params: { id, number_id: numberId } }),
  setPrimaryNumber: (id: string, body: BodyOf<'setPrimaryNumber'>, o?: RequestOptions) =>
    ask('setPrimaryNumber', { ...o, params: { id }, body }),
});

const modelsOf = ({ ask }: Requests) => ({
  /** What an agent's `model` may name, the default first. */
  list: async (o?: RequestOptions): Promise<SpeechModel[]> => (await ask('listModels', o)).data,
});

const numbersOf = ({ ask, list }: Requests) => ({
  list: (query?: QueryOf<'listNumbers'>, o?: RequestOptions) =>
    list<PhoneNumber, 'listNumbers'>('listNumbers', query, o),
  /** A number by its id, out of the list: there is no request for one alone. Undefined when there is none. */
  async get(id: string, o?: RequestOptions): Promise<PhoneNumber | undefined> {
    for await (const number of list<PhoneNumber, 'listNumbers'>('listNumbers', { limit: 100 }, o)) {
      if (number.id === id) return number;
    }
    return undefined;
  },
  /** What the carrier sells. */
  available: async (query?: QueryOf<'searchNumbers'>, o?: RequestOptions): Promise<AvailableNumber[]> =>
    (await ask('searchNumbers', { ...o, query })).data,
  /** Buys it: costs money each month. */
  purchase: (body: BodyOf<'purchaseNumber'>, o?: RequestOptions) => ask('purchaseNumber', { ...o, body }),
  /** Gives it back to the carrier, for good. */
  release: (id: string, o?: RequestOptions) => ask('releaseNumber', { ...o, params: { id } }),
});

/** A new call, which knows what it brings back where its body, or the id of its agent, says so. */
interface CreateCall {
  <R>(body: BodyOf<'createCall'> & { agent_id: IdOf<R> }, o?: RequestOptions): Promise<CallOf<R>>;
  <const R extends AskedFor>(body: PromptCallOf<R>, o?: RequestOptions): Promise<CallOf<R>>;
  (body: BodyOf<'createCall'>, o?: RequestOptions): Promise<Call>;
}

interface WaitForCall {
  <R>(id: IdOf<R>, o?: WaitOptions): Promise<CallOf<R>>;
  (id: string, o?: WaitOptions): Promise<Call>;
}

const callsOf = ({ ask, list }: Requests) => ({
  /** Places a call now. A repeat with the same `idempotencyKey` never dials twice. */
  create: ((body: BodyOf<'createCall'>, o?: RequestOptions) =>
    ask('createCall', { ...o, body })) as CreateCall,
  list: (query?: QueryOf<'listCalls'>, o?: RequestOptions) => list<Call, 'listCalls'>('listCalls', query, o),
  /** All calls that fit, as CSV: a `Response`, made while its `body` is read. */
  exportCsv: (query?: QueryOf<'exportCalls'>, o?: RequestOptions): Promise<Response> =>
    ask('exportCalls', { ...o, query }),
  get: (id: string, o?: RequestOptions) => ask('getCall', { ...o, params: { id } }),
  /** The words so far of a live call, all of them of one that has ended. */
  transcript: (id: string, o?: RequestOptions) => ask('getTranscript', { ...o, params: { id } }),
  /** Where the time of each answer went, and who interrupted whom. */
  turns: (id: string, o?: RequestOptions) => ask('getTurns', { ...o, params: { id } }),
  /** Its events, each with its deliveries. */
  events: (id: string, o?: RequestOptions) => ask('listCallEvents', { ...o, params: { id } }),
  /** The WAV as a `Response`: read its `body`, `blob()` or `arrayBuffer()`. Stereo and 8 kHz, but for `channels` and `rate`. */
  recording: (
    id: string,
    { channels, rate, ...o }: RequestOptions & QueryOf<'getRecording'> = {},
  ): Promise<Response> =>
    ask('getRecording', {
      ...o,
      params: { id },
      query: { ...(channels === undefined ? {} : { channels }), ...(rate === undefined ? {} : { rate }) },
    }),
  /** Ends a call that has not been answered. */
  cancel: (id: string, o?: RequestOptions) => ask('cancelCall', { ...o, params: { id } }),
  /** Ends a live call. */
  hangup: (id: string, o?: RequestOptions) => ask('hangUpCall', { ...o, params: { id } }),
  /**
   * Waits for a call's end, and for its result.
   * @throws OffhookConnectionError `timeout` after `withinMs`; the call goes on. The signal's reason when it is aborted.
   */
  wait: (async (id: string, o: WaitOptions = {}): Promise<Call> => {
    const { until = 'result', onChange, withinMs, ...request } = o;
    const giveUpAt = withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + withinMs;
    let seen = '';
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LATER_LOOKS_MS, lookMs * 1.5)) {
      const call = await ask('getCall', { ...request, params: { id } });
      if (call.status !== seen) {
        seen = call.status;
        lookMs = FIRST_LOOK_MS;
        onChange?.(call);
      }
      if (hasEnded(call) && (until === 'ended' || call.result_status !== 'pending')) return call;
      if (performance.now() + lookMs > giveUpAt) {
        throw new OffhookConnectionError(
          `The call is ${call.status} after ${(withinMs ?? 0) / 1000} s; it goes on.`,
          {
            code: 'timeout',
          },
        );
      }
      await pause(lookMs, o.signal);
    }
  }) as WaitForCall,
});

const eventsOf = ({ ask, list }: Requests) => ({
  /** Newest first, over all calls. */
  list: (query?: QueryOf<'listEvents'>, o?: RequestOptions) =>
    list<Event, 'listEvents'>('listEvents', query, o),
  /**
   * Every event after `after` (default: from now on), as it happens, without a gap, until the signal is aborted.
   * What webhooks tell, for programs that none can reach.
   */
  async *follow(
    o: Omit<RequestOptions, 'idempotencyKey'> & { after?: string | undefined } = {},
  ): AsyncGenerator<Event> {
    const { after: given, ...request } = o;
    let after = given ?? (await list<Event, 'listEvents'>('listEvents', { limit: 1 }, request)).data[0]?.id;
    for (;;) {
      const { data } = await ask('followEvents', {
        ...request,
        query: { wait: FOLLOW_S, ...(after === undefined ? {} : { after }) },
      });
      for (const event of data) {
        yield event;
        after = event.id;
      }
    }
  },
});

const webhookEndpointsOf = ({ ask, list }: Requests) => ({
  /** The answer holds the secret, this once. */
  create: (body: BodyOf<'createWebhookEndpoint'>, o?: RequestOptions) =>
    ask('createWebhookEndpoint', { ...o, body }),
  list: (query?: QueryOf<'listWebhookEndpoints'>, o?: RequestOptions) =>
    list<WebhookEndpoint, 'listWebhookEndpoints'>('listWebhookEndpoints', query, o),
  get: (id: string, o?: RequestOptions) => ask('getWebhookEndpoint', { ...o, params: { id } }),
  update: (id: string, body: BodyOf<'updateWebhookEndpoint'>, o?: RequestOptions) =>
    ask('updateWebhookEndpoint', { ...o, params: { id }, body }),
  delete: (id: string, o?: RequestOptions): Promise<void> =>
    ask('deleteWebhookEndpoint', { ...o, params: { id } }),
  /** A new secret; the old one signs beside it for 24 hours. */
  rotateSecret: (id: string, o?: RequestOptions) =>
    ask('rotateWebhookEndpointSecret', { ...o, params: { id } }),
  /** Sends a test event at once; answers what came of it. */
  test: (id: string, o?: RequestOptions) => ask('testWebhookEndpoint', { ...o, params: { id } }),
  /** Sends again what was missed since a time. */
  replay: (id: string, body: BodyOf<'replayWebhookEndpoint'>, o?: RequestOptions) =>
    ask('replayWebhookEndpoint', { ...o, params: { id }, body }),
});

const webhookDeliveriesOf = ({ ask, list }: Requests) => ({
  list: (query?: QueryOf<'listWebhookDeliveries'>, o?: RequestOptions) =>
    list<WebhookDelivery, 'listWebhookDeliveries'>('listWebhookDeliveries', query, o),
  /** With every attempt. */
  get: (id: string, o?: RequestOptions) => ask('getWebhookDelivery', { ...o, params: { id } }),
  redeliver: (id: string, o?: RequestOptions) => ask('redeliverWebhook', { ...o, params: { id } }),
});

const webhookEventsOf = ({ ask }: Requests) => ({
  list: async (o?: RequestOptions) => (await ask('listWebhookEvents', o)).data,
});

const webhookSecretOf = ({ ask }: Requests) => ({
  /** What is known of the secret that signs for a `webhook_url`; not the secret itself. */
  get: (o?: RequestOptions) => ask('getWebhookSecret', o),
  rotate: (o?: RequestOptions) => ask('rotateWebhookSecret', o),
});

const alertsOf = ({ ask }: Requests) => ({
  /** What is watched, how it stands, whom that is told, and what was told. */
  get: (o?: RequestOptions) => ask('getAlerts', o),
  /** Rules by their kind; what is left out stays as it is. */
  update: (body: BodyOf<'updateAlerts'>, o?: RequestOptions) => ask('updateAlerts', { ...o, body }),
  /** Sends a test on each way that is set; answers what came of it. */
  test: (o?: RequestOptions) => ask('testAlerts', o),
});

const balanceOf = ({ ask }: Requests) => ({
  get: (o?: RequestOptions) => ask('getBalance', o),
  /** @param operatorKey the daemon's OPERATOR_KEY: an API key alone cannot lift its own limit */
  set: (body: BodyOf<'setBalance'>, operatorKey: string, o?: RequestOptions) =>
    ask('setBalance', { ...o, body, headers: { ...o?.headers, 'Operator-Key': operatorKey } }),
  /** @param operatorKey as above */
  addCredit: (body: BodyOf<'addCredit'>, operatorKey: string, o?: RequestOptions) =>
    ask('addCredit', { ...o, body, headers: { ...o?.headers, 'Operator-Key': operatorKey } }),
});

const organizationOf = ({ ask }: Requests) => ({
  /** Your own. */
  get: (o?: RequestOptions) => ask('getOrganization', o),
  /** What is said of it on calls that begin from now on. */
  update: (body: BodyOf<'updateOrganization'>, o?: RequestOptions) =>
    ask('updateOrganization', { ...o, body }),
});

const organizationsOf = ({ ask, list }: Requests) => ({
  /** With its first API key and the link to its dashboard, both told this once. @param operatorKey as above */
  create: (body: BodyOf<'createOrganization'>, operatorKey: string, o?: RequestOptions) =>
    ask('createOrganization', { ...o, body, headers: { ...o?.headers, 'Operator-Key': operatorKey } }),
  /** Every organization of the daemon. @param operatorKey as above */
  list: (query: QueryOf<'listOrganizations'>, operatorKey: string, o?: RequestOptions) =>
    list<Organization, 'listOrganizations'>('listOrganizations', query, {
      ...o,
      headers: { ...o?.headers, 'Operator-Key': operatorKey },
    }),
});

const logsOf = ({ ask }: Requests) => ({
  /** The newest lines of the daemon's log; with `after` those that came since, with `wait` as soon as there is one. */
  read: (query?: QueryOf<'readLogs'>, o?: RequestOptions) => ask('readLogs', { ...o, query }),
});

const erasuresOf = ({ ask, list }: Requests) => ({
  /**
   * Erases a call, all calls with a number, or the organization, for good. Answers the receipt, once it is done or after five
   * seconds. @param operatorKey for an organization: the daemon's OPERATOR_KEY
   */
  create: (body: BodyOf<'createErasure'>, o?: RequestOptions & { operatorKey?: string | undefined }) => {
    const { operatorKey, ...rest } = o ?? {};
    const headers = operatorKey === undefined ? {} : { 'Operator-Key': operatorKey };
    return ask('createErasure', { ...rest, body, headers: { ...rest.headers, ...headers } });
  },
  /** Newest first; those of one number, where that is given. */
  list: (query?: QueryOf<'listErasures'>, o?: RequestOptions) =>
    list<Erasure, 'listErasures'>('listErasures', query, o),
  get: (id: string, o?: RequestOptions) => ask('getErasure', { ...o, params: { id } }),
});

const legalHoldsOf = ({ ask, list }: Requests) => ({
  /** Nothing of it is erased or deleted by age until it is lifted. */
  create: (body: BodyOf<'createLegalHold'>, o?: RequestOptions) => ask('createLegalHold', { ...o, body }),
  /** Newest first, those that were lifted too; with `call_id` those in force that cover the call. */
  list: (query?: QueryOf<'listLegalHolds'>, o?: RequestOptions) =>
    list<LegalHold, 'listLegalHolds'>('listLegalHolds', query, o),
  get: (id: string, o?: RequestOptions) => ask('getLegalHold', { ...o, params: { id } }),
  lift: (id: string, o?: RequestOptions) => ask('liftLegalHold', { ...o, params: { id } }),
});

const retentionOf = ({ ask }: Requests) => ({
  get: (o?: RequestOptions) => ask('getRetention', o),
  /** Days of all agents, or with `agent_id` of one; what is left out stays as it is. */
  update: (body: BodyOf<'updateRetention'>, o?: RequestOptions) => ask('updateRetention', { ...o, body }),
  /** The default holds for the agent's calls again. */
  removeAgent: (agentId: string, o?: RequestOptions) =>
    ask('removeAgentRetention', { ...o, params: { agent_id: agentId } }),
});

const auditLogOf = ({ ask, list }: Requests) => ({
  /** Who did what, newest first; takes a key with the scope `admin`. */
  list: (query?: QueryOf<'listActions'>, o?: RequestOptions) =>
    list<Action, 'listActions'>('listActions', query, o),
  /** All that fits, as CSV: a `Response`, made while its `body` is read. */
  exportCsv: (query?: QueryOf<'exportActions'>, o?: RequestOptions): Promise<Response> =>
    ask('exportActions', { ...o, query }),
});

/**
 * A client of one daemon.
 * ```ts
 * const offhook = new Offhook({ apiKey: 'sk_…', baseUrl: 'https://calls.example.com' });
 * const call = await offhook.calls.create({ agent_id, to: '+14155550123' });
 * const { result } = await offhook.calls.wait(call.id);
 * ```
 * Methods throw `OffhookError`; what failed on its way is tried again, with an idempotency key where it must not happen twice.
 */
export class Offhook {
  readonly agents: ReturnType<typeof agentsOf>;
  readonly models: ReturnType<typeof modelsOf>;
  readonly numbers: ReturnType<typeof numbersOf>;
  readonly calls: ReturnType<typeof callsOf>;
  readonly campaigns: ReturnType<typeof campaignsOf>;
  readonly outbound: ReturnType<typeof outboundOf>;
  readonly doNotCall: ReturnType<typeof doNotCallOf>;
  readonly consents: ReturnType<typeof consentsOf>;
  readonly events: ReturnType<typeof eventsOf>;
  readonly webhookEndpoints: ReturnType<typeof webhookEndpointsOf>;
  readonly webhookDeliveries: ReturnType<typeof webhookDeliveriesOf>;
  readonly webhookEvents: ReturnType<typeof webhookEventsOf>;
  readonly webhookSecret: ReturnType<typeof webhookSecretOf>;
  readonly alerts: ReturnType<typeof alertsOf>;
  readonly balance: ReturnType<typeof balanceOf>;
  readonly organization: ReturnType<typeof organizationOf>;
  readonly organizations: ReturnType<typeof organizationsOf>;
  readonly logs: ReturnType<typeof logsOf>;
  readonly auditLog: ReturnType<typeof auditLogOf>;
  readonly webhooks: { verify: typeof verify; sign: typeof sign } = { verify, sign };
  /** How the line stands, part by part. */
  readonly health: (o?: RequestOptions) => Promise<AnswerOf<'getHealth'>>;
  readonly erasures: ReturnType<typeof erasuresOf>;
  readonly legalHolds: ReturnType<typeof legalHoldsOf>;
  readonly retention: ReturnType<typeof retentionOf>;
  /** The OpenAPI document of the daemon itself. */
  readonly openApi: (o?: RequestOptions) => Promise<AnswerOf<'getOpenApi'>>;

  constructor(options: OffhookOptions = {}) {
    const requests = requestsOf(createTransport(options));
    this.agents = agentsOf(requests);
    this.models = modelsOf(requests);
    this.numbers = numbersOf(requests);
    this.campaigns = campaignsOf(requests);
    this.calls = callsOf(requests);
    this.outbound = outboundOf(requests);
    this.doNotCall = doNotCallOf(requests);
    this.consents = consentsOf(requests);
    this.events = eventsOf(requests);
    this.webhookEndpoints = webhookEndpointsOf(requests);
    this.webhookDeliveries = webhookDeliveriesOf(requests);
    this.webhookEvents = webhookEventsOf(requests);
    this.webhookSecret = webhookSecretOf(requests);
    this.alerts = alertsOf(requests);
    this.balance = balanceOf(requests);
    this.organization = organizationOf(requests);
    this.organizations = organizationsOf(requests);
    this.health = (o) => requests.ask('getHealth', o);
    this.logs = logsOf(requests);
    this.erasures = erasuresOf(requests);
    this.legalHolds = legalHoldsOf(requests);
    this.retention = retentionOf(requests);
    this.auditLog = auditLogOf(requests);
    this.openApi = (o) => requests.ask('getOpenApi', o);
  }
}
