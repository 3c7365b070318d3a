// What of each table goes with a call, with a number, with an organization, and what stays and why. PURE: the engine carries it
// out. A table or a text column that no line here names fails test/storage/sqlite/erasure-plan.test.ts: whoever adds one says here
// what is to become of it.

/** What is written in the place of what was erased. */
export const GONE = 'erased';
const GONE_URL = 'https://erased.invalid/';
/** The time of the erasure. */
export const NOW = { time: 'now' } as const;

/** A text with the row's own id, for what no two rows may share. */
export const OWN = { own: 'id' } as const;

export type Instead = string | number | null | typeof NOW | typeof OWN;

/** Rows, found by a column, and what becomes of them: deleted, or these columns overwritten. */
export interface Rows {
  by: string;
  /** The column holds the id of a row of that table, which is of the call by a column of its own. */
  through?: { table: string; by: string };
  /** Of a number: the column holds its hash (storage/sqlite/number-hashes.ts). */
  hashed?: true;
  /** Of a number: this column holds the id of a row of that table, which is of the organization; where rows are found by it. */
  within?: { column: string; table: string };
  to: 'deleted' | Readonly<Record<string, Instead>>;
}

export interface TablePlan {
  /** Rows of a call: `by` holds its id. */
  call?: Rows;
  /** Rows of a person, by a telephone number that stands in `by`, E.164; of one organization (`org_id`). */
  number?: Rows;
  /** Rows of an organization: `by` holds its id. */
  organization?: Rows;
  /** Columns that stay in every erasure (several with spaces between them), and why. Only of what is deleted nowhere. */
  kept?: Readonly<Record<string, string>>;
}

/** In a campaign of the organization. */
const OF_CAMPAIGNS = {
  by: 'campaign_id',
  through: { table: 'campaigns', by: 'org_id' },
  to: 'deleted',
} as const;
const IDS = 'names rows, and nobody';
const TIMES = 'when, of nobody any more';
const STATES = 'one of a few words of ours';
const SETTINGS = 'a setting, of a few that there are';
const TOTALS = 'sums of many calls';

/** In the order in which it is done: who refers to rows of another table comes before it. */
export const ERASURE_PLAN: Readonly<Record<string, TablePlan>> = {
  transcript_items: { call: { by: 'call_id', to: 'deleted' } },
  turns: { call: { by: 'call_id', to: 'deleted' } },
  interruptions: { call: { by: 'call_id', to: 'deleted' } },
  attempts: {
    call: {
      by: 'delivery_id',
      through: { table: 'deliveries', by: 'call_id' },
      to: { response_excerpt: null },
    },
    kept: { 'id delivery_id': IDS, started_at: TIMES, error: STATES },
  },
  deliveries: {
    // An inline one's address is the call's own. What is pending is ended (storage/sqlite/erasures.ts).
    call: { by: 'call_id', to: { url: GONE_URL } },
    kept: {
      'id org_id endpoint_id call_id event_id': IDS,
      'event_type status last_error': STATES,
      'next_attempt_at delivered_at created_at updated_at lease_until': TIMES,
    },
  },
  events: {
    // What an event says is the call as it is after its erasure: it stays where those who follow events have been.
    call: { by: 'call_id', to: { body: '{}' } },
    kept: { 'id org_id call_id': IDS, type: STATES, created_at: TIMES },
  },
  calls: {
    call: {
      by: 'id',
      to: {
        to_number: GONE,
        from_number: GONE,
        persona: null,
        instructions: null,
        prompt: '',
        context: null,
        returns: '{}',
        result: null,
        result_error: null,
        webhook_url: null,
        webhook_error: null,
        error_message: null,
        metadata: '{}',
        tools: null,
        carrier_call_id: null,
        recording_path: null,
        interruption_words: '[]',
        running_tools: '[]',
        disclosure: null,
        opted_out: null,
        gate: null,
        summary: null,
        sentiment: null,
        erased_at: NOW,
      },
    },
    kept: {
      'id agent_id org_id campaign_id contact_id': IDS,
      'status direction result_status reservation_status webhook_status hangup_cause error_code answered_by':
        STATES,
      'created_at started_at answered_at ended_at updated_at stream_began_at': TIMES,
      'language chosen_language voice voicemail_action patience eagerness interruption mask carrier model':
        SETTINGS,
      'usage extraction_usage cost': 'what it cost: counts and money',
      gaps: 'times without a line',
    },
  },
  idempotency_keys: {
    // Answers that hold the call or the number are sealed: they are looked through, and replaced (control/operations/erasures.ts).
    organization: { by: 'org_id', to: 'deleted' },
  },
  campaign_tallies: { organization: OF_CAMPAIGNS },
  campaign_attempts: {
    organization: { by: 'contact_id', through: { table: 'campaign_contacts', by: 'org_id' }, to: 'deleted' },
  },
  campaign_contacts: {
    // One that still waits is skipped first (storage/sqlite/erasures.ts).
    number: {
      by: 'to_number',
      within: { column: 'campaign_id', table: 'campaigns' },
      to: { to_number: OWN, context: '{}', time_zones: '[]' },
    },
    organization: { by: 'org_id', to: 'deleted' },
  },
  campaigns: { organization: { by: 'org_id', to: 'deleted' } },
  do_not_call: {
    // What was said on the call; that the number is not to be called is the number's own.
    call: { by: 'call_id', to: { reason: null, item_id: null } },
    // That it is not to be called stays known by the hash.
    number: {
      by: 'number_hash',
      hashed: true,
      to: { number: null, last4: '', reason: null, call_id: null, item_id: null, created_by: null },
    },
    organization: { by: 'org_id', to: 'deleted' },
  },
  consents: {
    number: {
      by: 'number_hash',
      hashed: true,
      to: { number: null, last4: '', purpose: GONE, evidence: null, revoked_at: NOW, created_by: null },
    },
    organization: { by: 'org_id', to: 'deleted' },
  },
  refused_calls: {
    number: { by: 'to_number', to: 'deleted' },
    organization: { by: 'org_id', to: 'deleted' },
  },
  outbound_rules: { organization: { by: 'org_id', to: 'deleted' } },
  dialled_seconds: { organization: { by: 'org_id', to: 'deleted' } },
  agent_numbers: {
    organization: { by: 'agent_id', through: { table: 'agents', by: 'org_id' }, to: 'deleted' },
  },
  retention: { organization: { by: 'org_id', to: 'deleted' } },
  retention_swept: { organization: { by: 'org_id', to: 'deleted' } },
  legal_holds: {
    // Those that are in force refuse the erasure.
    call: { by: 'call_id', to: 'deleted' },
    number: { by: 'number', to: 'deleted' },
    organization: { by: 'org_id', to: 'deleted' },
  },
  agents: {
    organization: {
      by: 'org_id',
      to: {
        user_id: GONE,
        name: GONE,
        persona: null,
        instructions: null,
        returns: '{}',
        tools: null,
        webhook_url: null,
        primary_number_id: null,
        interruption_words: '[]',
        disclosure: null,
        archived_at: NOW,
      },
    },
    kept: {
      'id org_id': IDS,
      'type voice language model voicemail_action patience eagerness interruption mask consent': SETTINGS,
      'created_at updated_at': TIMES,
    },
  },
  numbers: {
    organization: { by: 'org_id', to: { e164: GONE, friendly_name: GONE, carrier_number_id: GONE } },
    kept: {
      'id org_id': IDS,
      'country_code number_type status carrier': STATES,
      purchased_at: TIMES,
    },
  },
  endpoints: {
    organization: {
      by: 'org_id',
      to: {
        url: GONE_URL,
        description: null,
        secret: '',
        previous_secret: null,
        deleted_at: NOW,
      },
    },
    kept: {
      'id org_id': IDS,
      'enabled_events status disabled_reason': STATES,
      'disabled_at created_at updated_at previous_secret_expires_at': TIMES,
    },
  },
  user_sessions: { organization: { by: 'org_id', to: 'deleted' } },
  invitations: { organization: { by: 'org_id', to: 'deleted' } },
  users: { organization: { by: 'org_id', to: 'deleted' } },
  // Who did what, of the organization's own people: it goes with the organization alone.
  audit_log: { organization: { by: 'org_id', to: 'deleted' } },
  alert_messages: { organization: { by: 'org_id', to: 'deleted' } },
  alert_states: { organization: { by: 'org_id', to: 'deleted' } },
  alert_settings: { organization: { by: 'org_id', to: 'deleted' } },
  dashboard_sessions: {
    organization: { by: 'operator_id', through: { table: 'operators', by: 'org_id' }, to: 'deleted' },
  },
  operators: { organization: { by: 'org_id', to: 'deleted' } },
  api_keys: { organization: { by: 'org_id', to: 'deleted' } },
  organizations: {
    organization: {
      by: 'id',
      to: {
        name: GONE,
        webhook_secret: '',
        previous_webhook_secret: null,
        spoken_name: null,
        recording_notice: null,
        erased_at: NOW,
      },
    },
    kept: { id: IDS, 'previous_webhook_secret_expires_at created_at': TIMES },
  },
  erasures: {
    kept: {
      'id org_id call_id': IDS,
      'subject state': STATES,
      'created_at done_at rewritten_at': TIMES,
      number: 'of a job that is under way; it is taken out with its last step',
      number_hash: 'tells by the number which receipt is of it, and the number by nothing',
      reason: 'why it was asked for, in the words of whoever did',
      requested_by: 'who asked for it: the receipt’s proof',
      counts: 'how much was erased',
      backups: 'paths of copies that still hold it',
    },
  },
  erased_files: {
    kept: { 'erasure_id path': IDS, sha256: 'what was in a file, as a digest' },
  },
  number_salts: { organization: { by: 'org_id', to: 'deleted' } },
  ledger: { kept: { 'id org_id call_id': IDS, kind: STATES, created_at: TIMES } },
  answer_latencies: { kept: { 'org_id hour': TOTALS } },
  call_hours: { kept: { 'org_id hour': TOTALS } },
  failure_hours: { kept: { 'org_id hour reason': TOTALS } },
  notes: { kept: { 'name value': 'of the file itself' } },
  daemons: { kept: { 'host life version state': 'of a process', 'started_at ended_at alive_at': TIMES } },
};

/** Tables that the engine keeps for its own index of words: a call is entered anew, and what was there is merged away. */
export const INDEX_TABLES: ReadonlySet<string> = new Set([
  'call_words',
  'call_words_data',
  'call_words_idx',
  'call_words_docsize',
  'call_words_config',
]);
