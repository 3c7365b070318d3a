// People who are in talk while a campaign breaks what carries them: each line has its own agent, a person who asks,
// listens, interrupts, and now and then hangs up, and another one after that. What became of them is going-on.ts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CalleeInput } from '../carrier-simulator/options.ts';
import type { Random } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Lab } from '../lab.ts';
import { readEvents, type StreamEvent } from '../simulate/follow.ts';
import { buyNumber, makeAgent } from './campaign.ts';
import type { Dispatched } from './customers.ts';

export interface Talks {
  dispatched: readonly Dispatched[];
  complaints: string[];
  /** Calls whose sound has been carried for this long. */
  inTalk(forMs: number): number;
  /** Requests for new calls so far: those that were taken, and what the others were answered. */
  begun(): { taken: number; refused: Readonly<Record<string, number>> };
  /** Lines whose tool was run more than once for one question, of so many runs. */
  toolsTwice(reports: readonly CallReport[]): { runs: number; violations: string[] };
  /** What the person of a call was to say: the recordings of its steps, null where one is no sound. */
  scriptOf(report: CallReport): readonly (string | null)[];
  /** Hangs up on everybody; resolves when all calls are over, as the carrier sees it. */
  finish(): Promise<void>;
  /** Ends what reads and answers. */
  close(): Promise<void>;
}

const AUDIO = join(import.meta.dirname, '../simulate/audio');
/** Asks for an order: the one clip that makes the agent use its tool. */
const QUESTION = join(AUDIO, 'caller-question.wav');
const SPEECH = join(AUDIO, 'jfk-8k.wav');
const POLITE = { afterAgentSilenceMs: 1_300, timeoutMs: 8_000 };
/** Each of a question, its answer, and a speech into the answer. */
const EXCHANGES = [4, 16] as const;
/** A tool is slow enough to be found running. */
const TOOL_MS = [100, 1_500] as const;
const LOOK_MS = 500;
const RETRY_MS = [100, 300] as const;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** What a person does on the line; they hang up in the end. */
function person(
  random: Random,
  exchanges: readonly [number, number],
): CalleeInput & { steps: NonNullable<CalleeInput['steps']> } {
  const steps: NonNullable<CalleeInput['steps']> = [];
  for (let left = Math.round(random.between(exchanges)); left > 0; left--) {
    steps.push({ do: 'say', file: QUESTION, when: POLITE });
    if (random.chance(0.4)) steps.push({ do: 'barge_in', file: SPEECH, afterAgentMs: 1_500 });
    else if (random.chance(0.5)) steps.push({ do: 'say', file: SPEECH, when: POLITE });
  }
  steps.push({ do: 'hang_up', when: POLITE });
  return { ringMs: [100, 600], amd: { verdict: 'human', afterMs: 1_000 }, steps };
}

interface Placed {
  line: number;
  steps: NonNullable<CalleeInput['steps']>;
}

/** Puts people on `lines` lines of the lab's daemon, which has no agents yet. */
export async function startTalks(o: {
  lab: Lab;
  random: Random;
  lines: number;
  /** How often each asks for something, at least and at most. */
  exchanges?: readonly [number, number];
  /** Whether people also call in. */
  inbound: boolean;
  webhookUrl: string;
  /** After this long without an answer, a caller says so and goes. */
  patienceMs: number;
}): Promise<Talks> {
  const { lab, random } = o;
  const tools = await openTools(random);
  const dispatched: Dispatched[] = [];
  const complaints: string[] = [];
  const refused: Record<string, number> = {};
  let taken = 0;
  let serial = 0;
  let stopping = false;
  const placed = new Map<string, Placed>();
  const watching = new AbortController();
  const { carried, ended, read } = followCarrier();
  const reading = readEvents(`${lab.carrier.url}/simulator/events`, read, watching.signal);

  const agents: { id: string; number: string; inbound: boolean }[] = [];
  for (let line = 0; line < o.lines; line++) {
    const number = await buyNumber(lab);
    const inbound = o.inbound && line % 3 === 2;
    const id = await makeAgent(lab, {
      name: `Line ${line}`,
      type: inbound ? 'inbound' : 'outbound',
      instructions: 'CHAOS-TALK',
      language: 'en',
      number_ids: [number.id],
      webhook_url: o.webhookUrl,
      returns: { outcome: 'string' },
      tools: [
        {
          type: 'http',
          name: 'lookup_order',
          description: 'Finds an order by its number.',
          parameters: {
            type: 'object',
            properties: { order_number: { type: 'string' } },
            required: ['order_number'],
            additionalProperties: false,
          },
          url: tools.url(line),
          method: 'POST',
          timeout_ms: 5_000,
        },
      ],
    });
    agents.push({ id, number: number.e164, inbound });
  }

  /** Sends the request until it is answered with a call. Null: never. */
  async function dispatch(agent: string, to: string): Promise<string | null> {
    const one: Dispatched = { key: `talk-${dispatched.length}`, ids: new Set(), refused: false };
    dispatched.push(one);
    const giveUp = performance.now() + o.patienceMs;
    while (performance.now() < giveUp && !stopping) {
      const answer = await lab
        .api<{ id?: string; error?: { code: string } }>(
          'POST',
          '/v1/calls',
          { agent_id: agent, to, metadata: { key: one.key } },
          { 'idempotency-key': one.key },
        )
        .catch(() => null);
      if (answer?.status === 201 && answer.body.id !== undefined) {
        one.ids.add(answer.body.id);
        taken += 1;
        return answer.body.id;
      }
      if (answer?.status === 502) {
        one.refused = true;
        return null;
      }
      const why = answer === null ? 'nobody answered' : `${answer.status} ${answer.body.error?.code ?? ''}`;
      refused[why] = (refused[why] ?? 0) + 1;
      await pause(random.between(RETRY_MS));
    }
    if (!stopping) complaints.push(`key ${one.key}: no answer within ${o.patienceMs / 1000} s`);
    return null;
  }

  async function oneCall(line: number): Promise<void> {
    const agent = agents[line];
    if (agent === undefined) return;
    const number = `+1555${String(1_000_000 + serial++)}`;
    const callee = person(random, o.exchanges ?? EXCHANGES);
    placed.set(number, { line, steps: callee.steps });
    if (agent.inbound) {
      await lab.ask('carrier', '/inbound-calls', { to: agent.number, from: number, callee });
    } else {
      await lab.ask('carrier', `/callees/${encodeURIComponent(number)}`, callee, 'PUT');
      if ((await dispatch(agent.id, number)) === null) return;
    }
    const report = async () => {
      const path = `/calls?number=${encodeURIComponent(number)}`;
      return (await lab.ask<{ calls: CallReport[] }>('carrier', path)).calls[0];
    };
    let sid: string | undefined;
    let asked = false;
    while (sid === undefined || !ended.has(sid)) {
      await pause(LOOK_MS);
      // What was accepted and never dialled has no call at the carrier.
      if (sid === undefined) sid = (await report())?.sid;
      if (sid === undefined && stopping) return;
      if (sid !== undefined && stopping && !asked) {
        asked = true;
        // A call that ended by itself in this moment is none to hang up.
        await lab.ask('carrier', `/calls/${sid}/hang-up`, {}).catch(() => null);
      }
    }
  }

  async function line(index: number): Promise<void> {
    await pause(random.next() * 1_000);
    while (!stopping) {
      await oneCall(index).catch((error: unknown) => complaints.push(`a caller failed: ${String(error)}`));
      await pause(random.between(RETRY_MS));
    }
  }

  const all = Promise.all(agents.map((_, index) => line(index)));
  return {
    dispatched,
    complaints,
    inTalk(forMs) {
      const now = performance.now();
      return [...carried.values()].filter((since) => now - since >= forMs).length;
    },
    begun: () => ({ taken, refused }),
    toolsTwice(reports) {
      const asked = reports.flatMap((report) => {
        const one = placed.get(report.direction === 'inbound' ? report.from : report.to);
        const answeredMs = Date.parse(report.createdAt) + (report.answeredAtMs ?? 0);
        return report.steps.flatMap(({ startedMs }, index) => {
          const step = one?.steps[index];
          return startedMs !== null && step?.do === 'say' && step.file === QUESTION
            ? [{ line: one?.line, atMs: answeredMs + startedMs }]
            : [];
        });
      });
      return { runs: tools.requests.length, violations: twice(tools.requests, asked) };
    },
    scriptOf(report) {
      const one = placed.get(report.direction === 'inbound' ? report.from : report.to);
      return (one?.steps ?? []).map((step) => ('file' in step && step.file !== undefined ? step.file : null));
    },
    async finish() {
      stopping = true;
      await all;
    },
    async close() {
      stopping = true;
      watching.abort();
      await reading;
      await tools.close();
    },
  };
}

/** Which calls the carrier has a stream for, by sid, since when (performance.now()); and which are over. */
function followCarrier() {
  const carried = new Map<string, number>();
  const ended = new Set<string>();
  return {
    carried,
    ended,
    read(event: StreamEvent) {
      const sid = String(event.callSid);
      if (event.type === 'stream.started') carried.set(sid, performance.now());
      if (event.type === 'stream.ended') carried.delete(sid);
      if (event.type === 'call.ended') ended.add(sid);
    },
  };
}

interface Moment {
  line: number | undefined;
  /** Epoch ms. */
  atMs: number;
}

/** Runs of a line's tool that have no question of their own. */
function twice(runs: readonly Moment[], asked: readonly Moment[]): string[] {
  const used = new Set<Moment>();
  return runs.flatMap((run) => {
    const question = asked.findLast((one) => one.line === run.line && one.atMs <= run.atMs);
    if (question === undefined || used.has(question))
      return [
        `line ${run.line}: at ${new Date(run.atMs).toISOString()}, for a question that was answered before`,
      ];
    used.add(question);
    return [];
  });
}

/** What the agents' tools ask: slow now and then, so that it is found running. */
async function openTools(random: Random) {
  const requests: { line: number; atMs: number }[] = [];
  const server = createServer((request, response) => {
    requests.push({ line: Number(request.url?.split('/').at(-1)), atMs: Date.now() });
    request.resume();
    setTimeout(() => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ order_number: '1042', status: 'on its way' }));
    }, random.between(TOOL_MS));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: (line: number) => `http://127.0.0.1:${port}/orders/${line}`,
    close() {
      server.closeAllConnections();
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
}
