// The schema, as the ordered list of steps that lead to it. PURE.
// A step that has been released is never edited: a change is a new step at the end.
// In every listed table `seq` is the order of insertion; it breaks ties of created_at, so that pages are stable.

export interface Migration {
  name: string;
  sql: string;
  /**
   * What it means to a program that does not know it. `adds`: nothing but columns with a default, and tables of its own: takes
   * a moment, however many rows there are, and that program goes on reading and writing. `fills`: adds too, but goes through
   * rows, as an index or values for a new column do. Left out: it changes what is there, and that program may not come near.
   */
  kind?: 'adds' | 'fills';
}

const FIRST_SCHEMA = `
CREATE TABLE organizations (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  webhook_secret TEXT NOT NULL,
  previous_webhook_secret TEXT,
  previous_webhook_secret_expires_at TEXT,
  balance_milli_cents INTEGER CHECK (balance_milli_cents >= 0),
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE api_keys (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  last4 TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT,
  revoked_at TEXT
) STRICT;
CREATE INDEX api_keys_by_org ON api_keys (org_id, created_at);

CREATE TABLE numbers (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  e164 TEXT NOT NULL,
  friendly_name TEXT NOT NULL,
  country_code TEXT NOT NULL,
  number_type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'released')),
  monthly_cost_cents INTEGER NOT NULL,
  purchased_at TEXT NOT NULL,
  carrier_number_id TEXT NOT NULL
) STRICT;
CREATE INDEX numbers_by_org ON numbers (org_id, purchased_at);
CREATE UNIQUE INDEX numbers_active ON numbers (e164) WHERE status = 'active';

CREATE TABLE agents (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('inbound', 'outbound')),
  persona TEXT,
  instructions TEXT,
  voice TEXT NOT NULL,
  language TEXT,
  returns TEXT NOT NULL,
  tools TEXT,
  webhook_url TEXT,
  voicemail_action TEXT NOT NULL CHECK (voicemail_action IN ('hangup', 'leave_message')),
  primary_number_id TEXT REFERENCES numbers (id),
  archived_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (id, type)
) STRICT;
CREATE INDEX agents_by_org ON agents (org_id, created_at);
CREATE INDEX agents_by_type ON agents (org_id, type, created_at);

-- agent_type repeats the agent's, so that an index can hold "at most one inbound agent a number".
CREATE TABLE agent_numbers (
  seq INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  number_id TEXT NOT NULL REFERENCES numbers (id),
  agent_type TEXT NOT NULL,
  attached_at TEXT NOT NULL,
  UNIQUE (agent_id, number_id),
  FOREIGN KEY (agent_id, agent_type) REFERENCES agents (id, type)
) STRICT;
CREATE UNIQUE INDEX agent_numbers_one_inbound ON agent_numbers (number_id) WHERE agent_type = 'inbound';
CREATE INDEX agent_numbers_by_number ON agent_numbers (number_id);

CREATE TABLE calls (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT REFERENCES agents (id),
  to_number TEXT NOT NULL,
  from_number TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('queued', 'initiated', 'ringing', 'in_progress', 'completed', 'no_answer', 'busy', 'canceled', 'failed')),
  direction TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  persona TEXT,
  instructions TEXT,
  prompt TEXT NOT NULL,
  context TEXT,
  returns TEXT NOT NULL,
  language TEXT NOT NULL,
  result TEXT,
  result_status TEXT NOT NULL CHECK (result_status IN ('pending', 'completed', 'failed')),
  result_error TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  answered_at TEXT,
  ended_at TEXT,
  duration_seconds INTEGER,
  billed_duration_seconds INTEGER,
  billing_amount_milli_cents INTEGER CHECK (billing_amount_milli_cents >= 0),
  reservation_status TEXT NOT NULL CHECK (reservation_status IN ('reserved', 'settled', 'released')),
  webhook_url TEXT,
  webhook_status TEXT NOT NULL CHECK (webhook_status IN ('none', 'pending', 'delivered', 'failed')),
  webhook_error TEXT,
  error_code TEXT,
  error_message TEXT,
  hangup_cause TEXT,
  metadata TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  chosen_language TEXT,
  voice TEXT NOT NULL,
  tools TEXT,
  voicemail_action TEXT NOT NULL CHECK (voicemail_action IN ('hangup', 'leave_message')),
  carrier TEXT NOT NULL,
  carrier_call_id TEXT,
  answered_by TEXT,
  reserved_milli_cents INTEGER NOT NULL CHECK (reserved_milli_cents >= 0),
  recording_path TEXT,
  usage TEXT,
  extraction_usage TEXT,
  cost TEXT,
  UNIQUE (carrier, carrier_call_id)
) STRICT;
CREATE INDEX calls_by_org ON calls (org_id, created_at);
CREATE INDEX calls_by_status ON calls (org_id, status, created_at);
CREATE INDEX calls_by_direction ON calls (org_id, direction, created_at);
CREATE INDEX calls_by_agent ON calls (org_id, agent_id, created_at);
CREATE INDEX calls_by_to ON calls (org_id, to_number, created_at);
CREATE INDEX calls_by_from ON calls (org_id, from_number, created_at);
CREATE INDEX calls_unfinished ON calls (created_at)
  WHERE status IN ('queued', 'initiated', 'ringing', 'in_progress');
CREATE INDEX calls_pending_result ON calls (ended_at)
  WHERE status = 'completed' AND result_status = 'pending';

-- Item ids are the model's own and need not be unique beyond a call.
CREATE TABLE transcript_items (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  call_id TEXT NOT NULL REFERENCES calls (id),
  role TEXT NOT NULL CHECK (role IN ('agent', 'caller', 'tool', 'system')),
  text TEXT NOT NULL,
  heard_text TEXT NOT NULL,
  interrupted INTEGER NOT NULL CHECK (interrupted IN (0, 1)),
  started_at TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  end_ms INTEGER,
  UNIQUE (call_id, id)
) STRICT;
CREATE INDEX transcript_items_in_speech_order ON transcript_items (call_id, start_ms);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  call_id TEXT NOT NULL REFERENCES calls (id),
  type TEXT NOT NULL,
  sequence INTEGER NOT NULL CHECK (sequence > 0),
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (call_id, sequence),
  UNIQUE (call_id, type)
) STRICT;

-- deleted_at: a deleted endpoint is gone to every reader; its row stays for the deliveries that point to it.
CREATE TABLE endpoints (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  url TEXT NOT NULL,
  description TEXT,
  enabled_events TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
  disabled_reason TEXT,
  disabled_at TEXT,
  consecutive_failures INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_expires_at TEXT,
  deleted_at TEXT
) STRICT;
CREATE INDEX endpoints_by_org ON endpoints (org_id, created_at) WHERE deleted_at IS NULL;

-- lease_until: set while an attempt is under way; null when nobody has the delivery.
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  endpoint_id TEXT REFERENCES endpoints (id),
  call_id TEXT REFERENCES calls (id),
  event_id TEXT NOT NULL REFERENCES events (id),
  event_type TEXT NOT NULL,
  url TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'exhausted')),
  attempt_count INTEGER NOT NULL,
  manual_retry_count INTEGER NOT NULL,
  next_attempt_at TEXT NOT NULL,
  last_error TEXT,
  last_response_status INTEGER,
  delivered_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  lease_until TEXT
) STRICT;
CREATE UNIQUE INDEX deliveries_one_inline ON deliveries (event_id) WHERE endpoint_id IS NULL;
CREATE UNIQUE INDEX deliveries_one_an_endpoint ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_pending ON deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX deliveries_by_org ON deliveries (org_id, created_at);
CREATE INDEX deliveries_by_status ON deliveries (org_id, status, created_at);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, org_id, created_at);
CREATE INDEX deliveries_by_call ON deliveries (call_id, org_id, created_at);
CREATE INDEX deliveries_by_type ON deliveries (org_id, event_type, created_at);

CREATE TABLE attempts (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  delivery_id TEXT NOT NULL REFERENCES deliveries (id),
  attempt INTEGER NOT NULL CHECK (attempt > 0),
  started_at TEXT NOT NULL,
  latency_ms INTEGER NOT NULL,
  response_status INTEGER,
  error TEXT,
  response_excerpt TEXT,
  UNIQUE (delivery_id, attempt)
) STRICT;

CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  call_id TEXT REFERENCES calls (id),
  kind TEXT NOT NULL CHECK (kind IN ('reserve', 'top_up', 'settle', 'release', 'credit')),
  amount_milli_cents INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ledger_once ON ledger (call_id, kind) WHERE kind <> 'top_up';
CREATE UNIQUE INDEX ledger_one_end ON ledger (call_id) WHERE kind IN ('settle', 'release');
CREATE INDEX ledger_by_call ON ledger (call_id);
CREATE INDEX ledger_by_org ON ledger (org_id);

CREATE TABLE idempotency_keys (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('in_progress', 'done')),
  begun_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  status INTEGER,
  body TEXT,
  PRIMARY KEY (org_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
`;

const TURNS = `
CREATE TABLE turns (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  call_id TEXT NOT NULL REFERENCES calls (id),
  turn_index INTEGER NOT NULL CHECK (turn_index > 0),
  kind TEXT NOT NULL CHECK (kind IN ('greeting', 'answer', 'prompt')),
  speech_end_ms REAL,
  decided_ms REAL NOT NULL,
  requested_ms REAL,
  first_model_audio_ms REAL,
  first_sent_ms REAL,
  first_heard_ms REAL,
  barged_in INTEGER NOT NULL CHECK (barged_in IN (0, 1)),
  UNIQUE (call_id, turn_index)
) STRICT;

CREATE TABLE interruptions (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  call_id TEXT NOT NULL REFERENCES calls (id),
  at_ms REAL NOT NULL,
  onset_ms REAL,
  held_ms REAL,
  silenced_ms REAL,
  taken_back INTEGER NOT NULL CHECK (taken_back IN (0, 1))
) STRICT;
CREATE INDEX interruptions_in_order ON interruptions (call_id, at_ms);
`;

const EVENTS_BY_ORG = `
CREATE INDEX events_by_org ON events (org_id, created_at);
`;

const DASHBOARD_SIGN_IN = `
CREATE TABLE operators (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL UNIQUE REFERENCES organizations (id),
  password_hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

-- hash: SHA-256 of what the cookie holds.
CREATE TABLE dashboard_sessions (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  operator_id TEXT NOT NULL REFERENCES operators (id),
  org_id TEXT NOT NULL REFERENCES organizations (id),
  created_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX dashboard_sessions_by_operator ON dashboard_sessions (operator_id);
`;

// All that the overview asks of calls stands in one index, so that it reads no row of them: rows hold prompts.
// cost_milli_cents repeated the total of the call's cost; nothing reads or writes it since calls are counted as they are written.
// answer_latencies: answers an hour, by how long they took; level n stands for 1.05^n milliseconds.
const OVERVIEW = `
ALTER TABLE calls ADD COLUMN cost_milli_cents REAL;
UPDATE calls SET cost_milli_cents = json_extract(cost, '$.total_milli_cents') WHERE cost IS NOT NULL;
CREATE INDEX calls_overview ON calls (org_id, created_at, status, direction, answered_at,
  billed_duration_seconds, billing_amount_milli_cents, cost_milli_cents, error_code, hangup_cause);

CREATE TABLE answer_latencies (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  hour TEXT NOT NULL,
  level INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  PRIMARY KEY (org_id, hour, level)
) STRICT, WITHOUT ROWID;
`;

// The words of both sides, to be found by; the text itself stays where it is. What tools answered is not said.
const SPOKEN_WORDS = `
CREATE VIRTUAL TABLE spoken_words USING fts5 (
  text, content = 'transcript_items', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO spoken_words (rowid, text) SELECT seq, text FROM transcript_items WHERE role IN ('agent', 'caller');
CREATE TRIGGER spoken_words_added AFTER INSERT ON transcript_items WHEN new.role IN ('agent', 'caller') BEGIN
  INSERT INTO spoken_words (rowid, text) VALUES (new.seq, new.text);
END;
CREATE TRIGGER spoken_words_changed AFTER UPDATE OF text ON transcript_items
WHEN new.role IN ('agent', 'caller') AND new.text IS NOT old.text BEGIN
  INSERT INTO spoken_words (spoken_words, rowid, text) VALUES ('delete', old.seq, old.text);
  INSERT INTO spoken_words (rowid, text) VALUES (new.seq, new.text);
END;
CREATE TRIGGER spoken_words_gone AFTER DELETE ON transcript_items WHEN old.role IN ('agent', 'caller') BEGIN
  INSERT INTO spoken_words (spoken_words, rowid, text) VALUES ('delete', old.seq, old.text);
END;
`;

// With the carrier, so that calls from a browser can be left out without reading them.
const OVERVIEW_BY_CARRIER = `
DROP INDEX calls_overview;
CREATE INDEX calls_overview ON calls (org_id, created_at, status, direction, answered_at,
  billed_duration_seconds, billing_amount_milli_cents, cost_milli_cents, error_code, hangup_cause, carrier);
`;

// attempts_before: attempts of earlier schedules. A replay used to set attempt_count back to 0; it is made whole again.
const ATTEMPTS_COUNT_ON = `
ALTER TABLE deliveries ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET (attempts_before, attempt_count) =
  (SELECT max(count(*) - deliveries.attempt_count, 0), max(count(*), deliveries.attempt_count)
   FROM attempts WHERE attempts.delivery_id = deliveries.id)
  WHERE manual_retry_count > 0;
`;

// What the installation keeps about the file itself: no record of anybody's.
const NOTES = `
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

// Lists stay fast however many rows there are when each has an index with its conditions before its time: storage/sqlite/pages.ts
// puts the rest together from arms. What waits is by receiver, so that what a disabled one holds is not looked through.
const LISTS_AT_SCALE = `
DROP INDEX calls_by_status;
DROP INDEX calls_by_direction;
DROP INDEX calls_by_agent;
DROP INDEX calls_by_to;
DROP INDEX calls_by_from;
CREATE INDEX calls_by_state ON calls (org_id, direction, status, created_at);
CREATE INDEX calls_by_agent ON calls (org_id, agent_id, direction, status, created_at);
CREATE INDEX calls_by_to ON calls (org_id, to_number, direction, status, created_at);
CREATE INDEX calls_by_from ON calls (org_id, from_number, direction, status, created_at);

DROP INDEX events_by_org;
CREATE INDEX events_by_org ON events (org_id);
CREATE INDEX events_by_type ON events (org_id, type);

DROP INDEX deliveries_pending;
DROP INDEX deliveries_by_org;
DROP INDEX deliveries_by_status;
DROP INDEX deliveries_by_endpoint;
DROP INDEX deliveries_by_type;
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (org_id, event_type, status, created_at);
CREATE INDEX deliveries_by_endpoint ON deliveries (endpoint_id, org_id, event_type, status, created_at);

CREATE INDEX idempotency_keys_in_progress ON idempotency_keys (begun_at) WHERE state = 'in_progress';
`;

// A document a call in place of one a stretch of speech: a tenth of the documents, in the order in which calls are shown, with
// the facts that narrow a search. numbers: every three digits in a row, after an n, which keeps them apart from words. With
// an index of the starts of words, what is typed so far is looked up like a word. The documents themselves are not kept.
const WORDS_OF_CALLS = `
DROP TRIGGER spoken_words_added;
DROP TRIGGER spoken_words_changed;
DROP TRIGGER spoken_words_gone;
DROP TABLE spoken_words;
CREATE VIRTUAL TABLE call_words USING fts5 (
  facts, numbers, words, content = '', contentless_delete = 1, detail = 'column', prefix = '1 2 3 4 5 6 7 8',
  tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIEW call_documents (seq, id, status, facts, numbers, words) AS
SELECT calls.seq, calls.id, calls.status,
  'o' || (SELECT organizations.seq FROM organizations WHERE organizations.id = calls.org_id)
    || ' ' || calls.direction || ' ' || replace(calls.status, '_', '')
    || coalesce(' a' || replace(calls.agent_id, '-', ''), ''),
  (WITH RECURSIVE place (at, number) AS (
     SELECT 1, calls.to_number || ' ' || calls.from_number
     UNION ALL SELECT at + 1, number FROM place WHERE at + 3 <= length(number)
   ) SELECT group_concat('n' || substr(number, at, 3), ' ') FROM place
     WHERE substr(number, at, 3) GLOB '[0-9][0-9][0-9]'),
  (SELECT group_concat(text, ' ') FROM transcript_items
   WHERE transcript_items.call_id = calls.id AND role IN ('agent', 'caller'))
FROM calls;
INSERT INTO call_words (rowid, facts, numbers, words)
  SELECT seq, facts, numbers, words FROM call_documents
  WHERE status NOT IN ('queued', 'initiated', 'ringing', 'in_progress') ORDER BY seq;
`;

// The overview's numbers are kept by the hour while calls change, so that a month is read in some hundred rows; by triggers
// until a later step, when the verbs that write calls took it over. By phone alone are counted calls; time and money also of
// calls from a page.
const ended = (row: string) => `(${row}.status NOT IN ('queued', 'initiated', 'ringing', 'in_progress'))`;
const COUNTERS = [
  'calls',
  'inbound',
  'ended',
  'completed',
  'failed',
  'talk_seconds',
  'billed_milli_cents',
  'cost_milli_cents',
  'costs_known',
];
const hourOf = (row: string) => `substr(${row}.created_at, 1, 13)`;
const reasonOf = (row: string) => `coalesce(${row}.error_code, ${row}.hangup_cause, 'unknown')`;

/** The counters and their triggers. @param phoned whether a row is a call by phone */
function countedBy(phoned: (row: string) => string) {
  const failed = (row: string) => `(${phoned(row)} AND ${row}.status = 'failed')`;
  const counted = (row: string) => [
    phoned(row),
    `(${phoned(row)} AND ${row}.direction = 'inbound')`,
    `(${phoned(row)} AND ${ended(row)})`,
    `(${phoned(row)} AND ${row}.status = 'completed')`,
    failed(row),
    `coalesce(${row}.billed_duration_seconds, 0)`,
    `coalesce(${row}.billing_amount_milli_cents, 0)`,
    `coalesce(${row}.cost_milli_cents, 0.0)`,
    `(${row}.cost_milli_cents IS NOT NULL)`,
  ];
  const count = (row: 'new' | 'old', sign: '' | '-') => `
  INSERT INTO call_hours (org_id, hour, ${COUNTERS.join(', ')})
    VALUES (${row}.org_id, ${hourOf(row)}, ${counted(row)
      .map((value) => `${sign}${value}`)
      .join(', ')})
    ON CONFLICT (org_id, hour) DO UPDATE SET ${COUNTERS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')};
  INSERT INTO failure_hours (org_id, hour, reason, calls)
    SELECT ${row}.org_id, ${hourOf(row)}, ${reasonOf(row)}, ${sign}1 WHERE ${failed(row)}
    ON CONFLICT (org_id, hour, reason) DO UPDATE SET calls = calls + excluded.calls;`;
  const triggers = `CREATE TRIGGER calls_counted AFTER INSERT ON calls BEGIN ${count('new', '')}
END;
CREATE TRIGGER calls_recounted AFTER UPDATE OF status, billed_duration_seconds, billing_amount_milli_cents,
  cost_milli_cents, error_code, hangup_cause ON calls BEGIN ${count('old', '-')} ${count('new', '')}
END;
CREATE TRIGGER calls_uncounted AFTER DELETE ON calls BEGIN ${count('old', '-')}
END;
`;
  return { failed, counted, triggers };
}

const byCarrier = countedBy((row) => `(${row}.carrier <> 'browser')`);
const OVERVIEW_BY_HOUR = `
CREATE TABLE call_hours (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  hour TEXT NOT NULL,
  calls INTEGER NOT NULL,
  inbound INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  talk_seconds INTEGER NOT NULL,
  billed_milli_cents INTEGER NOT NULL,
  cost_milli_cents REAL NOT NULL,
  costs_known INTEGER NOT NULL,
  PRIMARY KEY (org_id, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE failure_hours (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  hour TEXT NOT NULL,
  reason TEXT NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (org_id, hour, reason)
) STRICT, WITHOUT ROWID;
INSERT INTO call_hours (org_id, hour, ${COUNTERS.join(', ')})
  SELECT org_id, ${hourOf('calls')}, ${byCarrier
    .counted('calls')
    .map((value) => `sum(${value})`)
    .join(', ')}
  FROM calls GROUP BY org_id, ${hourOf('calls')};
INSERT INTO failure_hours (org_id, hour, reason, calls)
  SELECT org_id, ${hourOf('calls')}, ${reasonOf('calls')}, count(*) FROM calls WHERE ${byCarrier.failed('calls')}
  GROUP BY org_id, ${hourOf('calls')}, ${reasonOf('calls')};
DROP INDEX calls_overview;
${byCarrier.triggers}`;

// What all rows of an organization add up to, kept with each of them: setting a balance reads no other row.
const LEDGER_SUMS = `
ALTER TABLE organizations ADD COLUMN ledger_milli_cents INTEGER NOT NULL DEFAULT 0;
UPDATE organizations SET ledger_milli_cents =
  (SELECT coalesce(sum(amount_milli_cents), 0) FROM ledger WHERE ledger.org_id = organizations.id);
`;

// Who answers for what is under way: a run of the daemon, by its epoch. The first row stands for all runs before this was
// written down; whoever migrates is alone, so that these are over. Calls that are over keep the owner they had, or none.
const OWNERS = `
CREATE TABLE daemons (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  life TEXT,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  heir INTEGER REFERENCES daemons (epoch)
) STRICT;
CREATE INDEX daemons_without_heir ON daemons (epoch) WHERE heir IS NULL;
INSERT INTO daemons (epoch, host, pid, started_at, ended_at) VALUES
  (1, '', 0, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z');

ALTER TABLE calls ADD COLUMN owner INTEGER REFERENCES daemons (epoch);
UPDATE calls INDEXED BY calls_unfinished SET owner = 1
  WHERE status IN ('queued', 'initiated', 'ringing', 'in_progress');
UPDATE calls INDEXED BY calls_pending_result SET owner = 1 WHERE status = 'completed' AND result_status = 'pending';
DROP INDEX calls_unfinished;
DROP INDEX calls_pending_result;
CREATE INDEX calls_unfinished ON calls (owner, created_at)
  WHERE status IN ('queued', 'initiated', 'ringing', 'in_progress');
CREATE INDEX calls_pending_result ON calls (owner, ended_at)
  WHERE status = 'completed' AND result_status = 'pending';

ALTER TABLE deliveries ADD COLUMN lease_owner INTEGER REFERENCES daemons (epoch);
UPDATE deliveries INDEXED BY deliveries_leased SET lease_until = NULL WHERE lease_until IS NOT NULL;
DROP INDEX deliveries_leased;
CREATE INDEX deliveries_leased ON deliveries (lease_owner) WHERE lease_owner IS NOT NULL;

ALTER TABLE idempotency_keys ADD COLUMN owner INTEGER REFERENCES daemons (epoch);
DELETE FROM idempotency_keys INDEXED BY idempotency_keys_in_progress WHERE state = 'in_progress';
DROP INDEX idempotency_keys_in_progress;
CREATE INDEX idempotency_keys_owned ON idempotency_keys (owner) WHERE owner IS NOT NULL;
`;

// Numbers of before were bought where all numbers were.
const NUMBERS_CARRIER = `
ALTER TABLE numbers ADD COLUMN carrier TEXT NOT NULL DEFAULT 'twilio';
`;

// Which speech model an agent wants, and which one a call had. Null: the default, and not kept.
const MODELS_BY_NAME = `
ALTER TABLE agents ADD COLUMN model TEXT;
ALTER TABLE calls ADD COLUMN model TEXT;
`;

// What waits is stored by a clock that begins with the wall's of now (storage/sqlite/steady-clock.ts).
const STEADY_TIMES = `
INSERT INTO notes (name, value) SELECT 'steady_from_ms', value FROM notes WHERE name = 'times_moved_ms';
`;

// Whether a call goes over the telephone network is written down with it, by whoever knows its carrier.
const TELEPHONE_CALLS = `
ALTER TABLE calls ADD COLUMN telephone INTEGER NOT NULL DEFAULT 1;
UPDATE calls SET telephone = 0 WHERE carrier = 'browser';
DROP TRIGGER calls_counted;
DROP TRIGGER calls_recounted;
DROP TRIGGER calls_uncounted;
${countedBy((row) => `(${row}.telephone = 1)`).triggers}`;

// What a call adds to its hour is decided above SQL (storage/call-counts.ts), and written with the call.
const COUNTED_WITH_CALLS = `
DROP TRIGGER calls_counted;
DROP TRIGGER calls_recounted;
DROP TRIGGER calls_uncounted;
`;

// What stops an agent when said over its voice, beside what does so in its language.
const INTERRUPTION_WORDS = `
ALTER TABLE agents ADD COLUMN interruption_words TEXT NOT NULL DEFAULT '[]';
ALTER TABLE calls ADD COLUMN interruption_words TEXT NOT NULL DEFAULT '[]';
`;

const THROWN_AWAY = `
ALTER TABLE turns ADD COLUMN thrown_away INTEGER NOT NULL DEFAULT 0 CHECK (thrown_away >= 0);
`;

// Until now a voice that was held was paused at once.
const PAUSES = `
ALTER TABLE interruptions ADD COLUMN paused_ms REAL;
UPDATE interruptions SET paused_ms = held_ms;
`;

// How an agent takes turns, in words, and how the agent of a call did. What was there before took them as `normal` does.
const TUNING = ['agents', 'calls']
  .flatMap((table) =>
    ['patience', 'eagerness', 'interruption'].map(
      (word) => `ALTER TABLE ${table} ADD COLUMN ${word} TEXT NOT NULL DEFAULT 'normal';`,
    ),
  )
  .join('\n');

// What another process needs to go on with a call, and how daemons of one folder find each other.
const CALLS_GO_ON = `
ALTER TABLE calls ADD COLUMN stream_began_at TEXT;
ALTER TABLE calls ADD COLUMN gaps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE calls ADD COLUMN running_tools TEXT NOT NULL DEFAULT '[]';
ALTER TABLE daemons ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE daemons ADD COLUMN state TEXT NOT NULL DEFAULT 'running';
ALTER TABLE daemons ADD COLUMN private_port INTEGER;
ALTER TABLE daemons ADD COLUMN alive_at TEXT;
`;

// Whom an organization may call: its rules, whom it must not call, who agreed, what was refused; and how many calls it made in
// each second of the last minute, so that a limit is looked up and not counted.
const OUTBOUND = `
ALTER TABLE calls ADD COLUMN gate TEXT;
CREATE TABLE outbound_rules (
  org_id TEXT PRIMARY KEY REFERENCES organizations (id),
  rules TEXT NOT NULL,
  updated_by TEXT,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE number_salts (
  org_id TEXT PRIMARY KEY REFERENCES organizations (id),
  salt TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE dialled_seconds (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  second INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (org_id, second)
) STRICT, WITHOUT ROWID;
CREATE TABLE do_not_call (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  number_hash TEXT NOT NULL,
  number TEXT,
  last4 TEXT NOT NULL,
  reason TEXT,
  source TEXT NOT NULL,
  call_id TEXT,
  item_id TEXT,
  at_ms REAL,
  created_by TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (org_id, number_hash)
) STRICT;
CREATE INDEX do_not_call_by_org ON do_not_call (org_id, created_at);
CREATE INDEX do_not_call_by_call ON do_not_call (call_id) WHERE call_id IS NOT NULL;
CREATE TABLE consents (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  number_hash TEXT NOT NULL,
  number TEXT,
  last4 TEXT NOT NULL,
  purpose TEXT NOT NULL,
  source TEXT NOT NULL,
  given_at TEXT NOT NULL,
  evidence TEXT,
  revoked_at TEXT,
  created_by TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX consents_by_org ON consents (org_id, created_at);
CREATE INDEX consents_by_number ON consents (org_id, number_hash, created_at);
CREATE TABLE refused_calls (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  to_number TEXT,
  last4 TEXT NOT NULL,
  from_number TEXT,
  agent_id TEXT,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  evidence TEXT NOT NULL,
  codes TEXT NOT NULL,
  asked_by TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX refused_calls_by_org ON refused_calls (org_id, created_at);
CREATE INDEX refused_calls_by_code ON refused_calls (org_id, code, created_at);
`;

// Campaigns. Attempts have a table of their own, whose key no contact's attempt can have twice.
const CAMPAIGNS = `
CREATE TABLE campaigns (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  from_number TEXT,
  status TEXT NOT NULL,
  status_reason TEXT,
  calls_per_minute INTEGER NOT NULL,
  max_concurrent INTEGER NOT NULL,
  free_lines INTEGER NOT NULL,
  windows TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  window_zone TEXT NOT NULL,
  retries TEXT NOT NULL,
  max_attempts INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  started_at TEXT,
  ended_at TEXT,
  held_code TEXT,
  held_until TEXT,
  last_started_at TEXT,
  at_work INTEGER NOT NULL DEFAULT 0,
  owner INTEGER
) STRICT;
CREATE INDEX campaigns_by_org ON campaigns (org_id);
CREATE INDEX campaigns_by_status ON campaigns (org_id, status);
CREATE INDEX campaigns_at_work ON campaigns (owner) WHERE at_work = 1;

CREATE TABLE campaign_contacts (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  campaign_id TEXT NOT NULL REFERENCES campaigns (id),
  to_number TEXT NOT NULL,
  context TEXT NOT NULL,
  priority INTEGER NOT NULL,
  time_zones TEXT NOT NULL,
  status TEXT NOT NULL,
  outcome TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  tries TEXT NOT NULL,
  due_at TEXT NOT NULL,
  due_reason TEXT NOT NULL,
  last_call_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (campaign_id, to_number)
) STRICT;
CREATE INDEX contacts_by_campaign ON campaign_contacts (org_id, campaign_id);
CREATE INDEX contacts_by_status ON campaign_contacts (org_id, campaign_id, status);
CREATE INDEX contacts_by_outcome ON campaign_contacts (org_id, campaign_id, outcome);
CREATE INDEX contacts_waiting ON campaign_contacts (campaign_id, priority, due_at) WHERE status = 'waiting';
CREATE INDEX contacts_postponed ON campaign_contacts (campaign_id) WHERE status = 'waiting' AND due_reason = 'window';

CREATE TABLE campaign_attempts (
  seq INTEGER PRIMARY KEY,
  contact_id TEXT NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt > 0),
  campaign_id TEXT NOT NULL,
  call_id TEXT NOT NULL UNIQUE,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  outcome TEXT,
  UNIQUE (contact_id, attempt)
) STRICT;
CREATE INDEX attempts_open ON campaign_attempts (campaign_id) WHERE outcome IS NULL;

CREATE TABLE campaign_tallies (
  seq INTEGER PRIMARY KEY,
  campaign_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  hour TEXT NOT NULL,
  value TEXT NOT NULL,
  count INTEGER NOT NULL,
  UNIQUE (campaign_id, kind, hour, value)
) STRICT;

ALTER TABLE calls ADD COLUMN campaign_id TEXT;
ALTER TABLE calls ADD COLUMN contact_id TEXT;
ALTER TABLE calls ADD COLUMN attempt INTEGER;
`;

// Whether calls are summed up, and what that says.
const SUMMARIES = `
ALTER TABLE agents ADD COLUMN summarize INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN summarize INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN summary TEXT;
ALTER TABLE calls ADD COLUMN sentiment TEXT;
`;

// People with roles in place of one operator an organization, and keys that may less than all (scopes, a JSON list; null: all).
// The operators are made users as the store is opened (operators.ts): a program of before may go on beside.
const PEOPLE = `
CREATE TABLE users (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  email TEXT,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'operator', 'viewer')),
  may_listen INTEGER NOT NULL,
  password_hash TEXT,
  totp_secret TEXT,
  totp_confirmed_at TEXT,
  totp_last_step INTEGER,
  recovery_codes TEXT NOT NULL,
  oidc_issuer TEXT,
  oidc_subject TEXT,
  disabled_at TEXT,
  signed_in_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (org_id, email)
) STRICT;
CREATE INDEX users_by_email ON users (email);
CREATE INDEX users_by_subject ON users (oidc_subject, oidc_issuer);

-- hash: SHA-256 of what the cookie holds.
CREATE TABLE user_sessions (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id),
  org_id TEXT NOT NULL REFERENCES organizations (id),
  how TEXT NOT NULL,
  address TEXT,
  agent TEXT,
  created_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX user_sessions_by_user ON user_sessions (user_id);

CREATE TABLE invitations (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  hash TEXT NOT NULL UNIQUE,
  email TEXT,
  role TEXT NOT NULL CHECK (role IN ('owner', 'operator', 'viewer')),
  may_listen INTEGER NOT NULL,
  user_id TEXT REFERENCES users (id),
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at TEXT
) STRICT;
CREATE INDEX invitations_by_org ON invitations (org_id);
CREATE INDEX invitations_by_email ON invitations (email);

CREATE TABLE audit_log (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  created_at TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT,
  target_id TEXT,
  detail TEXT,
  address TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX audit_log_by_org ON audit_log (org_id, created_at);
CREATE INDEX audit_log_by_actor ON audit_log (org_id, actor_id, created_at);
CREATE INDEX audit_log_by_action ON audit_log (org_id, action, created_at);
CREATE INDEX audit_log_by_target ON audit_log (org_id, target_id, created_at);

ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at TEXT;
ALTER TABLE api_keys ADD COLUMN created_by TEXT;
`;

// What an organization wants to be told of, how each rule stands, and what was told.
const ALERTS = `
CREATE TABLE alert_settings (
  seq INTEGER PRIMARY KEY,
  org_id TEXT NOT NULL UNIQUE REFERENCES organizations (id),
  webhook_url TEXT,
  emails TEXT NOT NULL,
  rules TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE alert_states (
  seq INTEGER PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  since_at TEXT NOT NULL,
  fired_at TEXT,
  told_at TEXT,
  version INTEGER NOT NULL,
  UNIQUE (org_id, kind)
) STRICT;

CREATE TABLE alert_messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  text TEXT NOT NULL,
  value REAL,
  threshold REAL,
  created_at TEXT NOT NULL,
  webhook TEXT,
  email TEXT,
  next_attempt_at TEXT
) STRICT;
CREATE INDEX alert_messages_by_org ON alert_messages (org_id);
CREATE INDEX alert_messages_due ON alert_messages (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
`;

// How long what is kept, what was erased and what may not be.
const KEPT = `
ALTER TABLE calls ADD COLUMN erased_at TEXT;
ALTER TABLE organizations ADD COLUMN erased_at TEXT;

-- agent_id: empty for what has no rule of its own.
CREATE TABLE retention (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  agent_id TEXT NOT NULL,
  recordings INTEGER,
  transcripts INTEGER,
  events INTEGER,
  deliveries INTEGER,
  calls INTEGER,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (org_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE retention_swept (
  org_id TEXT NOT NULL REFERENCES organizations (id),
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  up_to TEXT NOT NULL,
  seq_to INTEGER NOT NULL,
  PRIMARY KEY (org_id, agent_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE legal_holds (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  subject TEXT NOT NULL CHECK (subject IN ('call', 'number', 'organization')),
  call_id TEXT REFERENCES calls (id),
  number TEXT,
  reason TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  lifted_by TEXT,
  lifted_at TEXT
) STRICT;
CREATE INDEX legal_holds_by_org ON legal_holds (org_id);
CREATE INDEX legal_holds_in_force ON legal_holds (org_id) WHERE lifted_at IS NULL;
CREATE INDEX legal_holds_by_call ON legal_holds (call_id) WHERE call_id IS NOT NULL;

CREATE TABLE erasures (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES organizations (id),
  subject TEXT NOT NULL CHECK (subject IN ('call', 'number', 'organization')),
  call_id TEXT REFERENCES calls (id),
  number TEXT,
  number_hash TEXT,
  reason TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'clearing', 'done')),
  requested_by TEXT NOT NULL,
  counts TEXT NOT NULL,
  backups TEXT NOT NULL,
  created_at TEXT NOT NULL,
  done_at TEXT,
  rewritten_at TEXT,
  owner INTEGER REFERENCES daemons (epoch)
) STRICT;
CREATE INDEX erasures_by_org ON erasures (org_id);
CREATE INDEX erasures_by_number ON erasures (org_id, number_hash) WHERE number_hash IS NOT NULL;
CREATE INDEX erasures_under_way ON erasures (seq) WHERE state <> 'done';
CREATE INDEX erasures_to_rewrite ON erasures (seq) WHERE rewritten_at IS NULL;
CREATE TABLE erased_files (
  seq INTEGER PRIMARY KEY,
  erasure_id TEXT NOT NULL REFERENCES erasures (id),
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (erasure_id, path)
) STRICT;
`;

// Whether an agent calls nobody without a consent.
const CONSENT_OF_AGENTS = `
ALTER TABLE agents ADD COLUMN consent TEXT NOT NULL DEFAULT 'none';
`;

// What is said before all else, how much of it was heard, and by which name an organization is spoken of.
const DISCLOSURE = `
ALTER TABLE agents ADD COLUMN disclosure TEXT;
ALTER TABLE calls ADD COLUMN disclosure TEXT;
ALTER TABLE calls ADD COLUMN opted_out TEXT;
ALTER TABLE organizations ADD COLUMN spoken_name TEXT;
ALTER TABLE organizations ADD COLUMN recording_notice TEXT;
`;

// Which numbers are not stored of what is said.
const MASKS = `
ALTER TABLE agents ADD COLUMN mask TEXT NOT NULL DEFAULT '[]';
ALTER TABLE calls ADD COLUMN mask TEXT NOT NULL DEFAULT '[]';
`;

/** In order; a database's user_version is the number of steps it has taken. */
export const MIGRATIONS: readonly Migration[] = [
  { name: 'first schema', sql: FIRST_SCHEMA },
  { name: 'turns and interruptions', sql: TURNS },
  { name: 'events of an organization', sql: EVENTS_BY_ORG },
  { name: 'dashboard sign-in', sql: DASHBOARD_SIGN_IN },
  { name: 'overview', sql: OVERVIEW },
  { name: 'spoken words', sql: SPOKEN_WORDS },
  { name: 'overview by carrier', sql: OVERVIEW_BY_CARRIER },
  { name: 'notes', sql: NOTES },
  { name: 'attempts count on over replays', sql: ATTEMPTS_COUNT_ON },
  { name: 'lists at scale', sql: LISTS_AT_SCALE },
  { name: 'words of calls', sql: WORDS_OF_CALLS },
  { name: 'overview by the hour', sql: OVERVIEW_BY_HOUR },
  { name: 'sums of the ledger', sql: LEDGER_SUMS },
  { name: 'owners', sql: OWNERS },
  { name: 'carrier of a number', sql: NUMBERS_CARRIER },
  { name: 'models by name', sql: MODELS_BY_NAME },
  { name: 'steady times', sql: STEADY_TIMES },
  { name: 'telephone calls', sql: TELEPHONE_CALLS },
  { name: 'counted with calls', sql: COUNTED_WITH_CALLS },
  { name: 'interruption words', sql: INTERRUPTION_WORDS },
  { name: 'answers thrown away', sql: THROWN_AWAY },
  { name: 'pauses of the voice', sql: PAUSES },
  { name: 'tuning', sql: TUNING },
  { name: 'calls go on', sql: CALLS_GO_ON, kind: 'adds' },
  { name: 'outbound', sql: OUTBOUND, kind: 'adds' },
  { name: 'campaigns', sql: CAMPAIGNS, kind: 'adds' },
  { name: 'summaries', sql: SUMMARIES, kind: 'adds' },
  { name: 'people', sql: PEOPLE, kind: 'adds' },
  { name: 'alerts', sql: ALERTS, kind: 'adds' },
  { name: 'what is kept', sql: KEPT, kind: 'adds' },
  { name: 'consent of agents', sql: CONSENT_OF_AGENTS, kind: 'adds' },
  { name: 'disclosure', sql: DISCLOSURE, kind: 'adds' },
  { name: 'masks', sql: MASKS, kind: 'adds' },
];
