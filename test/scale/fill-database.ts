// `npm run fill-database -- PATH`: a database as a busy line leaves it behind after half a year, the same for the same seed.
// Rows are written past the verbs, in bulk, into the tables that the migrations made; what is counted or indexed beside
// them is made from them at the end.
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type Database from 'better-sqlite3';
import { hashKey } from '../../control/http/keys.ts';
import { callView } from '../../storage/call-view.ts';
import type {
  AgentRecord,
  CallRecord,
  CallStatus,
  EventType,
  LedgerRecord,
  TranscriptItemRecord,
} from '../../storage/records.ts';
import { openConnection } from '../../storage/sqlite/connection.ts';
import { openDatabase } from '../../storage/sqlite/database.ts';
import { countCall } from '../../storage/sqlite/overview.ts';
import {
  AGENTS,
  ATTEMPTS,
  CALLS,
  DELIVERIES,
  ENDPOINTS,
  EVENTS,
  INTERRUPTIONS,
  KEYS,
  LEDGER,
  NUMBERS,
  ORGANIZATIONS,
  type Row,
  TRANSCRIPT_ITEMS,
  TURNS,
} from '../../storage/sqlite/rows.ts';
import { seeded } from '../random.ts';
import { speech } from './speech.ts';

export interface FillOptions {
  path: string;
  /** Calls of the first organization; other organizations get more until there are `events`. */
  calls: number;
  /** Events of all organizations together. */
  events: number;
  /** Over how many days, the last of which is `until`. */
  days: number;
  until: Date;
  seed: number;
  log?: (line: string) => void;
}

/** The API key of the first organization. */
const FILLED_KEY = 'sk_filled_database_key_for_measurements_only';
/** How calls end, in thousandths; the last two are the rare ones. */
const ENDS: readonly [CallStatus, number][] = [
  ['completed', 700],
  ['no_answer', 149],
  ['failed', 80],
  ['busy', 70],
  ['canceled', 1],
];
const HOUR_MS = 3_600_000;

/** Ids in the order of time, as the daemon's are (UUID version 7), but from the seed. */
function idsFrom(random: () => number): (atMs: number) => string {
  let count = 0;
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return (atMs) => {
    count = (count + 1) % 0x1000;
    const time = hex(atMs, 12);
    const [a, b] = [Math.floor(random() * 0x4000) + 0x8000, Math.floor(random() * 2 ** 48)];
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(count, 3)}-${hex(a, 4)}-${hex(b, 12)}`;
  };
}

interface Line {
  orgId: string;
  /** Its agents, the busiest first. */
  agents: AgentRecord[];
  numbers: string[];
  endpoints: { id: string; url: string; wants: 'all' | 'completed'; down: boolean }[];
  rich: boolean;
}

/**
 * Fills a new database.
 * @throws when there is something in it already
 */
export function fillDatabase(o: FillOptions): { calls: number; events: number; bytes: number } {
  const log = o.log ?? (() => {});
  const random = seeded(o.seed);
  const idAt = idsFrom(random);
  const { db, close } = openDatabase({ path: o.path });
  if (db.prepare('SELECT 1 FROM organizations').get() !== undefined) {
    close();
    throw new Error(`${o.path} holds something already`);
  }
  db.pragma('foreign_keys = OFF');
  // Nothing here outlives a crash; written twice it would take twice as long.
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -600000');
  const writer = bulkWriter(db, random, idAt);
  const toMs = o.until.getTime();
  const fromMs = toMs - o.days * 24 * HOUR_MS;

  const first = writer.line({ name: 'Bluebird Clinics', agents: 24, numbers: 40, rich: true, atMs: fromMs });
  const others = [1, 2, 3].map((at) =>
    writer.line({ name: `Neighbour ${at}`, agents: 3, numbers: 4, rich: false, atMs: fromMs }),
  );
  const begun = performance.now();
  let calls = 0;
  let told = begun;
  db.exec('BEGIN');
  // The expected share of each step of time, so that both kinds of organization fill the same days.
  const perCall = 3.1;
  const extra = Math.max(0, Math.ceil((o.events - o.calls * perCall) / perCall));
  const all = o.calls + extra;
  for (let at = 0; at < all || writer.events() < o.events; at++) {
    const own = Math.floor(((at + 1) * o.calls) / all) > Math.floor((at * o.calls) / all) && calls < o.calls;
    const line = own ? first : (others[Math.floor(random() ** 2 * others.length)] ?? first);
    if (own) calls++;
    else if (o.events <= writer.events()) continue;
    const createdMs = Math.min(
      toMs - 600_000,
      Math.floor(fromMs + ((toMs - fromMs) * (at + random())) / all),
    );
    writer.call(line, createdMs);
    if (at % 5_000 === 0) {
      db.exec('COMMIT; BEGIN');
      if (performance.now() - told > 10_000) {
        told = performance.now();
        log(`${calls} calls, ${writer.events()} events, ${Math.round((told - begun) / 1000)} s`);
      }
    }
  }
  writer.live(first, toMs);
  db.exec('COMMIT');
  log('counting and indexing');
  deriveRows(db);
  db.pragma('journal_mode = WAL');
  close();
  const bytes = statSync(o.path).size;
  return { calls, events: writer.events(), bytes };
}

function bulkWriter(db: Database.Database, random: () => number, idAt: (atMs: number) => string) {
  const said = speech(random);
  const connection = openConnection({ db, owner: 0, clock: () => new Date(0) });
  const prepared = new Map<string, Database.Statement>();
  const put = (sql: string, row: Row) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      prepared.set(sql, statement);
    }
    statement.run(row);
  };
  const iso = (ms: number) => new Date(ms).toISOString();
  const below = (count: number) => Math.floor(random() * count);
  let events = 0;
  let numberCount = 0;
  const customers = Array.from({ length: 60_000 }, () => `+1${2_000_000_000 + below(7_999_999_999)}`);

  function ending(): CallStatus {
    let left = random() * 1000;
    for (const [status, share] of ENDS) {
      left -= share;
      if (left < 0) return status;
    }
    return 'completed';
  }

  function line(o: { name: string; agents: number; numbers: number; rich: boolean; atMs: number }): Line {
    const orgId = idAt(o.atMs);
    const at = iso(o.atMs);
    put(
      ORGANIZATIONS.insert,
      ORGANIZATIONS.toRow({
        id: orgId,
        name: o.name,
        webhook_secret: 'whsec_b3Jn',
        previous_webhook_secret: null,
        previous_webhook_secret_expires_at: null,
        balance_milli_cents: null,
        spoken_name: null,
        recording_notice: null,
        created_at: at,
      }),
    );
    const key = o.rich ? FILLED_KEY : `sk_${orgId}`;
    put(
      KEYS.insert,
      KEYS.toRow({
        id: idAt(o.atMs),
        org_id: orgId,
        hash: hashKey(key),
        name: 'filled',
        prefix: key.slice(0, 6),
        last4: key.slice(-4),
        created_at: at,
        last_used_at: null,
        revoked_at: null,
        scopes: null,
        expires_at: null,
        created_by: null,
      }),
    );
    const numbers = Array.from({ length: o.numbers }, () => {
      numberCount++;
      const e164 = `+1415555${String(numberCount).padStart(4, '0')}`;
      const id = idAt(o.atMs);
      put(
        NUMBERS.insert,
        NUMBERS.toRow({
          id,
          org_id: orgId,
          e164,
          friendly_name: `Line ${numberCount}`,
          country_code: 'US',
          number_type: 'local',
          status: 'active',
          monthly_cost_cents: 115,
          purchased_at: at,
          carrier: 'twilio',
          carrier_number_id: `PN${id}`,
        }),
      );
      return e164;
    });
    const agents = Array.from({ length: o.agents }, (_none, index): AgentRecord => {
      const agent: AgentRecord = {
        id: idAt(o.atMs),
        org_id: orgId,
        user_id: 'user_1',
        name: `${said.word(40 + index * 7)} ${index % 2 === 0 ? 'reminder' : 'front desk'}`,
        type: index % 2 === 0 ? 'outbound' : 'inbound',
        persona: said.text(30),
        instructions: said.text(o.rich ? 120 : 30),
        voice: 'marin',
        model: null,
        language: 'en',
        returns: { confirmed: 'boolean', note: { type: 'string', description: said.text(8) } },
        tools: [{ type: 'end_call' }],
        webhook_url: null,
        voicemail_action: 'hangup',
        interruption_words: [],
        patience: 'normal',
        eagerness: 'normal',
        interruption: 'normal',
        summarize: false,
        mask: [],
        consent: 'none',
        disclosure: null,
        primary_number_id: null,
        archived_at: null,
        created_at: at,
        updated_at: at,
      };
      put(AGENTS.insert, AGENTS.toRow(agent));
      return agent;
    });
    const endpoints = o.rich
      ? (
          [
            { wants: 'all', down: false },
            { wants: 'completed', down: true },
          ] as const
        ).map(({ wants, down }) => {
          const endpoint = { id: idAt(o.atMs), url: `https://crm.example.com/${wants}`, wants, down };
          put(
            ENDPOINTS.insert,
            ENDPOINTS.toRow({
              id: endpoint.id,
              org_id: orgId,
              url: endpoint.url,
              description: null,
              enabled_events: wants === 'all' ? ['*'] : ['call.completed'],
              status: down ? 'disabled' : 'enabled',
              disabled_reason: down ? 'too_many_failures' : null,
              disabled_at: down ? at : null,
              consecutive_failures: down ? 10 : 0,
              created_at: at,
              updated_at: at,
              secret: 'whsec_ZW5k',
              previous_secret: null,
              previous_secret_expires_at: null,
            }),
          );
          return endpoint;
        })
      : [];
    return { orgId, agents, numbers, endpoints, rich: o.rich };
  }

  function record(of: Line, status: CallStatus, createdMs: number): CallRecord {
    const agent = of.agents[Math.floor(random() ** 2.5 * of.agents.length)] as AgentRecord;
    const outbound = agent.type === 'outbound';
    const own = of.numbers[Math.floor(random() ** 1.5 * of.numbers.length)] as string;
    const customer = customers[Math.floor(random() ** 1.2 * customers.length)] as string;
    const connected = status === 'completed' || (status === 'failed' && random() < 0.3);
    const ringMs = 1_000 + below(12_000);
    const talkSeconds = connected ? 5 + Math.floor(-Math.log(1 - random()) * 90) : 0;
    const ended = createdMs + ringMs + talkSeconds * 1000;
    const id = idAt(createdMs);
    const telephone = random() >= 0.02;
    const part = { name: 'gpt-realtime', milli_cents: talkSeconds * 70, used: { seconds: talkSeconds } };
    return {
      id,
      agent_id: random() < 0.02 ? null : agent.id,
      to_number: outbound ? customer : own,
      from_number: outbound ? own : random() < 0.03 ? 'anonymous' : customer,
      status,
      direction: agent.type,
      persona: agent.persona,
      instructions: agent.instructions,
      prompt: `${agent.persona}\n\n${agent.instructions}\n\nThe call began at ${iso(createdMs)}.`,
      context: outbound ? { order: below(1e6), name: said.word(below(3_000)) } : null,
      returns: agent.returns,
      language: 'en',
      result: connected && of.rich ? { confirmed: random() < 0.6, note: said.text(6) } : null,
      result_status: 'completed',
      result_error: null,
      summary: null,
      sentiment: null,
      created_at: iso(createdMs),
      started_at: iso(createdMs + 900),
      answered_at: connected ? iso(createdMs + ringMs) : null,
      ended_at: iso(ended),
      duration_seconds: Math.round((ended - createdMs) / 1000),
      billed_duration_seconds: connected ? talkSeconds : 0,
      billing_amount_milli_cents: talkSeconds * 150,
      reservation_status: connected ? 'settled' : 'released',
      webhook_url: null,
      webhook_status: 'none',
      webhook_error: null,
      error_code: status === 'failed' && random() < 0.7 ? 'model_error' : null,
      error_message: status === 'failed' ? 'The model did not answer.' : null,
      hangup_cause: status === 'failed' ? 'stream_lost' : 'normal_clearing',
      metadata: { ticket: below(1e6) },
      updated_at: iso(ended),
      cost: connected
        ? {
            estimate: true,
            total_milli_cents: part.milli_cents * 4,
            model: part,
            transcription: part,
            extraction: part,
            carrier: part,
            as_of: '2026-01-01',
          }
        : null,
      org_id: of.orgId,
      chosen_language: null,
      voice: 'marin',
      model: null,
      tools: agent.tools,
      voicemail_action: 'hangup',
      interruption_words: [],
      patience: 'normal',
      eagerness: 'normal',
      interruption: 'normal',
      summarize: false,
      disclosure: null,
      opted_out: null,
      mask: [],
      telephone,
      carrier: telephone ? 'twilio' : 'browser',
      carrier_call_id: `CA${id.replaceAll('-', '')}`,
      answered_by: connected ? 'human' : null,
      reserved_milli_cents: 0,
      recording_path: null,
      usage: connected ? { input_tokens: talkSeconds * 30, output_tokens: talkSeconds * 12 } : null,
      extraction_usage: null,
      stream_began_at: null,
      gaps: [],
      running_tools: [],
      gate: null,
      campaign_id: null,
      contact_id: null,
      attempt: null,
      erased_at: null,
    };
  }

  function delivery(
    of: Line,
    event: { id: string; type: EventType; call_id: string },
    atMs: number,
    last: boolean,
  ) {
    for (const endpoint of of.endpoints) {
      if (endpoint.wants === 'completed' && event.type !== 'call.completed') continue;
      const refused = endpoint.down || random() < 0.01;
      // What the endpoint that is down was owed when it was disabled is held.
      const pending = last && refused && random() < 0.02;
      const id = idAt(atMs);
      const attempts = pending ? 3 : refused ? 10 : random() < 0.05 ? 2 : 1;
      put(
        DELIVERIES.insert,
        DELIVERIES.toRow({
          id,
          org_id: of.orgId,
          endpoint_id: endpoint.id,
          call_id: event.call_id,
          event_id: event.id,
          event_type: event.type,
          url: endpoint.url,
          status: pending ? 'pending' : refused ? 'exhausted' : 'delivered',
          attempt_count: attempts,
          attempts_before: 0,
          manual_retry_count: 0,
          next_attempt_at: iso(atMs + 30_000),
          last_error: refused ? 'HTTP 500' : null,
          last_response_status: refused ? 500 : 200,
          delivered_at: refused ? null : iso(atMs + 300),
          created_at: iso(atMs),
          updated_at: iso(atMs + 300),
        }),
      );
      for (let attempt = 1; attempt <= Math.min(attempts, 3); attempt++) {
        put(
          ATTEMPTS.insert,
          ATTEMPTS.toRow({
            id: idAt(atMs),
            delivery_id: id,
            attempt,
            started_at: iso(atMs + attempt * 100),
            latency_ms: 20 + below(300),
            response_status: refused ? 500 : 200,
            error: refused ? 'HTTP 500' : null,
            response_excerpt: refused ? 'internal error' : 'ok',
          }),
        );
      }
    }
  }

  function publish(
    of: Line,
    call: CallRecord,
    types: readonly EventType[],
    fromMs: number,
    last: boolean,
  ): void {
    const body = JSON.stringify(callView(call));
    types.forEach((type, index) => {
      const atMs = fromMs + index * 1_500;
      const event = { id: idAt(atMs), org_id: of.orgId, call_id: call.id, type, sequence: index + 1 };
      put(EVENTS.insert, EVENTS.toRow({ ...event, body, created_at: iso(atMs) }));
      events++;
      delivery(of, event, atMs, last);
    });
  }

  function talk(of: Line, call: CallRecord, startMs: number): void {
    const seconds = call.billed_duration_seconds ?? 0;
    const stretches = Math.min(of.rich ? 40 : 4, Math.max(2, Math.round(seconds / 7)));
    for (let at = 0; at < stretches; at++) {
      const text = said.text(3 + below(16));
      const item: TranscriptItemRecord = {
        id: `item_${at}`,
        call_id: call.id,
        role: at % 2 === 0 ? 'agent' : 'caller',
        text,
        heard_text: text,
        interrupted: false,
        started_at: iso(startMs + at * 7_000),
        start_ms: at * 7_000,
        end_ms: at * 7_000 + 4_000,
      };
      put(TRANSCRIPT_ITEMS.insert, TRANSCRIPT_ITEMS.toRow(item));
      if (!of.rich || at % 2 === 1) continue;
      const wanted = at * 7_000;
      put(
        TURNS.insert,
        TURNS.toRow({
          id: idAt(startMs),
          call_id: call.id,
          turn_index: at / 2 + 1,
          kind: at === 0 ? 'greeting' : 'answer',
          speech_end_ms: at === 0 ? null : wanted - 300,
          decided_ms: wanted,
          requested_ms: wanted + 2,
          first_model_audio_ms: wanted + 350,
          first_sent_ms: wanted + 352,
          first_heard_ms: wanted + 400 + below(900),
          barged_in: random() < 0.1,
          thrown_away: 0,
        }),
      );
      if (random() > 0.15) continue;
      put(
        INTERRUPTIONS.insert,
        INTERRUPTIONS.toRow({
          id: idAt(startMs),
          call_id: call.id,
          at_ms: wanted + 2_000,
          onset_ms: wanted + 1_700,
          held_ms: wanted + 1_800,
          paused_ms: random() < 0.5 ? wanted + 1_900 : null,
          silenced_ms: wanted + 1_950,
          taken_back: random() < 0.4,
        }),
      );
    }
  }

  function money(call: CallRecord, endMs: number): void {
    const rows: { kind: LedgerRecord['kind']; amount: number }[] = [
      { kind: 'reserve', amount: -1_500 },
      call.reservation_status === 'settled'
        ? { kind: 'settle', amount: 1_500 - (call.billing_amount_milli_cents ?? 0) }
        : { kind: 'release', amount: 1_500 },
    ];
    for (const { kind, amount } of rows) {
      put(
        LEDGER.insert,
        LEDGER.toRow({
          id: idAt(endMs),
          org_id: call.org_id,
          call_id: call.id,
          kind,
          amount_milli_cents: amount,
          created_at: iso(endMs),
        }),
      );
    }
  }

  function typesOf(call: CallRecord): EventType[] {
    const types: EventType[] = ['call.queued', 'call.ringing'];
    if (call.answered_at !== null) types.push('call.answered');
    types.push(`call.${call.status}` as EventType);
    return types;
  }

  return {
    line,
    events: () => events,
    /** One call that has ended. */
    call(of: Line, createdMs: number, last = false): void {
      const call = record(of, ending(), createdMs);
      put(CALLS.insert, CALLS.toRow(call));
      countCall(connection, null, call);
      publish(of, call, typesOf(call), createdMs, last);
      if (call.answered_at !== null) talk(of, call, Date.parse(call.answered_at));
      money(call, createdMs);
    },
    /** The last ones: some that wait for their result, and what their endpoints are still owed. */
    live(of: Line, atMs: number): void {
      for (let at = 0; at < 300; at++) this.call(of, atMs - 600_000 + at, true);
    },
  };
}

/** What is counted or indexed beside the rows, made from them. */
function deriveRows(db: Database.Database): void {
  db.exec(`UPDATE organizations SET ledger_milli_cents =
    (SELECT coalesce(sum(amount_milli_cents), 0) FROM ledger WHERE ledger.org_id = organizations.id)`);
  db.exec(`INSERT INTO call_words (rowid, facts, numbers, words)
    SELECT seq, facts, numbers, words FROM call_documents
    WHERE status NOT IN ('queued', 'initiated', 'ringing', 'in_progress') ORDER BY seq`);
  db.exec(`INSERT INTO answer_latencies (org_id, hour, level, answers)
    SELECT calls.org_id, substr(calls.created_at, 1, 13),
      cast(round(ln(first_heard_ms - speech_end_ms) / ln(1.05)) AS INTEGER) AS level, count(*)
    FROM turns JOIN calls ON calls.id = turns.call_id
    WHERE kind = 'answer' AND speech_end_ms IS NOT NULL AND first_heard_ms IS NOT NULL
    GROUP BY calls.org_id, substr(calls.created_at, 1, 13), level`);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      calls: { type: 'string', default: '200000' },
      events: { type: 'string', default: '2000000' },
      days: { type: 'string', default: '180' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [path] = positionals;
  if (path === undefined) throw new Error('say where: npm run fill-database -- PATH');
  const begun = performance.now();
  const filled = fillDatabase({
    path,
    calls: Number(values.calls),
    events: Number(values.events),
    days: Number(values.days),
    until: new Date(),
    seed: Number(values.seed),
    log: (line) => console.log(line),
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(
    `${path}: ${filled.calls} calls of the first organization, ${filled.events} events of all, ` +
      `${(filled.bytes / 1e9).toFixed(1)} GB, ${seconds} s`,
  );
  console.log(`its key: ${FILLED_KEY}`);
}
