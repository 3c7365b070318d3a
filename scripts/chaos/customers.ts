// Who uses the lines during a campaign: customers that dispatch calls and repeat a request until it is answered, people
// who call in, people who hang up. They remember what they were told; whether it holds is judge.ts.
import type { CalleeInput } from '../carrier-simulator/options.ts';
import type { Random } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Lab } from '../lab.ts';

export interface Dispatched {
  key: string;
  /** Ids that answers to this key named; more than one is a fault. */
  ids: Set<string>;
  /** Refused for good: 502, with the call kept as failed. */
  refused: boolean;
}

export interface Customers {
  dispatched: readonly Dispatched[];
  complaints: string[];
  /** Calls begun, by API or by phone. */
  begun(): number;
  live(): number;
  /** Begins nothing new; resolves when all that was begun has come to its end, as the customers see it. */
  finish(): Promise<void>;
}

export interface CustomersOptions {
  lab: Lab;
  random: Random;
  /** Customers at once. */
  lines: number;
  agents: readonly string[];
  /** Numbers that are called. */
  people: readonly string[];
  inboundNumber: string;
  /** After this long, a customer says so and goes. */
  patienceMs: number;
  /** Resolves when another call may begin. Without it, at once. */
  mayBegin?: () => Promise<void>;
}

const ENDED = ['completed', 'no_answer', 'busy', 'canceled', 'failed'];
const POLL_MS = 400;

/** Numbers and who answers them. Few of each, so that calls to the same number happen at once. */
export const PEOPLE: Record<string, CalleeInput> = {
  '+15550200001': { ringMs: [50, 400] },
  '+15550200002': { ringMs: [50, 400], steps: [{ do: 'wait', ms: 1_500 }, { do: 'hang_up' }] },
  '+15550200003': { ringMs: [50, 400], steps: [{ do: 'wait', ms: 4_000 }, { do: 'hang_up' }] },
  '+15550200004': { ringMs: [300, 900], steps: [{ do: 'wait', ms: 700 }, { do: 'hang_up' }] },
  '+15550200005': { ringMs: [50, 800], outcome: 'busy' },
  '+15550200006': { ringMs: [50, 800], outcome: 'rejected' },
  '+15550200007': { outcome: 'no_answer' },
  '+15550200008': { ringMs: [50, 200], outcome: 'hangup_at_once', hangUpAfterMs: 100 },
  '+15550200009': { outcome: 'invalid' },
  '+15550200010': { ringMs: [2_000, 4_000], steps: [{ do: 'wait', ms: 1_000 }, { do: 'hang_up' }] },
};

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export function startCustomers(o: CustomersOptions): Customers {
  const { lab, random } = o;
  const dispatched: Dispatched[] = [];
  const complaints: string[] = [];
  let begun = 0;
  let live = 0;
  let stopping = false;

  /** Sends the request until it gets an answer that is not "later". */
  async function dispatch(one: Dispatched, body: Record<string, unknown>): Promise<string | null> {
    const giveUp = performance.now() + o.patienceMs;
    while (performance.now() < giveUp) {
      const answer = await lab
        .api<{ id?: string; error?: { code: string } }>('POST', '/v1/calls', body, {
          'idempotency-key': one.key,
        })
        .catch(() => null);
      if (answer?.status === 201 && answer.body.id !== undefined) {
        one.ids.add(answer.body.id);
        return answer.body.id;
      }
      if (answer?.status === 502) {
        one.refused = true;
        return null;
      }
      const later = answer === null || answer.status === 503 || answer.status === 429;
      if (!later && answer.body.error?.code !== 'idempotency_in_progress') {
        complaints.push(`key ${one.key}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return null;
      }
      await pause(100 + random.next() * 200);
    }
    complaints.push(`key ${one.key}: no answer within ${o.patienceMs / 1000} s`);
    return null;
  }

  async function untilEnded(id: string): Promise<void> {
    const giveUp = performance.now() + o.patienceMs;
    let action = random.integer(12);
    while (performance.now() < giveUp) {
      await pause(POLL_MS);
      const answer = await lab.api<{ status: string }>('GET', `/v1/calls/${id}`).catch(() => null);
      if (answer === null) continue;
      if (answer.status === 404) {
        complaints.push(`call ${id} was answered 201 and is not there`);
        return;
      }
      if (answer.status === 200 && ENDED.includes(answer.body.status)) return;
      if (action === 0) await lab.api('POST', `/v1/calls/${id}/hangup`).catch(() => null);
      if (action === 1) await lab.api('POST', `/v1/calls/${id}/cancel`).catch(() => null);
      action = -1;
    }
    complaints.push(`call ${id} had no end after ${o.patienceMs / 1000} s`);
  }

  async function outbound(): Promise<void> {
    const one: Dispatched = { key: `chaos-${dispatched.length}`, ids: new Set(), refused: false };
    dispatched.push(one);
    const to = random.pick(o.people);
    const body = { agent_id: random.pick(o.agents), to, metadata: { key: one.key } };
    const copies = random.chance(0.15) ? 3 : 1;
    const ids = await Promise.all(Array.from({ length: copies }, () => dispatch(one, body)));
    const id = ids.find((found) => found !== null) ?? null;
    if (id === null) return;
    await untilEnded(id);
    if (random.chance(0.2)) await dispatch(one, body);
  }

  async function inbound(): Promise<void> {
    const callee: CalleeInput = {
      steps: [{ do: 'wait', ms: 500 + random.integer(5_000) }, { do: 'hang_up' }],
    };
    const from = `+1555030${String(random.integer(10_000)).padStart(4, '0')}`;
    const call = await lab.ask<CallReport>('carrier', '/inbound-calls', {
      to: o.inboundNumber,
      from,
      callee,
    });
    const giveUp = performance.now() + o.patienceMs;
    while (performance.now() < giveUp) {
      await pause(POLL_MS);
      const now = await lab.ask<CallReport>('carrier', `/calls/${call.sid}`);
      if (now.endedAtMs !== null) return;
    }
    complaints.push(`the caller ${call.sid} was left on the line for ${o.patienceMs / 1000} s`);
  }

  async function line(): Promise<void> {
    while (!stopping) {
      await o.mayBegin?.();
      if (stopping) return;
      begun += 1;
      live += 1;
      try {
        await (random.chance(0.25) ? inbound() : outbound());
      } catch (error) {
        complaints.push(`a customer failed: ${String(error)}`);
      }
      live -= 1;
      await pause(random.next() * 300);
    }
  }

  const all = Promise.all(Array.from({ length: o.lines }, line));
  return {
    dispatched,
    complaints,
    begun: () => begun,
    live: () => live,
    async finish() {
      stopping = true;
      await all;
    },
  };
}
