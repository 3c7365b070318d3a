// Made by `npm run sdk:types` from the OpenAPI document: not to be edited by hand.

/**
 * A tool as requests give it.
 */
export type NewTool =
  | {
      /**
       * Calls a URL of yours.
       */
      type: 'http';
      /**
       * What the model calls it by; each name once per agent.
       */
      name: string;
      /**
       * What it does and when to use it, for the model.
       */
      description: string;
      /**
       * JSON Schema of an object: what the model fills in. No references, patterns or open objects; 8 levels, 16 KB at most.
       */
      parameters?: {
        [k: string]: unknown;
      };
      /**
       * Where the arguments go: in the query string of GET and DELETE, else as the JSON body. Fixed: no placeholders.
       */
      url: string;
      /**
       * HTTP method.
       */
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      /**
       * Sent as they are; the model never sees them. Offhook-Call-Id, Offhook-Direction, Offhook-Caller (the other side, where it is a number) and Idempotency-Key (another one for each use) are sent beside them. 20 at most. Values are stored encrypted and shown as `********`; one that is given back so keeps what it was, while the URL keeps scheme, host and port.
       */
      headers?: {
        [k: string]: string;
      };
      /**
       * Milliseconds until it is given up; the agent is told.
       */
      timeout_ms?: number;
      /**
       * A line the agent says before the tool runs.
       */
      speak_first?: string;
    }
  | {
      /**
       * Hangs up. Always there, named or not.
       */
      type: 'end_call';
    }
  | {
      /**
       * Hands the call over to a number of yours.
       */
      type: 'transfer_call';
      /**
       * Whom the model may choose from.
       */
      targets: {
        /**
         * What the model calls it by.
         */
        name: string;
        /**
         * Where the call goes, E.164; the model never sees it.
         */
        number: string;
      }[];
    }
  | {
      /**
       * Presses keys of the phone, for voice menus.
       */
      type: 'send_dtmf';
    };
/**
 * A tool as answers show it, with its defaults.
 */
export type Tool =
  | {
      /**
       * Calls a URL of yours.
       */
      type: 'http';
      /**
       * What the model calls it by; each name once per agent.
       */
      name: string;
      /**
       * What it does and when to use it, for the model.
       */
      description: string;
      /**
       * JSON Schema of an object: what the model fills in. No references, patterns or open objects; 8 levels, 16 KB at most.
       */
      parameters: {
        [k: string]: unknown;
      };
      /**
       * Where the arguments go: in the query string of GET and DELETE, else as the JSON body. Fixed: no placeholders.
       */
      url: string;
      /**
       * HTTP method.
       */
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      /**
       * Sent as they are; the model never sees them. Offhook-Call-Id, Offhook-Direction, Offhook-Caller (the other side, where it is a number) and Idempotency-Key (another one for each use) are sent beside them. 20 at most. Values are stored encrypted and shown as `********`; one that is given back so keeps what it was, while the URL keeps scheme, host and port.
       */
      headers?: {
        [k: string]: string;
      };
      /**
       * Milliseconds until it is given up; the agent is told.
       */
      timeout_ms: number;
      /**
       * A line the agent says before the tool runs.
       */
      speak_first?: string;
    }
  | {
      /**
       * Hangs up. Always there, named or not.
       */
      type: 'end_call';
    }
  | {
      /**
       * Hands the call over to a number of yours.
       */
      type: 'transfer_call';
      /**
       * Whom the model may choose from.
       */
      targets: {
        /**
         * What the model calls it by.
         */
        name: string;
        /**
         * Where the call goes, E.164; the model never sees it.
         */
        number: string;
      }[];
    }
  | {
      /**
       * Presses keys of the phone, for voice menus.
       */
      type: 'send_dtmf';
    };

export interface Operations {
  createAgent: {
    query: {};
    body: NewAgent;
    answer: Agent;
  };
  listAgents: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only agents of this type.
       */
      type?: 'inbound' | 'outbound';
      /**
       * `true` lists archived agents too. Default: false.
       */
      include_archived?: boolean;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: AgentSummary[];
    };
  };
  getAgent: {
    query: {};
    body: undefined;
    answer: Agent;
  };
  updateAgent: {
    query: {};
    body: AgentChange;
    answer: Agent;
  };
  archiveAgent: {
    query: {};
    body: undefined;
    answer: Agent;
  };
  attachNumber: {
    query: {};
    body: NumberAttachment;
    answer: Agent;
  };
  detachNumber: {
    query: {};
    body: undefined;
    answer: Agent;
  };
  setPrimaryNumber: {
    query: {};
    body: PrimaryNumber;
    answer: Agent;
  };
  listModels: {
    query: {};
    body: undefined;
    answer: {
      /**
       * The default first, then in the order of the settings.
       */
      data: SpeechModel[];
    };
  };
  listNumbers: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: PhoneNumber[];
    };
  };
  searchNumbers: {
    query: {
      /**
       * Two-letter country code (ISO 3166-1).
       */
      country?: string;
      /**
       * Kind of number.
       */
      type?: 'local' | 'mobile' | 'toll_free' | 'national';
      /**
       * Only numbers of this area code, such as 415.
       */
      area_code?: string;
      /**
       * Digits or letters that the number holds; * stands for any digit.
       */
      contains?: string;
      /**
       * City.
       */
      locality?: string;
      /**
       * State or province, such as CA.
       */
      region?: string;
      /**
       * Only numbers of this carrier. Left out: of the first one that sells any.
       */
      carrier?: string;
      /**
       * How many items a page holds at most.
       */
      limit?: number;
    };
    body: undefined;
    answer: {
      data: AvailableNumber[];
    };
  };
  purchaseNumber: {
    query: {};
    body: NumberPurchase;
    answer: PhoneNumber;
  };
  releaseNumber: {
    query: {};
    body: undefined;
    answer: PhoneNumber;
  };
  createCall: {
    query: {};
    body: AgentCall | PromptCall;
    answer: Call;
  };
  listCalls: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only calls in this status.
       */
      status?:
        | 'queued'
        | 'initiated'
        | 'ringing'
        | 'in_progress'
        | 'completed'
        | 'no_answer'
        | 'busy'
        | 'canceled'
        | 'failed';
      /**
       * Only calls in this direction.
       */
      direction?: 'inbound' | 'outbound';
      /**
       * Only calls of this agent.
       */
      agent_id?: string;
      /**
       * Only calls to this number, E.164.
       */
      to_number?: string;
      /**
       * Only calls from this number, E.164, or from this caller as `from_number` shows it.
       */
      from_number?: string;
      /**
       * Only calls created after this time, ISO 8601.
       */
      created_after?: string;
      /**
       * Only calls created before this time, ISO 8601.
       */
      created_before?: string;
      /**
       * Only calls with this in one of their numbers (three digits or more), in the agent's name, or among the words that were said on it, by either side: all of them, the last one also as the start of a word. The newest made first. Five searches per second and organization, then 429.
       */
      search?: string;
    };
    body: undefined;
    /**
     * Newest first; the next page is in the Link header.
     */
    answer: Call[];
  };
  exportCalls: {
    query: {
      /**
       * Only calls in this status.
       */
      status?:
        | 'queued'
        | 'initiated'
        | 'ringing'
        | 'in_progress'
        | 'completed'
        | 'no_answer'
        | 'busy'
        | 'canceled'
        | 'failed';
      /**
       * Only calls in this direction.
       */
      direction?: 'inbound' | 'outbound';
      /**
       * Only calls of this agent.
       */
      agent_id?: string;
      /**
       * Only calls to this number, E.164.
       */
      to_number?: string;
      /**
       * Only calls from this number, E.164, or from this caller as `from_number` shows it.
       */
      from_number?: string;
      /**
       * Only calls created after this time, ISO 8601.
       */
      created_after?: string;
      /**
       * Only calls created before this time, ISO 8601.
       */
      created_before?: string;
      /**
       * Only calls with this in one of their numbers (three digits or more), in the agent's name, or among the words that were said on it, by either side: all of them, the last one also as the start of a word. The newest made first. Five searches per second and organization, then 429.
       */
      search?: string;
      /**
       * Which columns, in their order, with commas between: fields of a Call, `agent_name`, `cost_milli_cents`, `result.<field>` and `metadata.<field>`. Without it all of them; with `agent_id` the fields of that agent's result each in a column.
       */
      columns?: string;
      /**
       * Whether the file begins with a byte order mark, by which Excel knows UTF-8.
       */
      bom?: boolean;
    };
    body: undefined;
    answer: Response;
  };
  getCall: {
    query: {};
    body: undefined;
    answer: Call;
  };
  getTranscript: {
    query: {};
    body: undefined;
    answer: Transcript;
  };
  cancelCall: {
    query: {};
    body: undefined;
    answer: Call;
  };
  hangUpCall: {
    query: {};
    body: undefined;
    answer: Call;
  };
  getRecording: {
    query: {
      /**
       * `stereo`: the caller left, the agent right; `mono`: both in one; or one side alone.
       */
      channels?: 'stereo' | 'mono' | 'caller' | 'agent';
      /**
       * Samples a second: 8000 as on the phone, 16000 for programs that take no less.
       */
      rate?: '8000' | '16000';
    };
    body: undefined;
    answer: Response;
  };
  getTurns: {
    query: {};
    body: undefined;
    answer: CallTurns;
  };
  listCallEvents: {
    query: {};
    body: undefined;
    answer: CallEvents;
  };
  getOutboundRules: {
    query: {};
    body: undefined;
    answer: OutboundRules;
  };
  updateOutboundRules: {
    query: {};
    body: OutboundRulesChange;
    answer: OutboundRules;
  };
  checkOutbound: {
    query: {};
    body: OutboundCheck;
    answer: OutboundAnswer;
  };
  listRefusedCalls: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Refused for this.
       */
      code?:
        | 'destination_closed'
        | 'destination_not_allowed'
        | 'do_not_call'
        | 'consent_missing'
        | 'outside_calling_hours'
        | 'too_many_to_destination'
        | 'calls_per_minute'
        | 'daily_spend_reached';
    };
    body: undefined;
    answer: RefusedCalls;
  };
  listConsents: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only this number.
       */
      number?: string;
    };
    body: undefined;
    answer: Consents;
  };
  addConsents: {
    query: {};
    body: NewConsents;
    answer: Consents;
  };
  revokeConsent: {
    query: {};
    body: undefined;
    answer: Consent;
  };
  listDoNotCall: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only this number.
       */
      number?: string;
    };
    body: undefined;
    answer: DoNotCall;
  };
  addDoNotCall: {
    query: {};
    body: NewDoNotCall;
    answer: DoNotCall;
  };
  importDoNotCall: {
    query: {};
    body: string;
    answer: DoNotCallReport;
  };
  removeDoNotCall: {
    query: {};
    body: undefined;
    answer: undefined;
  };
  createCampaign: {
    query: {};
    body: NewCampaign;
    answer: Campaign;
  };
  listCampaigns: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only of this status.
       */
      status?: 'draft' | 'running' | 'paused' | 'completed' | 'stopped';
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: Campaign[];
    };
  };
  getCampaign: {
    query: {};
    body: undefined;
    answer: Campaign;
  };
  updateCampaign: {
    query: {};
    body: CampaignChange;
    answer: Campaign;
  };
  deleteCampaign: {
    query: {};
    body: undefined;
    answer: undefined;
  };
  startCampaign: {
    query: {};
    body: undefined;
    answer: Campaign;
  };
  pauseCampaign: {
    query: {};
    body: undefined;
    answer: Campaign;
  };
  resumeCampaign: {
    query: {};
    body: undefined;
    answer: Campaign;
  };
  stopCampaign: {
    query: {};
    body: undefined;
    answer: Campaign;
  };
  getCampaignReport: {
    query: {};
    body: undefined;
    answer: CampaignReport;
  };
  addContacts: {
    query: {};
    body: NewContacts;
    answer: {
      /**
       * How many were added.
       */
      added: number;
      /**
       * Those that were not, in their order.
       */
      not_taken: {
        /**
         * Its place in the request, from 0.
         */
        index: number;
        /**
         * Why it was not taken.
         */
        code: 'invalid_number' | 'invalid_priority' | 'invalid_time_zone' | 'context_too_large' | 'duplicate';
        /**
         * The same for people.
         */
        message: string;
      }[];
    };
  };
  listContacts: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only of this status.
       */
      status?: 'waiting' | 'calling' | 'done' | 'refused' | 'skipped';
      /**
       * Only with this outcome.
       */
      outcome?: string;
      /**
       * Digits of the number.
       */
      search?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: CampaignContact[];
    };
  };
  importContacts: {
    query: {
      /**
       * The column with the number. Without it: the first called to, number, phone or the like.
       */
      number_column?: string;
      /**
       * Numbers without a country code are of this country (ISO 3166).
       */
      country?: string;
      /**
       * `true`: nothing is added; the answer says what would be.
       */
      dry_run?: boolean;
    };
    body: string;
    answer: ImportReport;
  };
  getContact: {
    query: {};
    body: undefined;
    answer: CampaignContactWithCalls;
  };
  exportContacts: {
    query: {};
    body: undefined;
    answer: Response;
  };
  listEvents: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only of this call.
       */
      call_id?: string;
      /**
       * Only of this type.
       */
      type?:
        | 'call.queued'
        | 'call.ringing'
        | 'call.answered'
        | 'call.completed'
        | 'call.failed'
        | 'call.no_answer'
        | 'call.busy'
        | 'call.canceled';
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: Event[];
    };
  };
  followEvents: {
    query: {
      /**
       * The last event that was seen. Without it the answer begins with the first event there is.
       */
      after?: string;
      /**
       * Seconds to wait for the first one when there is none yet.
       */
      wait?: number;
      /**
       * How many at most.
       */
      limit?: number;
    };
    body: undefined;
    answer: {
      /**
       * Oldest first; empty when nothing has happened. Ask again after the last one.
       */
      data: Event[];
    };
  };
  listWebhookEvents: {
    query: {};
    body: undefined;
    answer: {
      /**
       * Every event type there is.
       *
       * Items: Event type.
       */
      data: (
        | 'call.queued'
        | 'call.ringing'
        | 'call.answered'
        | 'call.completed'
        | 'call.failed'
        | 'call.no_answer'
        | 'call.busy'
        | 'call.canceled'
      )[];
    };
  };
  listWebhookEndpoints: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: WebhookEndpoint[];
    };
  };
  createWebhookEndpoint: {
    query: {};
    body: NewWebhookEndpoint;
    answer: WebhookEndpointWithSecret;
  };
  getWebhookEndpoint: {
    query: {};
    body: undefined;
    answer: WebhookEndpoint;
  };
  updateWebhookEndpoint: {
    query: {};
    body: WebhookEndpointChange;
    answer: WebhookEndpoint;
  };
  deleteWebhookEndpoint: {
    query: {};
    body: undefined;
    answer: undefined;
  };
  rotateWebhookEndpointSecret: {
    query: {};
    body: undefined;
    answer: WebhookEndpointWithSecret;
  };
  testWebhookEndpoint: {
    query: {};
    body: undefined;
    answer: WebhookTest;
  };
  replayWebhookEndpoint: {
    query: {};
    body: WebhookReplay;
    answer: WebhookReplayed;
  };
  listWebhookDeliveries: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only deliveries to this endpoint.
       */
      endpoint_id?: string;
      /**
       * Only deliveries of this call.
       */
      call_id?: string;
      /**
       * Only deliveries of this event type.
       */
      event_type?:
        | 'call.queued'
        | 'call.ringing'
        | 'call.answered'
        | 'call.completed'
        | 'call.failed'
        | 'call.no_answer'
        | 'call.busy'
        | 'call.canceled';
      /**
       * Only deliveries in this status.
       */
      status?: 'pending' | 'delivered' | 'exhausted';
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: WebhookDelivery[];
    };
  };
  getWebhookDelivery: {
    query: {};
    body: undefined;
    answer: WebhookDeliveryDetail;
  };
  redeliverWebhook: {
    query: {};
    body: undefined;
    answer: WebhookDelivery;
  };
  getWebhookSecret: {
    query: {};
    body: undefined;
    answer: WebhookSecret;
  };
  rotateWebhookSecret: {
    query: {};
    body: undefined;
    answer: WebhookSecretShown;
  };
  getHealth: {
    query: {};
    body: undefined;
    answer: Health;
  };
  getAlerts: {
    query: {};
    body: undefined;
    answer: Alerts;
  };
  updateAlerts: {
    query: {};
    body: AlertsChange;
    answer: Alerts;
  };
  testAlerts: {
    query: {};
    body: undefined;
    answer: AlertTest;
  };
  getBalance: {
    query: {};
    body: undefined;
    answer: Balance;
  };
  setBalance: {
    query: {};
    body: BalanceSetting;
    answer: Balance;
  };
  addCredit: {
    query: {};
    body: Credit;
    answer: Balance;
  };
  getOrganization: {
    query: {};
    body: undefined;
    answer: OwnOrganization;
  };
  updateOrganization: {
    query: {};
    body: OrganizationChange;
    answer: OwnOrganization;
  };
  createOrganization: {
    query: {};
    body: NewOrganization;
    answer: OrganizationMade;
  };
  listOrganizations: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: Organization[];
    };
  };
  readLogs: {
    query: {
      /**
       * `next` of the answer before. Left out: the newest lines.
       */
      after?: number;
      /**
       * How many at most.
       */
      limit?: number;
      /**
       * Seconds to wait for the first one when there is none yet.
       */
      wait?: number;
      /**
       * This level and what is graver.
       */
      level?: 'debug' | 'info' | 'warn' | 'error';
      /**
       * Of this call alone.
       */
      call_id?: string;
    };
    body: undefined;
    answer: {
      /**
       * Oldest first.
       */
      data: LogLine[];
      /**
       * Give it as `after` to go on from here.
       */
      next: number;
    };
  };
  getRetention: {
    query: {};
    body: undefined;
    answer: Retention;
  };
  updateRetention: {
    query: {};
    body: RetentionChange;
    answer: Retention;
  };
  removeAgentRetention: {
    query: {};
    body: undefined;
    answer: Retention;
  };
  createErasure: {
    query: {};
    body: NewErasure;
    answer: Erasure;
  };
  listErasures: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only those of this number: whoever knows it finds its receipt, E.164.
       */
      number?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: Erasure[];
    };
  };
  getErasure: {
    query: {};
    body: undefined;
    answer: Erasure;
  };
  createLegalHold: {
    query: {};
    body: NewLegalHold;
    answer: LegalHold;
  };
  listLegalHolds: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only those in force that cover this call.
       */
      call_id?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: LegalHold[];
    };
  };
  getLegalHold: {
    query: {};
    body: undefined;
    answer: LegalHold;
  };
  liftLegalHold: {
    query: {};
    body: undefined;
    answer: LegalHold;
  };
  listActions: {
    query: {
      /**
       * How many items a page holds at most.
       */
      limit?: number;
      /**
       * Id of the last item of the page before. The Link header of a page carries it already.
       */
      starting_after?: string;
      /**
       * Only what this key or person did.
       */
      actor_id?: string;
      /**
       * Only this operation, as the reference names it: `createCall`, `signIn`.
       */
      action?: string;
      /**
       * Only what was done to this.
       */
      target_id?: string;
    };
    body: undefined;
    answer: {
      /**
       * Newest first.
       */
      data: Action[];
    };
  };
  exportActions: {
    query: {
      /**
       * Only what this key or person did.
       */
      actor_id?: string;
      /**
       * Only this operation, as the reference names it: `createCall`, `signIn`.
       */
      action?: string;
      /**
       * Only what was done to this.
       */
      target_id?: string;
    };
    body: undefined;
    answer: Response;
  };
  getOpenApi: {
    query: {};
    body: undefined;
    answer: {
      openapi: string;
    };
  };
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NewAgent".
 */
export interface NewAgent {
  /**
   * Human-readable label.
   */
  name: string;
  /**
   * `inbound` answers calls to its numbers; `outbound` is dispatched with POST /v1/calls.
   */
  type: 'inbound' | 'outbound';
  /**
   * Who the agent is and what it must not do. Null or left out: the default persona.
   */
  persona?: string | null;
  /**
   * Its task: one goal per call. An outbound call may replace it for itself.
   */
  instructions?: string | null;
  /**
   * The voice of the speech model. Default: marin.
   */
  voice?: 'alloy' | 'ash' | 'ballad' | 'coral' | 'echo' | 'sage' | 'shimmer' | 'verse' | 'marin' | 'cedar';
  /**
   * The speech model that talks, by the name the daemon knows it by: its default, or one of its `MODELS_FILE`. Null or left out: the default.
   */
  model?: string | null;
  /**
   * BCP-47 code of the language spoken. Null or left out: the greeting is in English, then the other side's language decides.
   */
  language?: string | null;
  /**
   * What to extract after each call. Null or left out: nothing is extracted.
   */
  returns?: Returns | null;
  /**
   * What the agent may do during a call, 20 at most. `end_call` is always there. The model fills the typed parameters only, never the host, the headers or fixed parts.
   */
  tools?: NewTool[] | null;
  /**
   * Receives the events of this agent's calls, signed with the organization's default secret. https only; addresses that are not public are refused.
   */
  webhook_url?: string | null;
  /**
   * What to do when a voicemail answers: `hangup` at the verdict (the default), or `leave_message` after the beep.
   */
  voicemail_action?: 'hangup' | 'leave_message';
  /**
   * Words or short phrases that stop the agent when somebody says them over its voice, even where they would count as assent: a name, “okay, doctor”. 50 at most. What means “stop” and what means “go on” is known in many languages and need not be listed. Null or left out: none.
   */
  interruption_words?: string[] | null;
  /**
   * How long it waits where the other side may not have finished: after it has asked for a number, a name, an address or a spelling, while they dictate, after an "uhm", and once their pauses have been long. `long` for callers who look things up; with `short` a slow dictation is answered in the middle. Default: `normal`.
   */
  patience?: 'short' | 'normal' | 'long';
  /**
   * How soon it answers when the other side has stopped speaking. `relaxed` leaves a quarter of a second more for an afterthought, and begins fewer answers that come to nothing; `eager` leaves a tenth of a second less, which is heard where the model is quick, and answers into pauses of half a second. Default: `normal`.
   */
  eagerness?: 'relaxed' | 'normal' | 'eager';
  /**
   * How easily it is interrupted: how much speech over its voice stops it. `easy` stops for half a second of it, and sometimes for an “okay” or a cough; `hard` goes on until somebody keeps speaking for about a second. A word that means “stop” stops it in any case. Default: `normal`.
   */
  interruption?: 'hard' | 'normal' | 'easy';
  /**
   * Whether each call is summed up when it is over, in one to three sentences and a word on how the other side was; by the extraction model, in the same request as the result, and for a little more of its tokens. Default: false.
   */
  summarize?: boolean;
  /**
   * Numbers that are not stored of what is said on its calls, but for their last four: `card` (payment cards, by length, scheme and check digit), `iban`, `ssn` (of the United States: any nine digits in a row that could be one). In transcripts, keys, results, summaries, tools’ arguments and answers, events and deliveries; written as digits, or said one digit a word in English, Spanish, German or French. Not in the recording, not in what the agent hears and its tools are sent, and not where a number is said in pieces with other words between, or as “forty-one eleven”. Default: [].
   */
  mask?: ('card' | 'iban' | 'ssn')[];
  /**
   * Whether it calls only whose consent is known (`POST /v1/consents`): `required` refuses other calls with `consent_missing`. The organization’s own rule counts beside it. Default: `none`.
   */
  consent?: 'none' | 'required';
  /**
   * What it says before all else. Null or left out: `standard` for an outbound agent (unless the daemon has `OUTBOUND_DISCLOSURE=off`), `off` for an inbound one.
   */
  disclosure?: NewDisclosure | null;
  /**
   * Numbers to attach. A number has one inbound agent at most, and any count of outbound ones.
   */
  number_ids?: string[];
  /**
   * One of `number_ids`; the first of them when left out.
   */
  primary_number_id?: string | null;
}
/**
 * What to extract from a conversation: field name -> type. Types: string, number, integer, boolean, date (YYYY-MM-DD), datetime (ISO 8601), `enum(a|b|c)`, each with `[]` for a list, or an object with `type`, `description` and `enum`. 100 fields at most. Every field of a result may come back null: not said.
 */
export interface Returns {
  [k: string]:
    | string
    | {
        /**
         * A type name, as above.
         */
        type: string;
        /**
         * What the field means, for the model that reads the transcript.
         */
        description?: string;
        /**
         * The only values there are, for the types string and enum.
         */
        enum?: string[];
      };
}
/**
 * What is said before all else, before the greeting and before a message: nothing interrupts it, and the call tells how much of it was heard. Where calls are recorded and the notice is on, that is said with it in any case.
 */
export interface NewDisclosure {
  /**
   * `standard`: that an AI calls and for whom, in our words; `custom`: `text`; `off`: nothing of the kind.
   */
  mode: 'standard' | 'custom' | 'off';
  /**
   * The line of `custom`, in the language of the calls; `{organization}` stands for the name that is spoken of yours. Null or left out with the others.
   */
  text?: string | null;
}
/**
 * How calls are to be led: who speaks, about what, with which voice, tools and numbers.
 */
export interface Agent {
  /**
   * Agent id.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * Who created it: the id of the API key, or of the operator where it was made in the dashboard. Of a key that is revoked it stays; it is never a name or an address.
   */
  user_id: string;
  /**
   * Human-readable label.
   */
  name: string;
  /**
   * `inbound` answers calls to its numbers; `outbound` is dispatched with POST /v1/calls.
   */
  type: 'inbound' | 'outbound';
  /**
   * Identity and policy. Null: the default persona.
   */
  persona: string | null;
  /**
   * Default task. Null: none of its own.
   */
  instructions: string | null;
  /**
   * Voice of the speech model.
   */
  voice: string;
  /**
   * Name of the speech model. Null: the default.
   */
  model: string | null;
  /**
   * BCP-47 code. Null: the other side's language decides, with a greeting in English.
   */
  language: string | null;
  returns: Returns;
  /**
   * What it may do during a call, defaults filled in. Null: only `end_call`.
   */
  tools: Tool[] | null;
  /**
   * Default webhook URL of its calls. Null: none.
   */
  webhook_url: string | null;
  /**
   * What to do when a voicemail answers: `hangup` at the verdict (the default), or `leave_message` after the beep.
   */
  voicemail_action: 'hangup' | 'leave_message';
  /**
   * What stops the agent when said over its voice, beside what does so in its language.
   */
  interruption_words: string[];
  /**
   * How long it waits where the other side may not have finished: after it has asked for a number, a name, an address or a spelling, while they dictate, after an "uhm", and once their pauses have been long. `long` for callers who look things up; with `short` a slow dictation is answered in the middle. Default: `normal`.
   */
  patience: 'short' | 'normal' | 'long';
  /**
   * How soon it answers when the other side has stopped speaking. `relaxed` leaves a quarter of a second more for an afterthought, and begins fewer answers that come to nothing; `eager` leaves a tenth of a second less, which is heard where the model is quick, and answers into pauses of half a second. Default: `normal`.
   */
  eagerness: 'relaxed' | 'normal' | 'eager';
  /**
   * How easily it is interrupted: how much speech over its voice stops it. `easy` stops for half a second of it, and sometimes for an “okay” or a cough; `hard` goes on until somebody keeps speaking for about a second. A word that means “stop” stops it in any case. Default: `normal`.
   */
  interruption: 'hard' | 'normal' | 'easy';
  /**
   * Whether each call is summed up when it is over, in one to three sentences and a word on how the other side was; by the extraction model, in the same request as the result, and for a little more of its tokens. Default: false.
   */
  summarize: boolean;
  /**
   * Numbers that are not stored of what is said on its calls, but for their last four: `card` (payment cards, by length, scheme and check digit), `iban`, `ssn` (of the United States: any nine digits in a row that could be one). In transcripts, keys, results, summaries, tools’ arguments and answers, events and deliveries; written as digits, or said one digit a word in English, Spanish, German or French. Not in the recording, not in what the agent hears and its tools are sent, and not where a number is said in pieces with other words between, or as “forty-one eleven”. Default: [].
   */
  mask: ('card' | 'iban' | 'ssn')[];
  /**
   * Whether it calls only whose consent is known (`POST /v1/consents`): `required` refuses other calls with `consent_missing`. The organization’s own rule counts beside it. Default: `none`.
   */
  consent: 'none' | 'required';
  disclosure: Disclosure;
  /**
   * Default caller ID of outbound calls; for an inbound agent its main number. Null: no number is attached.
   */
  primary_number_id: string | null;
  /**
   * When it was archived. Null: it is active. An archived agent can be read, not changed or used.
   */
  archived_at: string | null;
  /**
   * Creation.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
  /**
   * Every attached number, oldest attachment first.
   */
  numbers: PhoneNumber[];
}
/**
 * What is said before all else.
 */
export interface Disclosure {
  /**
   * `standard`: that an AI calls and for whom, in our words; `custom`: `text`; `off`: nothing of the kind.
   */
  mode: 'standard' | 'custom' | 'off';
  /**
   * The line of `custom`. Null with the others.
   */
  text: string | null;
}
/**
 * A phone number that the organization has bought.
 */
export interface PhoneNumber {
  /**
   * Number id.
   */
  id: string;
  /**
   * The number, E.164.
   */
  e164: string;
  /**
   * Label.
   */
  friendly_name: string;
  /**
   * Two-letter country code.
   */
  country_code: string;
  /**
   * Kind of number: local, mobile, toll_free or national.
   */
  number_type: string;
  /**
   * `active`: can be called and called from. `released`: given back, kept for the record.
   */
  status: 'active' | 'released';
  /**
   * What it costs a month, in cents.
   */
  monthly_cost_cents: number;
  /**
   * When it was bought.
   */
  purchased_at: string;
  /**
   * The carrier that it is at: calls from it go out there.
   */
  carrier: string;
  /**
   * The inbound agent that answers it. Null: calls to it are rejected.
   */
  inbound_agent_id: string | null;
  /**
   * The outbound agents that may call from it.
   */
  outbound_agent_ids: string[];
}
/**
 * An agent as lists show it: without its numbers.
 */
export interface AgentSummary {
  /**
   * Agent id.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * Who created it: the id of the API key, or of the operator where it was made in the dashboard. Of a key that is revoked it stays; it is never a name or an address.
   */
  user_id: string;
  /**
   * Human-readable label.
   */
  name: string;
  /**
   * `inbound` answers calls to its numbers; `outbound` is dispatched with POST /v1/calls.
   */
  type: 'inbound' | 'outbound';
  /**
   * Identity and policy. Null: the default persona.
   */
  persona: string | null;
  /**
   * Default task. Null: none of its own.
   */
  instructions: string | null;
  /**
   * Voice of the speech model.
   */
  voice: string;
  /**
   * Name of the speech model. Null: the default.
   */
  model: string | null;
  /**
   * BCP-47 code. Null: the other side's language decides, with a greeting in English.
   */
  language: string | null;
  returns: Returns;
  /**
   * What it may do during a call, defaults filled in. Null: only `end_call`.
   */
  tools: Tool[] | null;
  /**
   * Default webhook URL of its calls. Null: none.
   */
  webhook_url: string | null;
  /**
   * What to do when a voicemail answers: `hangup` at the verdict (the default), or `leave_message` after the beep.
   */
  voicemail_action: 'hangup' | 'leave_message';
  /**
   * What stops the agent when said over its voice, beside what does so in its language.
   */
  interruption_words: string[];
  /**
   * How long it waits where the other side may not have finished: after it has asked for a number, a name, an address or a spelling, while they dictate, after an "uhm", and once their pauses have been long. `long` for callers who look things up; with `short` a slow dictation is answered in the middle. Default: `normal`.
   */
  patience: 'short' | 'normal' | 'long';
  /**
   * How soon it answers when the other side has stopped speaking. `relaxed` leaves a quarter of a second more for an afterthought, and begins fewer answers that come to nothing; `eager` leaves a tenth of a second less, which is heard where the model is quick, and answers into pauses of half a second. Default: `normal`.
   */
  eagerness: 'relaxed' | 'normal' | 'eager';
  /**
   * How easily it is interrupted: how much speech over its voice stops it. `easy` stops for half a second of it, and sometimes for an “okay” or a cough; `hard` goes on until somebody keeps speaking for about a second. A word that means “stop” stops it in any case. Default: `normal`.
   */
  interruption: 'hard' | 'normal' | 'easy';
  /**
   * Whether each call is summed up when it is over, in one to three sentences and a word on how the other side was; by the extraction model, in the same request as the result, and for a little more of its tokens. Default: false.
   */
  summarize: boolean;
  /**
   * Numbers that are not stored of what is said on its calls, but for their last four: `card` (payment cards, by length, scheme and check digit), `iban`, `ssn` (of the United States: any nine digits in a row that could be one). In transcripts, keys, results, summaries, tools’ arguments and answers, events and deliveries; written as digits, or said one digit a word in English, Spanish, German or French. Not in the recording, not in what the agent hears and its tools are sent, and not where a number is said in pieces with other words between, or as “forty-one eleven”. Default: [].
   */
  mask: ('card' | 'iban' | 'ssn')[];
  /**
   * Whether it calls only whose consent is known (`POST /v1/consents`): `required` refuses other calls with `consent_missing`. The organization’s own rule counts beside it. Default: `none`.
   */
  consent: 'none' | 'required';
  disclosure: Disclosure;
  /**
   * Default caller ID of outbound calls; for an inbound agent its main number. Null: no number is attached.
   */
  primary_number_id: string | null;
  /**
   * When it was archived. Null: it is active. An archived agent can be read, not changed or used.
   */
  archived_at: string | null;
  /**
   * Creation.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "AgentChange".
 */
export interface AgentChange {
  /**
   * Human-readable label.
   */
  name?: string;
  /**
   * Who the agent is and what it must not do. Null or left out: the default persona.
   */
  persona?: string | null;
  /**
   * Its task: one goal per call. An outbound call may replace it for itself.
   */
  instructions?: string | null;
  /**
   * The voice of the speech model. Default: marin.
   */
  voice?: 'alloy' | 'ash' | 'ballad' | 'coral' | 'echo' | 'sage' | 'shimmer' | 'verse' | 'marin' | 'cedar';
  /**
   * The speech model that talks, by the name the daemon knows it by: its default, or one of its `MODELS_FILE`. Null or left out: the default.
   */
  model?: string | null;
  /**
   * BCP-47 code of the language spoken. Null or left out: the greeting is in English, then the other side's language decides.
   */
  language?: string | null;
  /**
   * What to extract after each call. Null or left out: nothing is extracted.
   */
  returns?: Returns | null;
  /**
   * What the agent may do during a call, 20 at most. `end_call` is always there. The model fills the typed parameters only, never the host, the headers or fixed parts.
   */
  tools?: NewTool[] | null;
  /**
   * Receives the events of this agent's calls, signed with the organization's default secret. https only; addresses that are not public are refused.
   */
  webhook_url?: string | null;
  /**
   * What to do when a voicemail answers: `hangup` at the verdict (the default), or `leave_message` after the beep.
   */
  voicemail_action?: 'hangup' | 'leave_message';
  /**
   * Words or short phrases that stop the agent when somebody says them over its voice, even where they would count as assent: a name, “okay, doctor”. 50 at most. What means “stop” and what means “go on” is known in many languages and need not be listed. Null or left out: none.
   */
  interruption_words?: string[] | null;
  /**
   * How long it waits where the other side may not have finished: after it has asked for a number, a name, an address or a spelling, while they dictate, after an "uhm", and once their pauses have been long. `long` for callers who look things up; with `short` a slow dictation is answered in the middle. Default: `normal`.
   */
  patience?: 'short' | 'normal' | 'long';
  /**
   * How soon it answers when the other side has stopped speaking. `relaxed` leaves a quarter of a second more for an afterthought, and begins fewer answers that come to nothing; `eager` leaves a tenth of a second less, which is heard where the model is quick, and answers into pauses of half a second. Default: `normal`.
   */
  eagerness?: 'relaxed' | 'normal' | 'eager';
  /**
   * How easily it is interrupted: how much speech over its voice stops it. `easy` stops for half a second of it, and sometimes for an “okay” or a cough; `hard` goes on until somebody keeps speaking for about a second. A word that means “stop” stops it in any case. Default: `normal`.
   */
  interruption?: 'hard' | 'normal' | 'easy';
  /**
   * Whether each call is summed up when it is over, in one to three sentences and a word on how the other side was; by the extraction model, in the same request as the result, and for a little more of its tokens. Default: false.
   */
  summarize?: boolean;
  /**
   * Numbers that are not stored of what is said on its calls, but for their last four: `card` (payment cards, by length, scheme and check digit), `iban`, `ssn` (of the United States: any nine digits in a row that could be one). In transcripts, keys, results, summaries, tools’ arguments and answers, events and deliveries; written as digits, or said one digit a word in English, Spanish, German or French. Not in the recording, not in what the agent hears and its tools are sent, and not where a number is said in pieces with other words between, or as “forty-one eleven”. Default: [].
   */
  mask?: ('card' | 'iban' | 'ssn')[];
  /**
   * Whether it calls only whose consent is known (`POST /v1/consents`): `required` refuses other calls with `consent_missing`. The organization’s own rule counts beside it. Default: `none`.
   */
  consent?: 'none' | 'required';
  /**
   * What it says before all else. Null or left out: `standard` for an outbound agent (unless the daemon has `OUTBOUND_DISCLOSURE=off`), `off` for an inbound one.
   */
  disclosure?: NewDisclosure | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NumberAttachment".
 */
export interface NumberAttachment {
  /**
   * An active number of the organization.
   */
  number_id: string;
  /**
   * Makes it the primary number. The first number attached becomes primary anyway.
   */
  primary?: boolean;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "PrimaryNumber".
 */
export interface PrimaryNumber {
  /**
   * A number that is attached to the agent.
   */
  number_id: string;
}
/**
 * A speech model that agents of this daemon may have.
 */
export interface SpeechModel {
  /**
   * What an agent's `model` names.
   */
  name: string;
  /**
   * It leads the calls of agents whose `model` is null. One of the list is.
   */
  is_default: boolean;
  /**
   * How it is spoken to: models of one kind have the same voices, formats and capabilities.
   */
  kind: string;
  /**
   * What its own server calls it.
   */
  model: string;
  /**
   * What an agent's `voice` is among.
   */
  voices: string[];
  /**
   * The voice of agents that name none.
   */
  default_voice: string;
  /**
   * The sound it takes and gives: a line in one of them reaches it as it is, any other converted.
   */
  audio_formats: {
    /**
     * G.711's two laws, or linear samples of 16 bits.
     */
    encoding: 'mulaw' | 'alaw' | 'pcm16';
    /**
     * Samples a second.
     */
    rate_hz: number;
  }[];
  /**
   * What it can do by itself.
   */
  capabilities: {
    /**
     * What was not heard of an interrupted answer is taken out of what the model believes it said.
     */
    truncates: boolean;
    /**
     * It speaks a given line word for word; else it is asked to.
     */
    says_lines: boolean;
    /**
     * It calls tools while it talks.
     */
    calls_tools: boolean;
  };
}
/**
 * A number that can be bought at the carrier.
 */
export interface AvailableNumber {
  /**
   * The number, E.164; POST /v1/numbers/purchase buys it.
   */
  e164: string;
  /**
   * The carrier's label.
   */
  friendly_name: string;
  /**
   * Two-letter country code.
   */
  country_code: string;
  /**
   * Kind of number.
   */
  number_type: string;
  /**
   * City. Null: the carrier does not say.
   */
  locality: string | null;
  /**
   * State or province. Null: the carrier does not say.
   */
  region: string | null;
  /**
   * What it would cost a month, in cents. Null: the carrier names no price, and it cannot be bought until the operator does.
   */
  monthly_cost_cents: number | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NumberPurchase".
 */
export interface NumberPurchase {
  /**
   * The number to buy, E.164.
   */
  e164: string;
  /**
   * Label. Left out: the carrier's.
   */
  friendly_name?: string;
  /**
   * The carrier to buy it of, as in the search. Left out: the first one that sells any.
   */
  carrier?: string;
}
/**
 * Persona, voice, model, language, returns, tools, voicemail_action, interruption_words, patience, eagerness, interruption, summarize, mask and disclosure come from the agent and are not accepted here.
 */
export interface AgentCall {
  /**
   * An outbound agent with at least one attached number.
   */
  agent_id: string;
  /**
   * Places the call though the rules of outbound calls would refuse it. For whoever may administer the organization; who it was is kept with the call, and logged.
   */
  override?: {
    /**
     * What may speak against the call: every code that does must be named, `do_not_call` too.
     *
     * Items: What speaks against a call, as the table of errors has it.
     */
    codes: (
      | 'destination_closed'
      | 'destination_not_allowed'
      | 'do_not_call'
      | 'consent_missing'
      | 'outside_calling_hours'
      | 'too_many_to_destination'
      | 'calls_per_minute'
      | 'daily_spend_reached'
    )[];
    /**
     * Why, for whoever reads it later.
     */
    reason: string;
  };
  /**
   * Whom to call, E.164.
   */
  to: string;
  /**
   * Facts the agent may use during the call: any JSON object, 64 KB at most. It is fenced off as data: the agent is told neither to obey it nor to read it out. Default: {}.
   */
  context?: {
    [k: string]: unknown;
  };
  /**
   * Yours; the agent never sees it. 50 keys at most, keys and values of 500 characters at most. Default: {}.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Caller ID: a number attached to the agent. Left out: the agent's primary number.
   */
  from_number?: string;
  /**
   * Receives this call's events in place of the agent's webhook URL. https only.
   */
  webhook_url?: string;
  /**
   * The task of this call. Replaces the agent's instructions wholly.
   */
  instructions?: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "PromptCall".
 */
export interface PromptCall {
  /**
   * Places the call though the rules of outbound calls would refuse it. For whoever may administer the organization; who it was is kept with the call, and logged.
   */
  override?: {
    /**
     * What may speak against the call: every code that does must be named, `do_not_call` too.
     *
     * Items: What speaks against a call, as the table of errors has it.
     */
    codes: (
      | 'destination_closed'
      | 'destination_not_allowed'
      | 'do_not_call'
      | 'consent_missing'
      | 'outside_calling_hours'
      | 'too_many_to_destination'
      | 'calls_per_minute'
      | 'daily_spend_reached'
    )[];
    /**
     * Why, for whoever reads it later.
     */
    reason: string;
  };
  /**
   * Whom to call, E.164.
   */
  to: string;
  /**
   * Facts the agent may use during the call: any JSON object, 64 KB at most. It is fenced off as data: the agent is told neither to obey it nor to read it out. Default: {}.
   */
  context?: {
    [k: string]: unknown;
  };
  /**
   * Yours; the agent never sees it. 50 keys at most, keys and values of 500 characters at most. Default: {}.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * Caller ID: an active number of the organization. Left out: the oldest one.
   */
  from_number?: string;
  /**
   * Receives this call's events, signed with the organization's default secret. https only.
   */
  webhook_url?: string;
  /**
   * The task of this call.
   */
  instructions: string;
  /**
   * What to extract after the call. Null or left out: nothing is extracted.
   */
  returns?: Returns | null;
  /**
   * Numbers that are not stored of what is said, as of an agent. Default: [].
   */
  mask?: ('card' | 'iban' | 'ssn')[];
  /**
   * Whether the call is summed up when it is over. Default: false.
   */
  summarize?: boolean;
  /**
   * What is said before all else. Null or left out: `standard`, unless the daemon has `OUTBOUND_DISCLOSURE=off`.
   */
  disclosure?: NewDisclosure | null;
  /**
   * Language spoken. Left out: the greeting is in English, then the other side's decides.
   */
  language?: 'en' | 'es';
}
/**
 * A phone call, past or live; also the body of every webhook. Its transcript is a resource of its own.
 */
export interface Call {
  /**
   * Call id.
   */
  id: string;
  /**
   * The agent that leads it. Null: placed by a prompt.
   */
  agent_id: string | null;
  /**
   * Who is called, E.164; of an inbound call, the number that was called.
   */
  to_number: string;
  /**
   * Caller ID, E.164; of an inbound call, who calls: a number where there is one, also out of a SIP address (`sip:+14155550123@…`); else the address (`sip:alice@pbx.example.com`, `client:alice`, the digits of an extension), without password and parameters; `anonymous` when withheld.
   */
  from_number: string;
  /**
   * `queued`: recorded, the carrier not yet asked. `initiated`: the carrier has accepted it. `ringing`. `in_progress`: answered. Then one end, for good: `completed` (a connected call that ended well), `no_answer`, `busy`, `canceled` (before it was answered) or `failed`. It never goes back.
   */
  status:
    | 'queued'
    | 'initiated'
    | 'ringing'
    | 'in_progress'
    | 'completed'
    | 'no_answer'
    | 'busy'
    | 'canceled'
    | 'failed';
  /**
   * `outbound`: placed with POST /v1/calls. `inbound`: answered by an inbound agent.
   */
  direction: 'inbound' | 'outbound';
  /**
   * The agent's persona when the call was made. Null: the default persona was used.
   */
  persona: string | null;
  /**
   * The instructions used: the call's own, else the agent's. Null: there were none.
   */
  instructions: string | null;
  /**
   * What the model was told: rendered once when the call is made, never an input.
   */
  prompt: string;
  /**
   * As it was sent with the call; {} when nothing was. Null for inbound.
   */
  context: {
    [k: string]: unknown;
  } | null;
  returns: Returns;
  /**
   * Language code; `en` where none was chosen and the other side's language decides.
   */
  language: string;
  /**
   * What was extracted: every field of `returns`, null where it was not said. Null until result_status is completed, and for good when it is failed or nothing was asked.
   */
  result: {
    [k: string]: unknown;
  } | null;
  /**
   * `pending` until the call has ended, and up to 60 s longer while a result is extracted; then `completed`, or `failed` with the reason in `result_error`. Without `returns` it ends as completed.
   */
  result_status: 'pending' | 'completed' | 'failed';
  /**
   * Why there is no result. Null unless result_status is failed.
   */
  result_error: string | null;
  /**
   * When the call was made, or came in.
   */
  created_at: string;
  /**
   * When it began to ring. Null before, and when it never did or the carrier did not say.
   */
  started_at: string | null;
  /**
   * When someone picked up. Null before, and when nobody did.
   */
  answered_at: string | null;
  /**
   * When it ended. Null while it has not. created_at, started_at, answered_at and ended_at are in this order, whoever told of them.
   */
  ended_at: string | null;
  /**
   * Whole seconds from ringing (from creation when it never rang) to the end, rounded up. Null until it has ended.
   */
  duration_seconds: number | null;
  /**
   * Connected seconds charged. Null until it has ended, and when it was never connected.
   */
  billed_duration_seconds: number | null;
  /**
   * The charge in thousandths of a cent, billed by the second. Null until it has ended, and when it was never connected.
   */
  billing_amount_milli_cents: number | null;
  /**
   * Of the credit held for it: `reserved` until it has ended, then `settled` when it was connected, `released` when not.
   */
  reservation_status: 'reserved' | 'settled' | 'released';
  /**
   * Where its events are sent besides the registered endpoints: its own URL, else the agent's. Null: nowhere.
   */
  webhook_url: string | null;
  /**
   * Of the inline delivery of call.completed: `none` until there is one, `pending` while it is tried, then `delivered` or `failed`.
   */
  webhook_status: 'none' | 'pending' | 'delivered' | 'failed';
  /**
   * Why the last attempt of that delivery failed. Null: none did.
   */
  webhook_error: string | null;
  /**
   * What failed: the carrier's own code (Twilio's are digits, such as 21211), or one of our words, such as model_unreachable; the reference lists ours under *Why calls end*. Null: nothing did.
   */
  error_code: string | null;
  /**
   * The same in words. Null: nothing failed.
   */
  error_message: string | null;
  /**
   * Why it ended, or is about to: one of our words, such as remote_hangup, agent_ended or model_failed, or what the carrier names in their place (`SIP 486`); the reference lists ours under *Why calls end*. More may be added. Null while live.
   */
  hangup_cause: string | null;
  /**
   * As it was sent with the call; {} when nothing was.
   */
  metadata: {
    [k: string]: unknown;
  };
  /**
   * Last change.
   */
  updated_at: string;
  /**
   * What it cost, estimated. Null until the call is over and all of its usage is known.
   */
  cost: CallCost | null;
  /**
   * Name of the speech model that leads it, as it was when the call was made. Null: made before names were kept.
   */
  model: string | null;
  /**
   * Times in which the line had no sound because something of ours or between us and the carrier broke, and after which the call went on; in order. Empty: none. Only the last one can be open.
   */
  gaps: CallGap[];
  /**
   * When all that told of anybody was taken out of it, by an erasure or because it was older than calls are kept. What is left counts: times, lengths, money. Both numbers are `erased`. Null: nothing was.
   */
  erased_at: string | null;
  /**
   * The campaign that it is a call of; null without one.
   */
  campaign_id: string | null;
  /**
   * The contact there.
   */
  contact_id: string | null;
  /**
   * Which call to this contact it is, from 1.
   */
  attempt: number | null;
  /**
   * By which facts an outbound call was let through; null for an inbound one, and for one made before there was a gate.
   */
  gate: {
    /**
     * When.
     */
    decided_at: string;
    /**
     * ISO 3166; null for a number of no country.
     */
    country: string | null;
    /**
     * The kind of range that the number is of, as Google’s libphonenumber knows it. `satellite`: of a satellite or another global network. `unassigned`: of a numbering plan, and no range of it is known to have the number.
     */
    kind:
      | 'fixed_line'
      | 'mobile'
      | 'fixed_line_or_mobile'
      | 'voip'
      | 'toll_free'
      | 'premium'
      | 'shared_cost'
      | 'satellite'
      | 'personal'
      | 'pager'
      | 'uan'
      | 'voicemail'
      | 'unassigned';
    /**
     * Time zones that the number may be in.
     */
    zones: string[];
    /**
     * What the clocks show where the number may be, each different time once.
     */
    local_times: {
      /**
       * A time zone, as `America/New_York`.
       */
      zone: string;
      /**
       * What its clocks show, as `2026-03-01T08:05`.
       */
      time: string;
    }[];
    /**
     * Calls to the number in the 24 hours before; null where no limit asks for it.
     */
    calls_to_destination: number | null;
    /**
     * Calls of the organization in the minute before; null where no limit asks for it.
     */
    calls_in_minute: number | null;
    /**
     * What the organization had spent in the 24 hours before; null where no limit asks for it.
     */
    spent_milli_cents: number | null;
    /**
     * The consent that it rests on, where one was needed.
     */
    consent_id: string | null;
    /**
     * What was let pass, and by whom. Null: nothing spoke against it.
     */
    overridden: {
      /**
       * Who.
       */
      by: {
        /**
         * What it is.
         */
        kind: 'key' | 'user' | 'campaign' | 'call';
        /**
         * Its id.
         */
        id: string;
        /**
         * What it is called.
         */
        name: string;
      };
      /**
       * What would have refused it.
       *
       * Items: What speaks against a call, as the table of errors has it.
       */
      codes: (
        | 'destination_closed'
        | 'destination_not_allowed'
        | 'do_not_call'
        | 'consent_missing'
        | 'outside_calling_hours'
        | 'too_many_to_destination'
        | 'calls_per_minute'
        | 'daily_spend_reached'
      )[];
      /**
       * Why.
       */
      reason: string;
    } | null;
  } | null;
  /**
   * What was to be said before all else, and how much of it was heard. Null: nothing was.
   */
  disclosure: CallDisclosure | null;
  /**
   * The other side asked not to be called again. Null: it did not.
   */
  opted_out: OptedOut | null;
  /**
   * What it was about and what came of it, in one to three sentences, in the language that was spoken. Null until the result is settled, and for good where no summary was asked for (`summarize` of the agent), nobody talked, or the model gave none.
   */
  summary: string | null;
  /**
   * How the other side was on the whole, by a model’s reading of their words. Null as `summary` is.
   */
  sentiment: ('positive' | 'neutral' | 'negative') | null;
}
/**
 * What a call cost whoever runs the service, estimated; beside the price that is charged.
 */
export interface CallCost {
  /**
   * Always true: a table of rates, not an invoice.
   */
  estimate: true;
  /**
   * The sum of the parts, in thousandths of a cent. Null when one of them is not known.
   */
  total_milli_cents: number | null;
  model: CostPart;
  transcription: CostPart;
  extraction: CostPart;
  carrier: CostPart;
  /**
   * The day of the rates, YYYY-MM-DD.
   */
  as_of: string;
}
/**
 * One part of a call's cost.
 */
export interface CostPart {
  /**
   * The model, or the carrier.
   */
  name: string;
  /**
   * Thousandths of a cent. Null: something was used whose rate is not known.
   */
  milli_cents: number | null;
  /**
   * What was used: raw counts, seconds, minutes.
   */
  used: {
    [k: string]: number;
  };
}
/**
 * A time in which the line was up and nobody carried its sound: neither side heard the other, and what was said into it is lost.
 */
export interface CallGap {
  /**
   * `stream_lost`: the media stream between the carrier and the service broke, or carried nothing any more. `thread_lost`: a part of the service broke down. `daemon_restart`: all of it did, and came back.
   */
  why: 'stream_lost' | 'thread_lost' | 'daemon_restart';
  /**
   * When the line was last heard before it.
   */
  started_at: string;
  /**
   * The same in milliseconds since the call's audio began.
   */
  from_ms: number;
  /**
   * When the line was back, likewise. Null: it is not back yet, or the call ended without it.
   */
  to_ms: number | null;
}
/**
 * The line that is said before all else. Of one that had to be begun again (for a message, or because the call was cut off) the last that was heard.
 */
export interface CallDisclosure {
  /**
   * The line, as it was to be said.
   */
  text: string;
  /**
   * The words of it that were heard, by what the carrier says it has played.
   */
  heard_text: string;
  /**
   * For so many milliseconds it was heard.
   */
  heard_ms: number;
  /**
   * When it began to be said, in milliseconds since the media stream's start. Null: it did not.
   */
  started_ms: number | null;
  /**
   * When its end was heard, or it was cut off. Null: not yet, or whoever said it has died.
   */
  ended_ms: number | null;
  /**
   * All of it was heard, word for word.
   */
  complete: boolean;
}
/**
 * The other side asked not to be called again. Its number is on the do-not-call list.
 */
export interface OptedOut {
  /**
   * When, in milliseconds since the media stream's start.
   */
  at_ms: number;
  /**
   * What was said; where the tool was used, the last words before it.
   */
  text: string;
  /**
   * `words`: they were plain; `tool`: the agent understood it so, and used the tool for it.
   */
  by: 'words' | 'tool';
}
/**
 * What was said on a call.
 */
export interface Transcript {
  /**
   * The call.
   */
  call_id: string;
  /**
   * `live` while the call lasts: more follows. `final` once it has ended.
   */
  status: 'live' | 'final';
  /**
   * In speech order.
   */
  data: TranscriptItem[];
}
/**
 * One stretch of speech, or what happened between two.
 */
export interface TranscriptItem {
  /**
   * Item id.
   */
  id: string;
  /**
   * Who: the agent, the other side, a tool that was used, or the service.
   */
  role: 'agent' | 'caller' | 'tool' | 'system';
  /**
   * What was generated, or transcribed.
   */
  text: string;
  /**
   * What the other side heard of it before it was cut; equals `text` when all was heard. Grows by words while the agent speaks.
   */
  heard_text: string;
  /**
   * Whether it was cut short.
   */
  interrupted: boolean;
  /**
   * When it began.
   */
  started_at: string;
  /**
   * The same in milliseconds since the call's audio began.
   */
  start_ms: number;
  /**
   * When it ended, likewise. Null: it goes on, or it is not known.
   */
  end_ms: number | null;
}
/**
 * How fast the agent answered on a call, and how it was interrupted.
 */
export interface CallTurns {
  /**
   * The call.
   */
  call_id: string;
  /**
   * `live` while the call lasts: more follows. `final` once it has ended.
   */
  status: 'live' | 'final';
  /**
   * Every time the agent was to speak, in order.
   */
  data: Turn[];
  /**
   * Every time the other side spoke into it, in order.
   */
  interruptions: Interruption[];
}
/**
 * The moments of one answer, in milliseconds since the call's audio began.
 */
export interface Turn {
  /**
   * Turn id.
   */
  id: string;
  /**
   * Counts the turns of the call from 1.
   */
  index: number;
  /**
   * `greeting`: the first words. `answer`: to speech, to keys pressed, or with what a tool gave. `prompt`: the agent spoke by itself, because the other side was silent or for a voicemail message.
   */
  kind: 'greeting' | 'answer' | 'prompt';
  /**
   * When the speech that it answers ended. Null: it answers none.
   */
  speech_end_ms: number | null;
  /**
   * When it was decided that the agent has to speak.
   */
  decided_ms: number;
  /**
   * When the model was asked. Before `decided_ms`: in a pause of the caller, and its answer was kept back until his turn was over. Null: it was not.
   */
  requested_ms: number | null;
  /**
   * When the model's first sound came. Null: none came.
   */
  first_model_audio_ms: number | null;
  /**
   * When the first frame of it was given to the carrier. Null: none was.
   */
  first_sent_ms: number | null;
  /**
   * When its first sound was heard, by the carrier's word. Null: nothing was heard.
   */
  first_heard_ms: number | null;
  /**
   * Whether the other side cut it short.
   */
  barged_in: boolean;
  /**
   * Answers begun in pauses of the other side before this one, and thrown away unheard because it went on. Those after the last one, because it went on or was gone, have a row of their own, in which nothing was asked or heard.
   */
  thrown_away: number;
  /**
   * What the other side waited until it heard something: from the end of its speech, for a greeting from the start of the call's audio, else from `decided_ms`. Null: nothing was heard.
   */
  latency_ms: number | null;
  parts: TurnParts;
}
/**
 * What a turn's wait was made of; where each part is known they add up to `latency_ms`.
 */
export interface TurnParts {
  /**
   * From the end of the other side's speech to the decision that it was its whole turn. Null: no speech was answered.
   */
  end_of_turn_ms: number | null;
  /**
   * From there until the model was asked: more than a moment only while its session is not there yet or another response runs.
   */
  request_ms: number | null;
  /**
   * From the request to the model's first sound, a tool that it used first included. Null: no sound came.
   */
  model_ms: number | null;
  /**
   * From there to the first frame given to the carrier. Null: none was.
   */
  send_ms: number | null;
  /**
   * From there until the carrier confirmed it as heard, to 100 ms. Null: nothing was heard.
   */
  playout_ms: number | null;
}
/**
 * The other side speaking into the agent's voice, in milliseconds since the call's audio began. A short word that was let pass at first and stopped the agent once its words were known is told twice, with the same `onset_ms`: the second holds.
 */
export interface Interruption {
  /**
   * Interruption id.
   */
  id: string;
  /**
   * When it was decided what it was.
   */
  at_ms: number;
  /**
   * When the other side's speech began. Null: not known.
   */
  onset_ms: number | null;
  /**
   * When the agent's voice was held back: lowered at first. Null: it was cut without that.
   */
  held_ms: number | null;
  /**
   * When it was paused, because the sound lasted. Null: it was only lowered, and went on being heard.
   */
  paused_ms: number | null;
  /**
   * When the last sound of the agent was played at the carrier. Null: not known.
   */
  silenced_ms: number | null;
  /**
   * True: it was no interruption (a cough, an "mhm"), and the voice went on as loud as before, where it had stopped if it had.
   */
  taken_back: boolean;
}
/**
 * What happened to a call, and who was told.
 */
export interface CallEvents {
  /**
   * The call.
   */
  call_id: string;
  /**
   * In order.
   */
  data: CallEvent[];
}
/**
 * One event of a call, with its deliveries.
 */
export interface CallEvent {
  /**
   * Event id.
   */
  id: string;
  /**
   * Event type.
   */
  type:
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled';
  /**
   * Counts the events of the call from 1, without a gap.
   */
  sequence: number;
  /**
   * When it happened.
   */
  created_at: string;
  /**
   * To whom it was sent, in the order in which they were made.
   */
  deliveries: CallEventDelivery[];
}
/**
 * An event of a call on its way to one receiver.
 */
export interface CallEventDelivery {
  /**
   * Delivery id; GET /v1/webhook_deliveries/{id} shows every attempt.
   */
  id: string;
  /**
   * The endpoint it goes to. Null: the call's own `webhook_url`.
   */
  endpoint_id: string | null;
  /**
   * Where it is sent: the URL without user, query and fragment, which may hold secrets.
   */
  receiver: string;
  /**
   * `pending`: more attempts follow. `delivered`: a 2xx came. `exhausted`: given up.
   */
  status: 'pending' | 'delivered' | 'exhausted';
  /**
   * Attempts made so far, over its whole life: sending it again does not set it back.
   */
  attempt_count: number;
  /**
   * HTTP status of the last attempt. Null: no attempt yet, or no answer came.
   */
  last_response_status: number | null;
  /**
   * As in the delivery's `last_error`. Null: nothing is wrong.
   */
  last_error: string | null;
  /**
   * When the next attempt is due. Null: none follows.
   */
  next_attempt_at: string | null;
  /**
   * When it was delivered. Null: not so far.
   */
  delivered_at: string | null;
}
/**
 * Whom an organization may call, when and how often.
 */
export interface OutboundRules {
  /**
   * Countries that may be called, beside those of the organization’s own numbers.
   */
  countries: string[];
  /**
   * What begins so may be called whatever its country. Its kind must be open all the same.
   */
  allowed_prefixes: string[];
  /**
   * What begins so is closed, whatever else allows it.
   */
  closed_prefixes: string[];
  /**
   * Kinds of ranges that are closed. By default premium, shared_cost, satellite, personal, pager, uan and voicemail.
   */
  closed_kinds: (
    | 'fixed_line'
    | 'mobile'
    | 'fixed_line_or_mobile'
    | 'voip'
    | 'toll_free'
    | 'premium'
    | 'shared_cost'
    | 'satellite'
    | 'personal'
    | 'pager'
    | 'uan'
    | 'voicemail'
    | 'unassigned'
  )[];
  /**
   * Calls to one number in 24 hours. Null: any number.
   */
  calls_per_destination_per_day: number | null;
  /**
   * Outbound calls in 60 seconds. Null: any number.
   */
  calls_per_minute: number | null;
  /**
   * What may be spent in 24 hours, in thousandths of a cent: the larger of what calls were charged and what they are estimated to have cost, and what live calls hold. Null: any amount.
   */
  spend_per_day_milli_cents: number | null;
  /**
   * When calls may be placed, by the clock where the called number is. One that may be in several time zones is called when it is within the hours in all of them. Null: at any time.
   */
  calling_hours: {
    /**
     * The first minute, `HH:MM`.
     */
    from: string;
    /**
     * The first minute that is too late; 24:00 is the end of the day.
     */
    to: string;
    /**
     * Days of the week, there.
     */
    days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  } | null;
  /**
   * `required`: only numbers with a consent are called, whatever the agent says.
   */
  consent: 'none' | 'required';
  /**
   * Countries of the organization’s active numbers: they may be called too.
   */
  number_countries: string[];
  /**
   * Which of the rules the organization has set itself; the others are the daemon’s.
   */
  own: string[];
  /**
   * Null: never changed.
   */
  updated_at: string | null;
  /**
   * Who changed them last.
   */
  updated_by: {
    /**
     * What it is.
     */
    kind: 'key' | 'user' | 'campaign' | 'call';
    /**
     * Its id.
     */
    id: string;
    /**
     * What it is called.
     */
    name: string;
  } | null;
}
/**
 * What is left out stays as it is.
 */
export interface OutboundRulesChange {
  /**
   * Countries that may be called, beside those of the organization’s own numbers.
   */
  countries?: string[];
  /**
   * What begins so may be called whatever its country. Its kind must be open all the same.
   */
  allowed_prefixes?: string[];
  /**
   * What begins so is closed, whatever else allows it.
   */
  closed_prefixes?: string[];
  /**
   * Kinds of ranges that are closed. By default premium, shared_cost, satellite, personal, pager, uan and voicemail.
   */
  closed_kinds?: (
    | 'fixed_line'
    | 'mobile'
    | 'fixed_line_or_mobile'
    | 'voip'
    | 'toll_free'
    | 'premium'
    | 'shared_cost'
    | 'satellite'
    | 'personal'
    | 'pager'
    | 'uan'
    | 'voicemail'
    | 'unassigned'
  )[];
  /**
   * Calls to one number in 24 hours. Null: any number.
   */
  calls_per_destination_per_day?: number | null;
  /**
   * Outbound calls in 60 seconds. Null: any number.
   */
  calls_per_minute?: number | null;
  /**
   * What may be spent in 24 hours, in thousandths of a cent: the larger of what calls were charged and what they are estimated to have cost, and what live calls hold. Null: any amount.
   */
  spend_per_day_milli_cents?: number | null;
  /**
   * When calls may be placed, by the clock where the called number is. One that may be in several time zones is called when it is within the hours in all of them. Null: at any time.
   */
  calling_hours?: {
    /**
     * The first minute, `HH:MM`.
     */
    from: string;
    /**
     * The first minute that is too late; 24:00 is the end of the day.
     */
    to: string;
    /**
     * Days of the week, there.
     */
    days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  } | null;
  /**
   * `required`: only numbers with a consent are called, whatever the agent says.
   */
  consent?: 'none' | 'required';
  /**
   * Rules to give up for those of the daemon’s settings.
   */
  reset?: (
    | 'countries'
    | 'allowed_prefixes'
    | 'closed_prefixes'
    | 'closed_kinds'
    | 'calls_per_destination_per_day'
    | 'calls_per_minute'
    | 'spend_per_day_milli_cents'
    | 'calling_hours'
    | 'consent'
  )[];
}
/**
 * A number to be tried without calling it.
 */
export interface OutboundCheck {
  /**
   * The number to be tried.
   */
  to: string;
  /**
   * The number it would be called from; its country may be called.
   */
  from_number?: string;
  /**
   * The agent that would call: it may need a consent.
   */
  agent_id?: string;
}
/**
 * What the gate would say of a call now.
 */
export interface OutboundAnswer {
  /**
   * The number.
   */
  to: string;
  /**
   * Whether it would be called now.
   */
  allowed: boolean;
  /**
   * ISO 3166; null for a number of no country.
   */
  country: string | null;
  /**
   * The kind of range that the number is of, as Google’s libphonenumber knows it. `satellite`: of a satellite or another global network. `unassigned`: of a numbering plan, and no range of it is known to have the number.
   */
  kind:
    | 'fixed_line'
    | 'mobile'
    | 'fixed_line_or_mobile'
    | 'voip'
    | 'toll_free'
    | 'premium'
    | 'shared_cost'
    | 'satellite'
    | 'personal'
    | 'pager'
    | 'uan'
    | 'voicemail'
    | 'unassigned';
  /**
   * Time zones that it may be in.
   */
  zones: string[];
  /**
   * What the clocks show where the number may be, each different time once.
   */
  local_times: {
    /**
     * A time zone, as `America/New_York`.
     */
    zone: string;
    /**
     * What its clocks show, as `2026-03-01T08:05`.
     */
    time: string;
  }[];
  /**
   * Everything that speaks against it, in the order in which a call would be refused.
   */
  refusals: {
    /**
     * What speaks against a call, as the table of errors has it.
     */
    code:
      | 'destination_closed'
      | 'destination_not_allowed'
      | 'do_not_call'
      | 'consent_missing'
      | 'outside_calling_hours'
      | 'too_many_to_destination'
      | 'calls_per_minute'
      | 'daily_spend_reached';
    /**
     * For people.
     */
    reason: string;
    /**
     * What the code rests on.
     */
    evidence: {
      [k: string]: unknown;
    };
    /**
     * When to ask again; null: it is not a matter of waiting.
     */
    retry_after_seconds: number | null;
  }[];
}
/**
 * Calls that were not placed.
 */
export interface RefusedCalls {
  /**
   * Newest first; the last 10,000 are kept.
   */
  data: RefusedCall[];
}
/**
 * A call that was not placed.
 */
export interface RefusedCall {
  /**
   * Id of the refusal.
   */
  id: string;
  /**
   * Whom the call was for; null once that was erased.
   */
  to_number: string | null;
  /**
   * The last four digits.
   */
  last4: string;
  /**
   * The number it would have been made from.
   */
  from_number: string | null;
  /**
   * The agent that would have called.
   */
  agent_id: string | null;
  /**
   * What speaks against a call, as the table of errors has it.
   */
  code:
    | 'destination_closed'
    | 'destination_not_allowed'
    | 'do_not_call'
    | 'consent_missing'
    | 'outside_calling_hours'
    | 'too_many_to_destination'
    | 'calls_per_minute'
    | 'daily_spend_reached';
  /**
   * For people.
   */
  reason: string;
  /**
   * What the code rests on.
   */
  evidence: {
    [k: string]: unknown;
  };
  /**
   * Everything that spoke against it.
   *
   * Items: What speaks against a call, as the table of errors has it.
   */
  codes: (
    | 'destination_closed'
    | 'destination_not_allowed'
    | 'do_not_call'
    | 'consent_missing'
    | 'outside_calling_hours'
    | 'too_many_to_destination'
    | 'calls_per_minute'
    | 'daily_spend_reached'
  )[];
  /**
   * Who asked for the call, where that is known.
   */
  asked_by: {
    /**
     * What it is.
     */
    kind: 'key' | 'user' | 'campaign' | 'call';
    /**
     * Its id.
     */
    id: string;
    /**
     * What it is called.
     */
    name: string;
  } | null;
  /**
   * When.
   */
  created_at: string;
}
/**
 * Consents to be called.
 */
export interface Consents {
  /**
   * Newest first.
   */
  data: Consent[];
}
/**
 * Somebody has agreed to be called.
 */
export interface Consent {
  /**
   * Id of the consent.
   */
  id: string;
  /**
   * The number; null once it was erased.
   */
  number: string | null;
  /**
   * The last four digits.
   */
  last4: string;
  /**
   * What for.
   */
  purpose: string;
  /**
   * How it came.
   */
  source: string;
  /**
   * When it was given.
   */
  given_at: string;
  /**
   * What shows it.
   */
  evidence: {
    [k: string]: unknown;
  } | null;
  /**
   * When it was revoked. Null: it stands.
   */
  revoked_at: string | null;
  /**
   * Who entered it.
   */
  created_by: {
    /**
     * What it is.
     */
    kind: 'key' | 'user' | 'campaign' | 'call';
    /**
     * Its id.
     */
    id: string;
    /**
     * What it is called.
     */
    name: string;
  } | null;
  /**
   * When it was entered.
   */
  created_at: string;
}
/**
 * Consents to be called.
 */
export interface NewConsents {
  /**
   * Who has agreed, E.164.
   */
  numbers: string[];
  /**
   * What for.
   */
  purpose: string;
  /**
   * How it came: a form, a contract, a call.
   */
  source: string;
  /**
   * When it was given.
   */
  given_at: string;
  /**
   * What shows it: the version of a form, an address. 8 KB at most.
   */
  evidence?: {
    [k: string]: unknown;
  } | null;
}
/**
 * Numbers that are not called.
 */
export interface DoNotCall {
  /**
   * Newest first.
   */
  data: DoNotCallEntry[];
}
/**
 * A number that is not called.
 */
export interface DoNotCallEntry {
  /**
   * Id of the entry.
   */
  id: string;
  /**
   * The number; null once it was erased: it is known by a hash and not called all the same.
   */
  number: string | null;
  /**
   * The last four digits.
   */
  last4: string;
  /**
   * Why.
   */
  reason: string | null;
  /**
   * Where it came from; `said`: on a call.
   */
  source: 'api' | 'csv' | 'said' | 'dashboard' | 'campaign';
  /**
   * The call on which it was said.
   */
  call_id: string | null;
  /**
   * The item of its transcript.
   */
  item_id: string | null;
  /**
   * When, in milliseconds since its stream began.
   */
  at_ms: number | null;
  /**
   * Who added it.
   */
  created_by: {
    /**
     * What it is.
     */
    kind: 'key' | 'user' | 'campaign' | 'call';
    /**
     * Its id.
     */
    id: string;
    /**
     * What it is called.
     */
    name: string;
  } | null;
  /**
   * Since when.
   */
  created_at: string;
}
/**
 * Numbers that are not to be called any more.
 */
export interface NewDoNotCall {
  /**
   * Whom not to call, E.164.
   */
  numbers: string[];
  /**
   * Why, for whoever reads it later.
   */
  reason?: string | null;
}
/**
 * What came of a file.
 */
export interface DoNotCallReport {
  /**
   * Lines of the file that are not blank, the names of the columns apart.
   */
  lines: number;
  /**
   * Numbers of it that are on the list now.
   */
  listed: number;
  /**
   * Lines without a number, the first 200.
   */
  refused: {
    /**
     * Where.
     */
    line: number;
    /**
     * What stands there.
     */
    text: string;
  }[];
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NewCampaign".
 */
export interface NewCampaign {
  /**
   * For people.
   */
  name: string;
  /**
   * The outbound agent that calls.
   */
  agent_id: string;
  /**
   * Calls begin at least 60 seconds divided by this apart; the default 60 is one a second, the rate of a new account at most carriers.
   */
  calls_per_minute?: number;
  /**
   * Calls of it at once, at most; default 10.
   */
  max_concurrent?: number;
  /**
   * Lines that it leaves to other calls: with no more than these free it begins none; default 2.
   */
  free_lines?: number;
  /**
   * When it calls; none: at any time that the rules of outbound calls allow.
   */
  windows?: {
    /**
     * Days of the week.
     */
    days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
    /**
     * The first minute of it, `HH:MM`, local.
     */
    from: string;
    /**
     * The first minute that is no longer of it, `HH:MM`; 24:00 is the end of the day.
     */
    to: string;
  }[];
  /**
   * The campaign's own zone; default UTC.
   */
  time_zone?: string;
  /**
   * In whose zone the windows hold: `contact` (the default): in every zone that the contact's number may be in; `campaign`: in its own; `both`: in all of these at once.
   */
  window_zone?: 'contact' | 'campaign' | 'both';
  /**
   * Calls to one contact in all, whatever their outcomes; default 3.
   */
  max_attempts?: number;
  /**
   * A number attached to the agent that it calls from. Null: its primary number.
   */
  from_number?: string | null;
  /**
   * When a contact is called again, by the outcome; those that are not named stay as they are.
   */
  retries?: {
    /**
     * The line was busy.
     */
    busy?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * Nobody answered.
     */
    no_answer?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * A voicemail or another machine answered.
     */
    voicemail?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The conversation was cut: by a fault, or because something ran out.
     */
    cut?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The call could not be connected.
     */
    failed?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
  };
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "Campaign".
 */
export interface Campaign {
  /**
   * Campaign id.
   */
  id: string;
  /**
   * For people.
   */
  name: string;
  /**
   * The outbound agent that calls.
   */
  agent_id: string;
  /**
   * A number attached to the agent that it calls from. Null: its primary number.
   */
  from_number: string | null;
  /**
   * Calls begin at least 60 seconds divided by this apart; the default 60 is one a second, the rate of a new account at most carriers.
   */
  calls_per_minute: number;
  /**
   * Calls of it at once, at most; default 10.
   */
  max_concurrent: number;
  /**
   * Lines that it leaves to other calls: with no more than these free it begins none; default 2.
   */
  free_lines: number;
  /**
   * When it calls; none: at any time that the rules of outbound calls allow.
   */
  windows: {
    /**
     * Days of the week.
     */
    days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
    /**
     * The first minute of it, `HH:MM`, local.
     */
    from: string;
    /**
     * The first minute that is no longer of it, `HH:MM`; 24:00 is the end of the day.
     */
    to: string;
  }[];
  /**
   * The campaign's own zone; default UTC.
   */
  time_zone: string;
  /**
   * In whose zone the windows hold: `contact` (the default): in every zone that the contact's number may be in; `campaign`: in its own; `both`: in all of these at once.
   */
  window_zone: 'contact' | 'campaign' | 'both';
  /**
   * Calls to one contact in all, whatever their outcomes; default 3.
   */
  max_attempts: number;
  /**
   * `draft`: never started. `running`. `paused`: calls go on, none begins. `completed`: every contact has its outcome. `stopped`: whoever waited was skipped.
   */
  status: 'draft' | 'running' | 'paused' | 'completed' | 'stopped';
  /**
   * Why it was paused by itself: an error code and what it means; null where it was not.
   */
  status_reason: string | null;
  /**
   * When a contact is called again, by the outcome.
   */
  retries: {
    /**
     * The line was busy.
     */
    busy: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * Nobody answered.
     */
    no_answer: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * A voicemail or another machine answered.
     */
    voicemail: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The conversation was cut: by a fault, or because something ran out.
     */
    cut: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The call could not be connected.
     */
    failed: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
  };
  /**
   * Why no call is begun for a while; null: nothing is in the way.
   */
  held: {
    /**
     * The error code that stands in the way.
     */
    code: string;
    /**
     * When it goes on by itself.
     */
    until: string;
  } | null;
  contacts: ContactCounts;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  /**
   * When it was first started.
   */
  started_at: string | null;
  /**
   * When it was completed or stopped.
   */
  ended_at: string | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "ContactCounts".
 */
export interface ContactCounts {
  /**
   * All of them.
   */
  total: number;
  /**
   * To be called, now or later.
   */
  waiting: number;
  /**
   * On a call.
   */
  calling: number;
  /**
   * With an outcome.
   */
  done: number;
  /**
   * Not called, by a rule of outbound calls.
   */
  refused: number;
  /**
   * Not called, because the campaign was stopped.
   */
  skipped: number;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "CampaignChange".
 */
export interface CampaignChange {
  /**
   * For people.
   */
  name?: string;
  /**
   * The outbound agent that calls.
   */
  agent_id?: string;
  /**
   * Calls begin at least 60 seconds divided by this apart; the default 60 is one a second, the rate of a new account at most carriers.
   */
  calls_per_minute?: number;
  /**
   * Calls of it at once, at most; default 10.
   */
  max_concurrent?: number;
  /**
   * Lines that it leaves to other calls: with no more than these free it begins none; default 2.
   */
  free_lines?: number;
  /**
   * When it calls; none: at any time that the rules of outbound calls allow.
   */
  windows?: {
    /**
     * Days of the week.
     */
    days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
    /**
     * The first minute of it, `HH:MM`, local.
     */
    from: string;
    /**
     * The first minute that is no longer of it, `HH:MM`; 24:00 is the end of the day.
     */
    to: string;
  }[];
  /**
   * The campaign's own zone; default UTC.
   */
  time_zone?: string;
  /**
   * In whose zone the windows hold: `contact` (the default): in every zone that the contact's number may be in; `campaign`: in its own; `both`: in all of these at once.
   */
  window_zone?: 'contact' | 'campaign' | 'both';
  /**
   * Calls to one contact in all, whatever their outcomes; default 3.
   */
  max_attempts?: number;
  /**
   * A number attached to the agent that it calls from. Null: its primary number.
   */
  from_number?: string | null;
  /**
   * When a contact is called again, by the outcome; those that are not named stay as they are.
   */
  retries?: {
    /**
     * The line was busy.
     */
    busy?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * Nobody answered.
     */
    no_answer?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * A voicemail or another machine answered.
     */
    voicemail?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The conversation was cut: by a fault, or because something ran out.
     */
    cut?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
    /**
     * The call could not be connected.
     */
    failed?: {
      /**
       * How often a contact is called again after this outcome.
       */
      times: number;
      /**
       * How much later, in minutes.
       */
      after_minutes: number;
    };
  };
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "CampaignReport".
 */
export interface CampaignReport {
  /**
   * The campaign.
   */
  campaign_id: string;
  contacts: ContactCounts;
  /**
   * Contacts by their final outcome.
   */
  outcomes: {
    [k: string]: number;
  };
  /**
   * Calls, retries among them.
   */
  attempts: {
    /**
     * Calls that have ended.
     */
    total: number;
    /**
     * The same by outcome.
     */
    by_outcome: {
      [k: string]: number;
    };
  };
  /**
   * Hours in which calls ended, in order.
   */
  hours: {
    /**
     * Its beginning.
     */
    hour: string;
    /**
     * Calls that ended in it.
     */
    by_outcome: {
      [k: string]: number;
    };
  }[];
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NewContacts".
 */
export interface NewContacts {
  /**
   * Whom to call.
   */
  contacts: {
    /**
     * His number with its country code; spaces and the like are taken out.
     */
    to: string;
    /**
     * What the agent is told of this one; 16 KB of JSON at most.
     */
    context?: {
      [k: string]: unknown;
    };
    /**
     * When he is called, among the others: 9 first, 0 last; default 0.
     */
    priority?: number;
    /**
     * His zone, where it is known better than by his number.
     */
    time_zone?: string;
  }[];
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "CampaignContact".
 */
export interface CampaignContact {
  /**
   * Contact id.
   */
  id: string;
  /**
   * The campaign.
   */
  campaign_id: string;
  /**
   * His number, E.164; where it was erased, what stands in its place is none.
   */
  to_number: string;
  /**
   * What the agent is told.
   */
  context: {
    [k: string]: unknown;
  };
  /**
   * When he is called, among the others: 9 first, 0 last.
   */
  priority: number;
  /**
   * The zones that he may be in.
   */
  time_zones: string[];
  /**
   * `waiting`: to be called, now or later. `calling`. `done`: with an outcome. `refused`: not called, by a rule. `skipped`: the campaign was stopped first.
   */
  status: 'waiting' | 'calling' | 'done' | 'refused' | 'skipped';
  /**
   * Once it is known: answered, voicemail, busy, no_answer, failed, cut, canceled, opted_out, `refused:` and an error code, or skipped.
   */
  outcome: string | null;
  /**
   * Calls made.
   */
  attempts: number;
  /**
   * When he is called again at the earliest; null: at once, or not.
   */
  next_attempt_at: string | null;
  /**
   * What `next_attempt_at` comes from: the wait after an outcome, the windows, or the rules of outbound calls.
   */
  waits_for: ('retry' | 'window' | 'gate') | null;
  /**
   * The last call to him.
   */
  last_call_id: string | null;
  /**
   * What that call brought, by the agent's `returns`.
   */
  result: {
    [k: string]: unknown;
  } | null;
  /**
   * Whether it did; null without a call.
   */
  result_status: ('pending' | 'completed' | 'failed') | null;
  /**
   * When he was added.
   */
  created_at: string;
  /**
   * When he was last changed.
   */
  updated_at: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "ImportReport".
 */
export interface ImportReport {
  /**
   * Lines with a contact, the first one with the names not among them.
   */
  lines: number;
  /**
   * Contacts added; with `dry_run`, that would be, but for those that it has already.
   */
  added: number;
  /**
   * Numbers that the file has twice, or the campaign had already.
   */
  duplicates: number;
  /**
   * Lines that are no contact.
   */
  refused: number;
  /**
   * The first 200 lines that were not taken.
   */
  not_taken: {
    /**
     * As the file counts, from 1.
     */
    line: number;
    /**
     * Why it was not taken.
     */
    code: 'invalid_number' | 'invalid_priority' | 'invalid_time_zone' | 'context_too_large' | 'duplicate';
    /**
     * The same for people.
     */
    message: string;
  }[];
  /**
   * The column that the numbers were read from.
   */
  number_column: string;
  /**
   * The columns that the agent is told.
   */
  context_columns: string[];
  /**
   * The first five as they were read.
   */
  preview: {
    /**
     * The number as it will be called.
     */
    to_number: string;
    /**
     * What the agent is told.
     */
    context: {
      [k: string]: unknown;
    };
    /**
     * When he is called, among the others: 9 first, 0 last.
     */
    priority: number;
    /**
     * The zones that he may be in.
     */
    time_zones: string[];
  }[];
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "CampaignContactWithCalls".
 */
export interface CampaignContactWithCalls {
  /**
   * Contact id.
   */
  id: string;
  /**
   * The campaign.
   */
  campaign_id: string;
  /**
   * His number, E.164; where it was erased, what stands in its place is none.
   */
  to_number: string;
  /**
   * What the agent is told.
   */
  context: {
    [k: string]: unknown;
  };
  /**
   * When he is called, among the others: 9 first, 0 last.
   */
  priority: number;
  /**
   * The zones that he may be in.
   */
  time_zones: string[];
  /**
   * `waiting`: to be called, now or later. `calling`. `done`: with an outcome. `refused`: not called, by a rule. `skipped`: the campaign was stopped first.
   */
  status: 'waiting' | 'calling' | 'done' | 'refused' | 'skipped';
  /**
   * Once it is known: answered, voicemail, busy, no_answer, failed, cut, canceled, opted_out, `refused:` and an error code, or skipped.
   */
  outcome: string | null;
  /**
   * Calls made.
   */
  attempts: number;
  /**
   * When he is called again at the earliest; null: at once, or not.
   */
  next_attempt_at: string | null;
  /**
   * What `next_attempt_at` comes from: the wait after an outcome, the windows, or the rules of outbound calls.
   */
  waits_for: ('retry' | 'window' | 'gate') | null;
  /**
   * The last call to him.
   */
  last_call_id: string | null;
  /**
   * What that call brought, by the agent's `returns`.
   */
  result: {
    [k: string]: unknown;
  } | null;
  /**
   * Whether it did; null without a call.
   */
  result_status: ('pending' | 'completed' | 'failed') | null;
  /**
   * When he was added.
   */
  created_at: string;
  /**
   * When he was last changed.
   */
  updated_at: string;
  /**
   * Every attempt, in order.
   */
  calls: {
    /**
     * Counts from 1.
     */
    attempt: number;
    /**
     * The call.
     */
    call_id: string;
    /**
     * When it was begun.
     */
    started_at: string;
    /**
     * When it ended.
     */
    ended_at: string | null;
    /**
     * How it ended; null while it lasts.
     */
    outcome: string | null;
  }[];
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "Event".
 */
export interface Event {
  /**
   * Event id.
   */
  id: string;
  /**
   * Event type.
   */
  type:
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled';
  /**
   * Counts the events of its call from 1, without a gap.
   */
  sequence: number;
  /**
   * The call it tells of.
   */
  call_id: string;
  /**
   * When it happened.
   */
  created_at: string;
  call: Call;
}
/**
 * A receiver of the events of all of the organization's calls.
 */
export interface WebhookEndpoint {
  /**
   * Endpoint id.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * Where events are sent.
   */
  url: string;
  /**
   * A note for people. Null: none.
   */
  description: string | null;
  /**
   * Event types that are sent; `*` stands for every one.
   */
  enabled_events: string[];
  /**
   * Nothing is sent to a disabled endpoint; what it misses is listed.
   */
  status: 'enabled' | 'disabled';
  /**
   * `too_many_failures` after 10 deliveries in a row were exhausted, `manual` when set by PATCH. Null while enabled.
   */
  disabled_reason: string | null;
  /**
   * Since when it is disabled. Null while enabled.
   */
  disabled_at: string | null;
  /**
   * Exhausted deliveries in a row. A delivery that succeeds, or enabling, sets it to 0.
   */
  consecutive_failures: number;
  /**
   * Creation.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "NewWebhookEndpoint".
 */
export interface NewWebhookEndpoint {
  /**
   * Where to send events. https only; addresses that are not public are refused.
   */
  url: string;
  /**
   * A note for people. Null: none.
   */
  description?: string | null;
  /**
   * Event types to be sent; `*` stands for every one, also future ones. Default: ["*"].
   */
  enabled_events?: (
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled'
    | '*'
  )[];
}
/**
 * A webhook endpoint with the secret that was just made for it.
 */
export interface WebhookEndpointWithSecret {
  /**
   * Endpoint id.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * Where events are sent.
   */
  url: string;
  /**
   * A note for people. Null: none.
   */
  description: string | null;
  /**
   * Event types that are sent; `*` stands for every one.
   */
  enabled_events: string[];
  /**
   * Nothing is sent to a disabled endpoint; what it misses is listed.
   */
  status: 'enabled' | 'disabled';
  /**
   * `too_many_failures` after 10 deliveries in a row were exhausted, `manual` when set by PATCH. Null while enabled.
   */
  disabled_reason: string | null;
  /**
   * Since when it is disabled. Null while enabled.
   */
  disabled_at: string | null;
  /**
   * Exhausted deliveries in a row. A delivery that succeeds, or enabling, sets it to 0.
   */
  consecutive_failures: number;
  /**
   * Creation.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
  /**
   * Signing secret, `whsec_` and base64. Shown in this answer and never again: keep it.
   */
  secret: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "WebhookEndpointChange".
 */
export interface WebhookEndpointChange {
  /**
   * Where to send events. https only; addresses that are not public are refused.
   */
  url?: string;
  /**
   * A note for people. Null: none.
   */
  description?: string | null;
  /**
   * Event types to be sent; `*` stands for every one.
   */
  enabled_events?: (
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled'
    | '*'
  )[];
  /**
   * `disabled` stops deliveries and keeps the endpoint; `enabled` clears its count of failures.
   */
  status?: 'enabled' | 'disabled';
}
/**
 * What came of a test event.
 */
export interface WebhookTest {
  /**
   * `delivered`: a 2xx came within 15 s.
   */
  status: 'delivered' | 'failed';
  /**
   * HTTP status. Null: no answer came.
   */
  status_code: number | null;
  /**
   * Milliseconds until it was over.
   */
  latency_ms: number;
  /**
   * What went wrong, by the names of a delivery's `last_error`. Null: nothing.
   */
  error: string | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "WebhookReplay".
 */
export interface WebhookReplay {
  /**
   * Deliveries of events from this time on, ISO 8601.
   */
  since: string;
  /**
   * And before this time. Default: now.
   */
  until?: string;
  /**
   * `failed`: those that were given up, and those that the endpoint missed while it was disabled. `all`: those that were delivered too.
   */
  only?: 'failed' | 'all';
}
/**
 * How much is sent again.
 */
export interface WebhookReplayed {
  /**
   * Deliveries that were queued again.
   */
  count: number;
}
/**
 * One event on its way to one receiver.
 */
export interface WebhookDelivery {
  /**
   * Sent as Service-Event-Id and webhook-id, the same on every attempt: drop what you have seen.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * The endpoint it goes to. Null: an inline delivery to the call's `webhook_url`, signed with the organization's default secret.
   */
  endpoint_id: string | null;
  /**
   * The call it tells of.
   */
  call_id: string | null;
  /**
   * Event type.
   */
  event_type:
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled';
  /**
   * Where it is sent.
   */
  url: string;
  /**
   * `pending`: more attempts follow, or wait until its disabled endpoint is enabled. `delivered`: a 2xx came within 15 s. `exhausted`: given up.
   */
  status: 'pending' | 'delivered' | 'exhausted';
  /**
   * Attempts made so far, over its whole life: sending it again does not set it back.
   */
  attempt_count: number;
  /**
   * How often it was sent again by hand.
   */
  manual_retry_count: number;
  /**
   * When the next attempt is due; in the past while the endpoint is disabled, and means nothing once it is no longer pending.
   */
  next_attempt_at: string;
  /**
   * Of the last attempt: timeout, connection_failed, dns_error, tls_error, protocol_error, blocked_address, redirect_not_followed or http_status_<n>; without one: endpoint_disabled or endpoint_deleted. Null: no attempt yet, or it went well.
   */
  last_error: string | null;
  /**
   * HTTP status of the last attempt. Null: no attempt yet, or no answer came.
   */
  last_response_status: number | null;
  /**
   * When it was delivered. Null: not so far.
   */
  delivered_at: string | null;
  /**
   * When the event happened.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
}
/**
 * A webhook delivery with its attempts.
 */
export interface WebhookDeliveryDetail {
  /**
   * Sent as Service-Event-Id and webhook-id, the same on every attempt: drop what you have seen.
   */
  id: string;
  /**
   * The organization it belongs to.
   */
  org_id: string;
  /**
   * The endpoint it goes to. Null: an inline delivery to the call's `webhook_url`, signed with the organization's default secret.
   */
  endpoint_id: string | null;
  /**
   * The call it tells of.
   */
  call_id: string | null;
  /**
   * Event type.
   */
  event_type:
    | 'call.queued'
    | 'call.ringing'
    | 'call.answered'
    | 'call.completed'
    | 'call.failed'
    | 'call.no_answer'
    | 'call.busy'
    | 'call.canceled';
  /**
   * Where it is sent.
   */
  url: string;
  /**
   * `pending`: more attempts follow, or wait until its disabled endpoint is enabled. `delivered`: a 2xx came within 15 s. `exhausted`: given up.
   */
  status: 'pending' | 'delivered' | 'exhausted';
  /**
   * Attempts made so far, over its whole life: sending it again does not set it back.
   */
  attempt_count: number;
  /**
   * How often it was sent again by hand.
   */
  manual_retry_count: number;
  /**
   * When the next attempt is due; in the past while the endpoint is disabled, and means nothing once it is no longer pending.
   */
  next_attempt_at: string;
  /**
   * Of the last attempt: timeout, connection_failed, dns_error, tls_error, protocol_error, blocked_address, redirect_not_followed or http_status_<n>; without one: endpoint_disabled or endpoint_deleted. Null: no attempt yet, or it went well.
   */
  last_error: string | null;
  /**
   * HTTP status of the last attempt. Null: no attempt yet, or no answer came.
   */
  last_response_status: number | null;
  /**
   * When it was delivered. Null: not so far.
   */
  delivered_at: string | null;
  /**
   * When the event happened.
   */
  created_at: string;
  /**
   * Last change.
   */
  updated_at: string;
  /**
   * Every attempt, in order.
   */
  attempts: WebhookAttempt[];
}
/**
 * One attempt of a delivery.
 */
export interface WebhookAttempt {
  /**
   * Attempt id.
   */
  id: string;
  /**
   * Counts from 1 over the delivery's whole life, replays included.
   */
  attempt: number;
  /**
   * When it began.
   */
  started_at: string;
  /**
   * Milliseconds until it was over.
   */
  latency_ms: number;
  /**
   * HTTP status. Null: no answer came.
   */
  response_status: number | null;
  /**
   * What went wrong, as in `last_error`. Null: nothing.
   */
  error: string | null;
  /**
   * The first 2 KiB of the answer. Null: it was empty, or none came.
   */
  response_excerpt: string | null;
}
/**
 * Which secret signs inline deliveries: those to a `webhook_url`.
 */
export interface WebhookSecret {
  /**
   * The last characters, to recognize the secret by.
   */
  last4: string;
  /**
   * Until when the secret before signs too. Null: there is none.
   */
  previous_expires_at: string | null;
}
/**
 * The secret of inline deliveries that was just made.
 */
export interface WebhookSecretShown {
  /**
   * The last characters, to recognize the secret by.
   */
  last4: string;
  /**
   * Until when the secret before signs too. Null: there is none.
   */
  previous_expires_at: string | null;
  /**
   * `whsec_…`, shown this once.
   */
  secret: string;
}
/**
 * How the line stands, part by part.
 */
export interface Health {
  /**
   * As the part that does worst.
   */
  state: 'ok' | 'warn' | 'down';
  /**
   * The last 20 calls that ended, of the last 24 hours: `warn` where three failed or half of them, `down` where three failed that are half, `ok` again after five in a row that did not.
   */
  calls: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
  /**
   * Whether the carrier answers and takes the credentials.
   */
  carrier: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
  /**
   * Whether the speech models can be used.
   */
  model: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
  /**
   * Whether webhooks go out in time.
   */
  queue: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
  /**
   * The disk of the data folder, and whether the database is sound.
   */
  disk: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
  /**
   * The threads that carry calls.
   */
  threads: {
    /**
     * `warn`: look at it; `down`: calls cannot be led, or fail.
     */
    state: 'ok' | 'warn' | 'down';
    /**
     * One or two sentences for people. Their wording may change.
     */
    text: string;
  };
}
/**
 * Of what an organization is told when it is wrong, and how.
 */
export interface Alerts {
  /**
   * Where alerts are posted. Null: nowhere.
   */
  webhook_url: string | null;
  /**
   * Who gets an e-mail.
   */
  emails: string[];
  /**
   * Whether the daemon has a mail server (SMTP_URL).
   */
  email_available: boolean;
  /**
   * Every kind, watched or not.
   */
  rules: AlertRule[];
  /**
   * What was told, newest first, 50 at most.
   */
  messages: AlertMessage[];
}
/**
 * One thing that is watched, and how it stands.
 */
export interface AlertRule {
  /**
   * What is watched. `failure_rate`: percent of the calls that ended in the window, the newest 200 at most, that failed; two failures at least. `answer_latency_p95`: milliseconds from the end of the caller’s words until the answer is heard, which 19 of 20 do not exceed, in the current hour (UTC) and as many before as the window has; five answers at least. `carrier_down`, `model_down`: it refuses or cannot be reached. `spend_per_day`: dollars of the calls made since midnight UTC, charged or estimated, whichever is more. `webhooks_waiting`: deliveries undelivered for longer than the window. `disk_low`: megabytes free on the disk of the data folder.
   */
  kind:
    | 'failure_rate'
    | 'answer_latency_p95'
    | 'carrier_down'
    | 'model_down'
    | 'spend_per_day'
    | 'webhooks_waiting'
    | 'disk_low';
  /**
   * As people call it.
   */
  title: string;
  /**
   * Of `threshold` and `value`. Null: it is so or it is not.
   */
  unit: ('percent' | 'milliseconds' | 'dollars' | 'deliveries' | 'megabytes') | null;
  /**
   * Whether it is watched.
   */
  enabled: boolean;
  /**
   * From where on it is wrong, in the unit of its kind: at or above it, for `webhooks_waiting` above, for `disk_low` below. Null: the kind has none.
   */
  threshold: number | null;
  /**
   * Of how many minutes the value is. Null: the kind has no window.
   */
  window_minutes: number | null;
  /**
   * For how long it must be wrong before anybody is told, and well again before that is told.
   */
  hold_minutes: number;
  /**
   * As of the last look, twice a minute. `pending`: wrong, and not yet for `hold_minutes`. `recovering`: told as wrong, and well again, not yet for `hold_minutes`.
   */
  status: 'ok' | 'pending' | 'firing' | 'recovering';
  /**
   * Since when it has that status. Null: nothing was ever wrong.
   */
  since: string | null;
  /**
   * What is found now. Null: it is not watched, has no number, or nothing was measured.
   */
  value: number | null;
  /**
   * The same as a sentence. Null: not watched, or not to be found out.
   */
  text: string | null;
}
/**
 * What was told, and how it was sent.
 */
export interface AlertMessage {
  /**
   * Its id, sent as `webhook-id`: the same over all attempts.
   */
  id: string;
  /**
   * What is watched. `failure_rate`: percent of the calls that ended in the window, the newest 200 at most, that failed; two failures at least. `answer_latency_p95`: milliseconds from the end of the caller’s words until the answer is heard, which 19 of 20 do not exceed, in the current hour (UTC) and as many before as the window has; five answers at least. `carrier_down`, `model_down`: it refuses or cannot be reached. `spend_per_day`: dollars of the calls made since midnight UTC, charged or estimated, whichever is more. `webhooks_waiting`: deliveries undelivered for longer than the window. `disk_low`: megabytes free on the disk of the data folder.
   */
  kind:
    | 'failure_rate'
    | 'answer_latency_p95'
    | 'carrier_down'
    | 'model_down'
    | 'spend_per_day'
    | 'webhooks_waiting'
    | 'disk_low';
  /**
   * `still_firing` tells again, once a day, of what is still wrong.
   */
  status: 'firing' | 'still_firing' | 'resolved';
  /**
   * What was found, as a sentence.
   */
  text: string;
  /**
   * What was found. Null: it has no number.
   */
  value: number | null;
  /**
   * As it was then.
   */
  threshold: number | null;
  /**
   * When it was decided to tell.
   */
  created_at: string;
  /**
   * How the webhook fared. Null: there was none to send.
   */
  webhook: {
    /**
     * `failed`: given up after five attempts.
     */
    status: 'pending' | 'sent' | 'failed';
    /**
     * Attempts made.
     */
    attempts: number;
    /**
     * What went wrong with the last one. Null: nothing, or none was made.
     */
    error: string | null;
    /**
     * When it was taken. Null: not so far.
     */
    sent_at: string | null;
  } | null;
  /**
   * How the e-mail fared. Null: there was none to send.
   */
  email: {
    /**
     * `failed`: given up after five attempts.
     */
    status: 'pending' | 'sent' | 'failed';
    /**
     * Attempts made.
     */
    attempts: number;
    /**
     * What went wrong with the last one. Null: nothing, or none was made.
     */
    error: string | null;
    /**
     * When it was taken. Null: not so far.
     */
    sent_at: string | null;
  } | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "AlertsChange".
 */
export interface AlertsChange {
  /**
   * Where alerts are posted, signed with the secret of `/v1/webhook_secret`. https only; addresses that are not public are refused. Null: nowhere.
   */
  webhook_url?: string | null;
  /**
   * Who gets an e-mail; empty: nobody. It takes a mail server, which the operator sets.
   */
  emails?: string[];
  /**
   * Rules to change, by their kind; the others, and fields left out, stay as they are.
   */
  rules?: {
    /**
     * What is watched. `failure_rate`: percent of the calls that ended in the window, the newest 200 at most, that failed; two failures at least. `answer_latency_p95`: milliseconds from the end of the caller’s words until the answer is heard, which 19 of 20 do not exceed, in the current hour (UTC) and as many before as the window has; five answers at least. `carrier_down`, `model_down`: it refuses or cannot be reached. `spend_per_day`: dollars of the calls made since midnight UTC, charged or estimated, whichever is more. `webhooks_waiting`: deliveries undelivered for longer than the window. `disk_low`: megabytes free on the disk of the data folder.
     */
    kind:
      | 'failure_rate'
      | 'answer_latency_p95'
      | 'carrier_down'
      | 'model_down'
      | 'spend_per_day'
      | 'webhooks_waiting'
      | 'disk_low';
    /**
     * Whether it is watched.
     */
    enabled?: boolean;
    /**
     * From where on it is wrong, in the unit of its kind: at or above it, for `webhooks_waiting` above, for `disk_low` below. Null: the kind has none.
     */
    threshold?: number | null;
    /**
     * Of how many minutes the value is. Null: the kind has no window.
     */
    window_minutes?: number | null;
    /**
     * For how long it must be wrong before anybody is told, and well again before that is told.
     */
    hold_minutes?: number;
  }[];
}
/**
 * What came of a test of the ways that alerts take.
 */
export interface AlertTest {
  /**
   * Null: no webhook is set.
   */
  webhook: {
    /**
     * Why it was not taken. Null: it was.
     */
    error: string | null;
  } | null;
  /**
   * Null: no address is set.
   */
  email: {
    /**
     * Why it was not taken. Null: it was.
     */
    error: string | null;
  } | null;
}
/**
 * The organization's credit.
 */
export interface Balance {
  /**
   * What may still be spent, in milli-cents; null: without limit.
   */
  balance_milli_cents: number | null;
  /**
   * Held for live calls beside the balance, in milli-cents; what is not used comes back.
   */
  held_milli_cents: number;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "BalanceSetting".
 */
export interface BalanceSetting {
  /**
   * What may be spent, in milli-cents; null: without limit.
   */
  balance_milli_cents: number | null;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "Credit".
 */
export interface Credit {
  /**
   * Milli-cents to add; a negative amount takes away.
   */
  amount_milli_cents: number;
}
/**
 * The organization that the key belongs to.
 */
export interface OwnOrganization {
  /**
   * Organization id: `org_id` of what belongs to it.
   */
  id: string;
  /**
   * What it is called here.
   */
  name: string;
  /**
   * What it is called on the phone. Null: as its name.
   */
  spoken_name: string | null;
  /**
   * The name that agents say. Null: none, while it has the name of a first start and no other was given.
   */
  said_as: string | null;
  /**
   * Whether a call that is recorded begins with a line that says so. Null: as the daemon has it (`RECORDING_NOTICE`).
   */
  recording_notice: ('always' | 'never') | null;
  /**
   * Creation.
   */
  created_at: string;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "OrganizationChange".
 */
export interface OrganizationChange {
  /**
   * What it is called on the phone, as it is to be said: 100 characters at most. Null: as its name.
   */
  spoken_name?: string | null;
  /**
   * `always` or `never`; null: as the daemon has it (`RECORDING_NOTICE`).
   */
  recording_notice?: ('always' | 'never') | null;
}
/**
 * An organization to be made.
 */
export interface NewOrganization {
  /**
   * What it is called; each name once, whatever the case. The dashboard asks for it at sign-in.
   */
  name: string;
}
/**
 * An organization that was just made, with what opens it.
 */
export interface OrganizationMade {
  /**
   * Organization id: `org_id` of what belongs to it.
   */
  id: string;
  /**
   * What it is called.
   */
  name: string;
  /**
   * Creation.
   */
  created_at: string;
  /**
   * Its first API key, shown this once.
   */
  api_key: string;
  /**
   * Where the password of its dashboard is set, once, within 7 days; shown this once.
   */
  password_url: string;
}
/**
 * Who has agents, numbers, calls, credit, keys and a dashboard of its own.
 */
export interface Organization {
  /**
   * Organization id: `org_id` of what belongs to it.
   */
  id: string;
  /**
   * What it is called.
   */
  name: string;
  /**
   * Creation.
   */
  created_at: string;
}
/**
 * A line of the daemon’s log.
 */
export interface LogLine {
  /**
   * Counts the lines of this run of the daemon from 1.
   */
  seq: number;
  /**
   * When it was written.
   */
  time: string;
  /**
   * How grave it is.
   */
  level: 'debug' | 'info' | 'warn' | 'error';
  /**
   * What happened, such as `call.ended`.
   */
  event: string;
  /**
   * The rest of the line, masked as the log is: no speech, no keys, no whole numbers.
   */
  fields: {
    [k: string]: unknown;
  };
}
/**
 * How long what is kept, by organization and agent.
 */
export interface Retention {
  default: KeptDays;
  /**
   * Agents with days of their own.
   */
  agents: AgentKeptDays[];
}
/**
 * How long what is kept.
 */
export interface KeptDays {
  /**
   * The files of recordings. Days from the start of the call on. Null: for ever.
   */
  recordings_days: number | null;
  /**
   * What was said, and what it is found by. Days from the start of the call on. Null: for ever.
   */
  transcripts_days: number | null;
  /**
   * Events, with their deliveries. Days from the start of the call on. Null: for ever.
   */
  events_days: number | null;
  /**
   * Deliveries of webhooks, with what receivers answered. Days from the start of the call on. Null: for ever.
   */
  deliveries_days: number | null;
  /**
   * All that tells of anybody: the call is erased but for what counts (times, lengths, money). Days from the start of the call on. Null: for ever.
   */
  calls_days: number | null;
}
/**
 * How long what is kept of an agent’s calls.
 */
export interface AgentKeptDays {
  /**
   * The agent.
   */
  agent_id: string;
  days: KeptDays;
}
/**
 * This interface was referenced by `Operations`'s JSON-Schema
 * via the `definition` "RetentionChange".
 */
export interface RetentionChange {
  /**
   * Days of this agent’s own, which begin as the default is. Left out or null: the default.
   */
  agent_id?: string | null;
  /**
   * The files of recordings. Days from the start of the call on. Null: for ever.
   */
  recordings_days?: number | null;
  /**
   * What was said, and what it is found by. Days from the start of the call on. Null: for ever.
   */
  transcripts_days?: number | null;
  /**
   * Events, with their deliveries. Days from the start of the call on. Null: for ever.
   */
  events_days?: number | null;
  /**
   * Deliveries of webhooks, with what receivers answered. Days from the start of the call on. Null: for ever.
   */
  deliveries_days?: number | null;
  /**
   * All that tells of anybody: the call is erased but for what counts (times, lengths, money). Days from the start of the call on. Null: for ever.
   */
  calls_days?: number | null;
}
/**
 * What is to be erased: one of call_id, number and organization.
 */
export interface NewErasure {
  /**
   * One call.
   */
  call_id?: string;
  /**
   * All calls with this number on the other side, and what else is kept of it, E.164.
   */
  number?: string;
  /**
   * All of your organization, for good: its keys and people end at once. Needs the Operator-Key header, and `confirm`.
   */
  organization?: true;
  /**
   * With `organization`: its name, so that nobody does this by mistake.
   */
  confirm?: string;
  /**
   * Why, for the receipt. Name nobody in it: the receipt stays.
   */
  reason?: string;
}
/**
 * An erasure, and its receipt.
 */
export interface Erasure {
  /**
   * Erasure id.
   */
  id: string;
  /**
   * What it is about: one call, a number, or the whole organization.
   */
  subject: 'call' | 'number' | 'organization';
  /**
   * The call. Null: it was another subject.
   */
  call_id: string | null;
  /**
   * HMAC-SHA-256 of the number under a salt of the organization: the number is kept nowhere, and GET /v1/erasures?number=… finds this by it. Null: it was another subject.
   */
  number_hash: string | null;
  /**
   * Why, as it was sent. Null: nothing was.
   */
  reason: string | null;
  /**
   * `running`: rows and files are being erased. `clearing`: nothing names it any more; the index of words and the log of the database are being rid of it. `done`. One that a crash cuts off goes on with the next start.
   */
  state: 'running' | 'clearing' | 'done';
  requested_by: AskedBy;
  /**
   * Rows by table, `files` with their `file_bytes`, and `kept_answers` to requests.
   */
  counts: {
    [k: string]: number;
  };
  /**
   * What was deleted, with a digest of each taken before.
   */
  files: ErasedFile[];
  /**
   * Copies that still hold it, as far as this daemon knows: those that `offhook backup` made, and those beside the database. Delete them, or let them grow old; after a restore, erase again.
   */
  backups: BackupCopy[];
  /**
   * When it was asked for.
   */
  created_at: string;
  /**
   * When it was done. Null: it is not.
   */
  done_at: string | null;
  /**
   * When the database's file was written anew after it, without even the free space of before. Null: not yet; that waits for a moment without calls, and is left to the operator where the file is large.
   */
  rewritten_at: string | null;
}
/**
 * Who asked for something.
 */
export interface AskedBy {
  /**
   * An API key, or a person.
   */
  kind: 'key' | 'user';
  /**
   * Its id.
   */
  id: string;
  /**
   * What it was called then.
   */
  name: string;
}
/**
 * A file that was deleted.
 */
export interface ErasedFile {
  /**
   * Below the data folder.
   */
  path: string;
  /**
   * How long it was.
   */
  bytes: number;
  /**
   * Of what was in it, hex.
   */
  sha256: string;
}
/**
 * A copy of the database from before an erasure.
 */
export interface BackupCopy {
  /**
   * Where it is, on the host; below the data folder where it begins with no slash.
   */
  path: string;
  /**
   * When it was made.
   */
  made_at: string;
}
/**
 * What is to be held: one of call_id, number and organization.
 */
export interface NewLegalHold {
  /**
   * One call.
   */
  call_id?: string;
  /**
   * All calls with this number on the other side, and what else is kept of it, E.164.
   */
  number?: string;
  /**
   * All of your organization.
   */
  organization?: true;
  /**
   * Why, for whoever finds that nothing is erased.
   */
  reason: string;
}
/**
 * What it covers is neither erased nor deleted by age.
 */
export interface LegalHold {
  /**
   * Legal hold id.
   */
  id: string;
  /**
   * What it is about: one call, a number, or the whole organization.
   */
  subject: 'call' | 'number' | 'organization';
  /**
   * The call. Null: it is of another subject.
   */
  call_id: string | null;
  /**
   * The number, E.164. Null: it is of another subject.
   */
  number: string | null;
  /**
   * Why.
   */
  reason: string;
  created_by: AskedBy;
  /**
   * Since when.
   */
  created_at: string;
  /**
   * Who lifted it. Null: it is in force.
   */
  lifted_by: AskedBy | null;
  /**
   * Until when. Null: it is in force.
   */
  lifted_at: string | null;
}
/**
 * A row of the audit log: something that was changed, or an attempt to sign in.
 */
export interface Action {
  /**
   * Id of the row.
   */
  id: string;
  /**
   * When it was done.
   */
  created_at: string;
  /**
   * `nobody`: a failed attempt to sign in. `host`: a link or a command of the machine itself.
   */
  actor_kind: 'key' | 'user' | 'nobody' | 'host';
  /**
   * Of the key or the person. Null: neither.
   */
  actor_id: string | null;
  /**
   * As it was called then.
   */
  actor_name: string;
  /**
   * The operation, as the reference names it, or what was done to sign in.
   */
  action: string;
  /**
   * What it was done to: `agent`, `call`, `user`.
   */
  target_kind: string | null;
  /**
   * Its id, where it has one.
   */
  target_id: string | null;
  /**
   * What else there is to say, small; never a body, a number or a secret.
   */
  detail: {
    [k: string]: unknown;
  } | null;
  /**
   * Where it was asked from; of IPv6 the network.
   */
  address: string | null;
  /**
   * X-Request-Id of the request.
   */
  request_id: string | null;
}
/**
 * The body of every error answer.
 */
export interface ErrorAnswer {
  error: {
    /**
     * Stable and machine-readable; the table of errors lists every one.
     */
    code: string;
    /**
     * For people: what is wrong and what to do about it. Its wording may change.
     */
    message: string;
    /**
     * The field to blame, as a path: `to`, `tools[0].url`. Absent when no single field is.
     */
    param?: string;
    /**
     * Only with `carrier_error`: the carrier's own error code.
     */
    carrier_code?: string;
    /**
     * Only of a call that is not placed by the rules of outbound calls: what the code rests on, such as the count and the limit, or the time there. An override must name all of its `codes`.
     */
    evidence?: {
      /**
       * Every code that speaks against the call, this one too.
       */
      codes?: string[];
    };
    /**
     * The same as the X-Request-Id header; the log has it too.
     */
    request_id: string;
  };
}

/** Method and path of every operation; `once`: it takes an Idempotency-Key; `file`: its body is CSV. */
export const OPERATIONS = {
  createAgent: { method: 'POST', path: '/v1/agents', once: true },
  listAgents: { method: 'GET', path: '/v1/agents' },
  getAgent: { method: 'GET', path: '/v1/agents/{id}' },
  updateAgent: { method: 'PATCH', path: '/v1/agents/{id}' },
  archiveAgent: { method: 'DELETE', path: '/v1/agents/{id}' },
  attachNumber: { method: 'POST', path: '/v1/agents/{id}/numbers' },
  detachNumber: { method: 'DELETE', path: '/v1/agents/{id}/numbers/{number_id}' },
  setPrimaryNumber: { method: 'PUT', path: '/v1/agents/{id}/primary-number' },
  listModels: { method: 'GET', path: '/v1/models' },
  listNumbers: { method: 'GET', path: '/v1/numbers' },
  searchNumbers: { method: 'GET', path: '/v1/numbers/available' },
  purchaseNumber: { method: 'POST', path: '/v1/numbers/purchase', once: true },
  releaseNumber: { method: 'DELETE', path: '/v1/numbers/{id}' },
  createCall: { method: 'POST', path: '/v1/calls', once: true },
  listCalls: { method: 'GET', path: '/v1/calls' },
  exportCalls: { method: 'GET', path: '/v1/calls.csv' },
  getCall: { method: 'GET', path: '/v1/calls/{id}' },
  getTranscript: { method: 'GET', path: '/v1/calls/{id}/transcript' },
  cancelCall: { method: 'POST', path: '/v1/calls/{id}/cancel' },
  hangUpCall: { method: 'POST', path: '/v1/calls/{id}/hangup' },
  getRecording: { method: 'GET', path: '/v1/calls/{id}/recording' },
  getTurns: { method: 'GET', path: '/v1/calls/{id}/turns' },
  listCallEvents: { method: 'GET', path: '/v1/calls/{id}/events' },
  getOutboundRules: { method: 'GET', path: '/v1/outbound_rules' },
  updateOutboundRules: { method: 'PATCH', path: '/v1/outbound_rules' },
  checkOutbound: { method: 'POST', path: '/v1/outbound_check' },
  listRefusedCalls: { method: 'GET', path: '/v1/refused_calls' },
  listConsents: { method: 'GET', path: '/v1/consents' },
  addConsents: { method: 'POST', path: '/v1/consents', once: true },
  revokeConsent: { method: 'DELETE', path: '/v1/consents/{id}' },
  listDoNotCall: { method: 'GET', path: '/v1/do_not_call' },
  addDoNotCall: { method: 'POST', path: '/v1/do_not_call' },
  importDoNotCall: { method: 'POST', path: '/v1/do_not_call/import', file: true },
  removeDoNotCall: { method: 'DELETE', path: '/v1/do_not_call/{id}' },
  createCampaign: { method: 'POST', path: '/v1/campaigns', once: true },
  listCampaigns: { method: 'GET', path: '/v1/campaigns' },
  getCampaign: { method: 'GET', path: '/v1/campaigns/{id}' },
  updateCampaign: { method: 'PATCH', path: '/v1/campaigns/{id}' },
  deleteCampaign: { method: 'DELETE', path: '/v1/campaigns/{id}' },
  startCampaign: { method: 'POST', path: '/v1/campaigns/{id}/start' },
  pauseCampaign: { method: 'POST', path: '/v1/campaigns/{id}/pause' },
  resumeCampaign: { method: 'POST', path: '/v1/campaigns/{id}/resume' },
  stopCampaign: { method: 'POST', path: '/v1/campaigns/{id}/stop' },
  getCampaignReport: { method: 'GET', path: '/v1/campaigns/{id}/report' },
  addContacts: { method: 'POST', path: '/v1/campaigns/{id}/contacts', once: true },
  listContacts: { method: 'GET', path: '/v1/campaigns/{id}/contacts' },
  importContacts: { method: 'POST', path: '/v1/campaigns/{id}/contacts/import', file: true },
  getContact: { method: 'GET', path: '/v1/campaigns/{id}/contacts/{contact_id}' },
  exportContacts: { method: 'GET', path: '/v1/campaigns/{id}/contacts.csv' },
  listEvents: { method: 'GET', path: '/v1/events' },
  followEvents: { method: 'GET', path: '/v1/events/follow' },
  listWebhookEvents: { method: 'GET', path: '/v1/webhook_events' },
  listWebhookEndpoints: { method: 'GET', path: '/v1/webhook_endpoints' },
  createWebhookEndpoint: { method: 'POST', path: '/v1/webhook_endpoints', once: true },
  getWebhookEndpoint: { method: 'GET', path: '/v1/webhook_endpoints/{id}' },
  updateWebhookEndpoint: { method: 'PATCH', path: '/v1/webhook_endpoints/{id}' },
  deleteWebhookEndpoint: { method: 'DELETE', path: '/v1/webhook_endpoints/{id}' },
  rotateWebhookEndpointSecret: { method: 'POST', path: '/v1/webhook_endpoints/{id}/rotate_secret' },
  testWebhookEndpoint: { method: 'POST', path: '/v1/webhook_endpoints/{id}/test' },
  replayWebhookEndpoint: { method: 'POST', path: '/v1/webhook_endpoints/{id}/replay' },
  listWebhookDeliveries: { method: 'GET', path: '/v1/webhook_deliveries' },
  getWebhookDelivery: { method: 'GET', path: '/v1/webhook_deliveries/{id}' },
  redeliverWebhook: { method: 'POST', path: '/v1/webhook_deliveries/{id}/redeliver' },
  getWebhookSecret: { method: 'GET', path: '/v1/webhook_secret' },
  rotateWebhookSecret: { method: 'POST', path: '/v1/webhook_secret/rotate', once: true },
  getHealth: { method: 'GET', path: '/v1/health' },
  getAlerts: { method: 'GET', path: '/v1/alerts' },
  updateAlerts: { method: 'PATCH', path: '/v1/alerts' },
  testAlerts: { method: 'POST', path: '/v1/alerts/test' },
  getBalance: { method: 'GET', path: '/v1/balance' },
  setBalance: { method: 'PUT', path: '/v1/balance' },
  addCredit: { method: 'POST', path: '/v1/balance/credits', once: true },
  getOrganization: { method: 'GET', path: '/v1/organization' },
  updateOrganization: { method: 'PATCH', path: '/v1/organization' },
  createOrganization: { method: 'POST', path: '/v1/organizations', once: true },
  listOrganizations: { method: 'GET', path: '/v1/organizations' },
  readLogs: { method: 'GET', path: '/v1/logs' },
  getRetention: { method: 'GET', path: '/v1/retention' },
  updateRetention: { method: 'PATCH', path: '/v1/retention' },
  removeAgentRetention: { method: 'DELETE', path: '/v1/retention/{agent_id}' },
  createErasure: { method: 'POST', path: '/v1/erasures', once: true },
  listErasures: { method: 'GET', path: '/v1/erasures' },
  getErasure: { method: 'GET', path: '/v1/erasures/{id}' },
  createLegalHold: { method: 'POST', path: '/v1/legal_holds', once: true },
  listLegalHolds: { method: 'GET', path: '/v1/legal_holds' },
  getLegalHold: { method: 'GET', path: '/v1/legal_holds/{id}' },
  liftLegalHold: { method: 'DELETE', path: '/v1/legal_holds/{id}' },
  listActions: { method: 'GET', path: '/v1/audit_log' },
  exportActions: { method: 'GET', path: '/v1/audit_log.csv' },
  getOpenApi: { method: 'GET', path: '/v1/openapi.json' },
} as const;
