// The lab for tests: the four programs in a temporary folder, agents and calls by one line each, and what to wait for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Test } from 'tap';
import type { CalleeInput, SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { type Lab, type LabOptions, openLab, until } from '../../scripts/lab.ts';
import type { PublicCall } from '../../storage/call-view.ts';

export { until } from '../../scripts/lab.ts';

export interface TranscriptLine {
  id: string;
  role: 'agent' | 'caller' | 'tool' | 'system';
  text: string;
  heard_text: string;
  interrupted: boolean;
  start_ms: number;
  end_ms: number | null;
}

const HERE = import.meta.dirname;
const FIXTURES = resolve(HERE, '../fixtures/audio');
export const ENDED = ['completed', 'no_answer', 'busy', 'canceled', 'failed'];

/** A person who lets the agent finish, thanks it and says goodbye. */
export const POLITE: CalleeInput = {
  ringMs: 300,
  // Longer than any pause inside what the agent says, with a stall of the machine in it.
  steps: [{ do: 'say', file: 'caller-thanks.wav', when: { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 } }],
  // His answer is long for a hello: detection shall not take him for a machine.
  amd: { verdict: 'human', afterMs: 2_000 },
};

export interface Rig {
  lab: Lab;
  /** Where the programs write; the daemon's data is in `data` below it. */
  folder: string;
  /** Buys a number, makes an agent with it; answers its id and number. */
  agent(fields: Record<string, unknown> & { instructions: string }): Promise<{ id: string; number: string }>;
  /** Dispatches a call and answers it as it was accepted. */
  dial(agentId: string, to: string, more?: Record<string, unknown>): Promise<PublicCall>;
  call(id: string): Promise<PublicCall>;
  /** What was said; of a call that is over all of it. */
  transcript(id: string): Promise<TranscriptLine[]>;
  /** The call once it is over and its result settled. */
  ended(id: string, timeoutMs?: number): Promise<PublicCall>;
  /**
   * How late this machine has made the programs so far, by their own 20 ms clocks, in milliseconds: what two of them may
   * differ by about a moment of a call, beside what is theirs.
   */
  lateMs(): Promise<number>;
  /**
   * By how many seconds carrier and daemon may differ about how long a call was connected: both round up, and the daemon
   * hears of the answer when the hook or the stream has come through.
   */
  billedSlack(carrier: CallReport): Promise<number>;
  /** Types of the webhooks received for a call, in the order of their sequence. */
  events(id: string): { type: string; sequence: number; body: PublicCall; id: string }[];
}

/** Opens the four programs; they end with the test. */
export async function openRig(
  t: Test,
  o: {
    carrier?: SimulatorOptions;
    env?: Record<string, string>;
    answer?: LabOptions['answer'];
    /** Folder of the daemon's program, instead of this one. */
    program?: string;
    /** Scenario files of the model, instead of those of the tests. */
    scenario?: string[];
  } = {},
): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-e2e-'));
  const lab = await openLab({
    folder,
    scenario:
      o.scenario ??
      ['brief', 'late-answer', 'long', 'stay', 'lookup', 'voicemail', 'transfer', 'dtmf'].map((name) =>
        join(HERE, 'scenarios', `${name}.json`),
      ),
    carrier: { audioDir: FIXTURES, defaultCallee: POLITE, ...o.carrier },
    env: {
      REDIS_MODE: 'none',
      // As on the smallest machine: each takes half a second of a core to start.
      MEDIA_THREADS: '2',
      // Tests ask every tenth of a second about every call.
      RATE_LIMIT_PER_SECOND: '10000',
      RATE_LIMIT_BURST: '10000',
      ...o.env,
    },
    ...(o.answer === undefined ? {} : { answer: o.answer }),
    ...(o.program === undefined ? {} : { program: o.program }),
  });
  t.teardown(async () => {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async (id: string) => {
    const { status, body } = await lab.api<PublicCall>('GET', `/v1/calls/${id}`);
    if (status !== 200) throw new Error(`GET /v1/calls/${id}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const lateMs = async () => {
    const { lateMs } = await lab.ask<{ lateMs: number }>('carrier', '/calls');
    const ofCalls = lab.daemon.lines
      .filter((line) => line.includes('"media.released"'))
      .map((line) => Number((JSON.parse(line) as { lateTickMs?: number }).lateTickMs ?? 0));
    return lateMs + Math.max(0, ...ofCalls);
  };
  return {
    lab,
    folder,
    async agent(fields) {
      const found = await lab.api<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
      const bought = await lab.api<{ id: string; e164: string }>('POST', '/v1/numbers/purchase', {
        e164: found.body.data[0]?.e164,
      });
      if (bought.status !== 201) throw new Error(`no number: ${JSON.stringify(bought.body)}`);
      const agent = await lab.api<{ id: string }>('POST', '/v1/agents', {
        name: 'Test',
        type: 'outbound',
        number_ids: [bought.body.id],
        webhook_url: lab.receiverUrl,
        ...fields,
      });
      if (agent.status !== 201) throw new Error(`no agent: ${JSON.stringify(agent.body)}`);
      return { id: agent.body.id, number: bought.body.e164 };
    },
    async dial(agentId, to, more = {}) {
      const answer = await lab.api<PublicCall>('POST', '/v1/calls', { agent_id: agentId, to, ...more });
      if (answer.status !== 201)
        throw new Error(`not dialled: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    call,
    async transcript(id) {
      const read = async () =>
        (await lab.api<{ status: string; data: TranscriptLine[] }>('GET', `/v1/calls/${id}/transcript`)).body;
      if (!ENDED.includes((await call(id)).status)) return (await read()).data;
      return until(`the last words of call ${id}`, async () => {
        const { status, data } = await read();
        return status === 'final' ? data : null;
      });
    },
    ended: (id, timeoutMs = 180_000) =>
      until(
        `the end of call ${id}`,
        async () => {
          const now = await call(id);
          return ENDED.includes(now.status) && now.result_status !== 'pending' ? now : null;
        },
        timeoutMs,
      ),
    lateMs,
    async billedSlack({ streams, answeredAtMs }) {
      const heardMs = (streams[0]?.startedMs ?? answeredAtMs ?? 0) - (answeredAtMs ?? 0);
      return 1 + (heardMs + (await lateMs())) / 1000;
    },
    events(id) {
      const found = new Map<string, { type: string; sequence: number; body: PublicCall; id: string }>();
      for (const { headers, body } of lab.received) {
        const parsed = JSON.parse(body) as PublicCall;
        const eventId = headers['service-event-id'] ?? '';
        if (parsed.id === id) {
          found.set(eventId, {
            type: headers['service-event-type'] ?? '',
            sequence: Number(headers['service-event-sequence']),
            body: parsed,
            id: eventId,
          });
        }
      }
      return [...found.values()].sort((a, b) => a.sequence - b.sequence);
    },
  };
}
