// Runs the calls of a scenario on the phone lab and gathers what they leave behind. Says what happens on the screen; the
// judgement is checks.ts, the files are results.ts.
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Lab, openLab, type Received } from '../lab.ts';
import { readClip } from './clips.ts';
import type {
  CallObject,
  Delivery,
  DoNotCall,
  Evidence,
  Interruption,
  MediaCounts,
  ModelSession,
  ReceivedEvent,
  Turn,
  TwoVoices,
} from './evidence.ts';
import { CallTeller, ENDED, readEvents } from './follow.ts';
import { openLateness } from './lateness.ts';
import { type OrderServer, openOrderServer } from './order-server.ts';
import { modelScenario, type Scenario } from './scenarios.ts';
import type { Screen } from './screen.ts';
import { readWav } from './sound.ts';
import { Supervisor } from './supervisor.ts';

const SCENARIO_FOLDER = join(import.meta.dirname, '..', 'model-simulator', 'scenarios');
/** Beyond what the person says: ringing, the agent's speech, the extraction. */
const MOST_CALL_MS = 180_000;
const SETTLE_MS = 60_000;
const LAST_WORDS_MS = 15_000;
const POLL_MS = 250;
/** The description that tells our receivers from others. */
const ENDPOINT = 'npm run simulate';

export interface RunOptions {
  scenario: Scenario;
  calls: number;
  /** Folder for what the programs write. */
  folder: string;
  screen: Screen;
  /** Ends the run early: everything is closed, then the run fails. */
  signal: AbortSignal;
}

export interface RunOutcome {
  calls: Evidence[];
  /** Exit codes of the programs that did not end by themselves or with an error. */
  badExits: string[];
  daemonLines: string[];
  /** Recordings as they were fetched, by call id. */
  recordings: Map<string, Uint8Array>;
}

/** A simulation that came to no end; the message is for the person. */
export class BrokenRun extends Error {
  readonly daemonLines: readonly string[];

  constructor(message: string, daemonLines: readonly string[], cause: unknown) {
    super(message, { cause });
    this.daemonLines = daemonLines;
  }
}

/** @throws BrokenRun when a program ends, or a request to the daemon fails */
export async function runCalls(o: RunOptions): Promise<RunOutcome> {
  const run = new Run(o);
  try {
    return await run.go();
  } catch (error) {
    throw run.broken(error);
  } finally {
    await run.close();
  }
}

/** Why a webhook's signature is wrong; null when it is right. */
export function signatureError(secret: string, received: Pick<Received, 'headers' | 'body'>): string | null {
  try {
    new Webhook(secret).verify(received.body, received.headers);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Placed {
  callId: string;
  agentId: string;
  /** The number of the person. */
  person: string;
  /** Words that only this call's session with the model holds. */
  tag: string;
}

class Run {
  readonly #o: RunOptions;
  #lab: Lab | null = null;
  #orders: OrderServer | null = null;
  readonly #watching = new AbortController();
  readonly #reading: Promise<void>[] = [];
  #supervisor: Supervisor | null = null;
  readonly #events: ReceivedEvent[] = [];
  readonly #refused: string[] = [];
  #machineLateMs = 0;
  #secret = '';
  #teller: CallTeller | null = null;

  constructor(o: RunOptions) {
    this.#o = o;
  }

  async go(): Promise<RunOutcome> {
    const lab = await this.#open();
    const placed = await this.#place(lab);
    await this.#lastUntilEnd(placed);
    const gathered: Evidence[] = [];
    const recordings = new Map<string, Uint8Array>();
    for (const one of placed) {
      const { evidence, recording } = await this.#gather(lab, one);
      gathered.push(evidence);
      if (recording !== null) recordings.set(one.callId, recording);
    }
    // The simulators finish their files when they end.
    const exits = await this.close();
    for (const evidence of gathered) this.#readSounds(evidence);
    const names = { daemon: 'the daemon', carrier: 'the phone network', model: 'the speech model' };
    return {
      calls: gathered,
      badExits: Object.entries(exits ?? {})
        .filter(([, code]) => code !== 0)
        .map(([name, code]) => `${names[name as keyof typeof names]} ended with ${code ?? 'a kill'}`),
      daemonLines: this.#daemonLines(lab),
      recordings,
    };
  }

  /** What to tell of an error: a program that has ended explains a connection that is gone. */
  broken(error: unknown): BrokenRun {
    const lab = this.#lab;
    const dead = [lab?.daemon, lab?.carrier, lab?.model].find((program) => program?.exitCode() !== undefined);
    const message = error instanceof Error ? error.message : String(error);
    return new BrokenRun(
      dead === undefined
        ? message
        : `the ${dead.name} ended in the middle of it, ${dead.exitCode() === null ? 'killed' : `with exit code ${dead.exitCode()}`}; its last lines:\n${dead.lines.slice(-5).join('\n')}`,
      lab === null ? [] : this.#daemonLines(lab),
      error,
    );
  }

  /** Of all its processes, in order. */
  #daemonLines(lab: Lab): string[] {
    return [...(this.#supervisor?.deadLines ?? []), ...lab.daemon.lines];
  }

  /** Stops everything; a second time does nothing. */
  async close(): Promise<Awaited<ReturnType<Lab['close']>> | null> {
    const lab = this.#lab;
    const orders = this.#orders;
    this.#lab = null;
    this.#orders = null;
    this.#watching.abort();
    await this.#supervisor?.close();
    await orders?.close();
    const exits = (await lab?.close()) ?? null;
    await Promise.all(this.#reading);
    return exits;
  }

  async #open(): Promise<Lab> {
    const { scenario, folder, screen, calls } = this.#o;
    mkdirSync(folder, { recursive: true });
    const shipped = JSON.parse(
      readFileSync(join(SCENARIO_FOLDER, `${scenario.model}.json`), 'utf8'),
    ) as Record<string, unknown>;
    const scenarioFile = join(folder, 'scenario.json');
    writeFileSync(scenarioFile, JSON.stringify(modelScenario(scenario, shipped), null, 2));
    if (scenario.expected.tool !== null) {
      this.#orders = await openOrderServer(scenario.expected.tool.answer);
    }
    const from = performance.now();
    const lab = await openLab({
      folder,
      scenario: scenarioFile,
      // Another seed each time, so that a kept data folder is not offered the numbers that it owns already.
      carrier: {
        seed: randomInt(2 ** 31),
        defaultCallee: scenario.callee,
        faults: Array.from({ length: calls }, (_, i) =>
          scenario.faults.map((fault) => ({ ...fault, number: personNumber(i) })),
        ).flat(),
      },
      env: {
        RECORD_CALLS: 'true',
        MAX_CONCURRENT_CALLS: String(Math.max(100, calls)),
        RATE_LIMIT_PER_SECOND: '1000',
        RATE_LIMIT_BURST: '2000',
        // One program less to start and to end; deliveries are sent from the daemon itself.
        REDIS_MODE: 'none',
        ...scenario.env,
      },
      onReceived: (received) => this.#receive(received),
    });
    this.#lab = lab;
    if (scenario.kill !== null) {
      this.#supervisor = new Supervisor(lab, scenario.kill, (text) => screen.line('setup', text));
    }
    const took = ((performance.now() - from) / 1000).toFixed(1);
    screen.start();
    screen.line(
      'setup',
      `started in ${took} s: the daemon at ${lab.daemon.url}, a phone network, a speech model`,
    );
    this.#reading.push(
      readEvents(
        `${lab.carrier.url}/simulator/events`,
        (event) => {
          this.#teller?.phone(event);
          this.#supervisor?.phone(event);
        },
        this.#watching.signal,
      ),
      readEvents(
        `${lab.model.url}/simulator/events`,
        (event) => {
          this.#teller?.model(event);
          if (event.type.startsWith('extraction.') && event.refused !== undefined) {
            this.#refused.push(`${String(event.refused)}: ${String(event.message)}`);
          }
        },
        this.#watching.signal,
      ),
    );
    return lab;
  }

  #receive(received: Received): void {
    const { headers } = received;
    const body = JSON.parse(received.body) as CallObject;
    const event: ReceivedEvent = {
      received_at: received.at,
      id: headers['service-event-id'] ?? '',
      type: headers['service-event-type'] ?? '',
      sequence: Number(headers['service-event-sequence']),
      attempt: Number(headers['service-delivery-attempt']),
      replay: headers['service-replay'] === 'true',
      signature_error: signatureError(this.#secret, received),
      body,
    };
    this.#events.push(event);
    this.#teller?.webhook(event);
  }

  /** What a person would do first: register for webhooks, buy numbers, make the agent, and call. */
  async #place(lab: Lab): Promise<Placed[]> {
    const { scenario, calls, screen } = this.#o;
    // In a kept data folder, receivers of earlier simulations are gone for good.
    const before = await this.#ask<{ data: { id: string; description: string | null }[] }>(
      'GET',
      '/v1/webhook_endpoints?limit=100',
    );
    for (const { id, description } of before.data) {
      if (description === ENDPOINT) await this.#ask('DELETE', `/v1/webhook_endpoints/${id}`);
    }
    const endpoint = await this.#ask<{ secret: string }>('POST', '/v1/webhook_endpoints', {
      url: lab.receiverUrl,
      description: ENDPOINT,
    });
    this.#secret = endpoint.secret;
    if (Object.keys(scenario.organization).length > 0) {
      await this.#ask('PATCH', '/v1/organization', scenario.organization);
    }
    const inbound = scenario.direction === 'inbound';
    // An inbound call is told from the others by the number that was called, so each has its own.
    const agents = inbound ? calls : 1;
    const offered = await this.#ask<{ data: { e164: string }[] }>(
      'GET',
      `/v1/numbers/available?country=US&limit=${Math.min(100, agents)}`,
    );
    const numbers: { id: string; e164: string }[] = [];
    for (let i = 0; i < agents; i++) {
      const e164 = offered.data[i]?.e164 ?? (await this.#anotherNumber(numbers));
      numbers.push(await this.#ask('POST', '/v1/numbers/purchase', { e164 }));
    }
    const made: { id: string; number: string }[] = [];
    for (const [i, { id, e164 }] of numbers.entries()) {
      const definition = scenario.agent(`${this.#orders?.url ?? ''}/${tagOf(i)}`);
      const agent = await this.#ask<{ id: string }>('POST', '/v1/agents', {
        name: agents === 1 ? scenario.title : `${scenario.title} ${i + 1}`,
        type: scenario.direction,
        ...definition,
        ...(inbound ? { instructions: `${String(definition.instructions)} (Line ${tagOf(i)}.)` } : {}),
        number_ids: [id],
      });
      made.push({ id: agent.id, number: e164 });
    }
    screen.line(
      'setup',
      agents === 1
        ? `number ${numbers[0]!.e164} bought, agent "${scenario.title}" made and attached to it`
        : `${agents} numbers bought, each with its own agent`,
    );
    if (calls === 1) this.#teller = new CallTeller(lab, screen, scenario);
    return Promise.all(
      Array.from({ length: calls }, (_, i) =>
        inbound ? this.#receiveCall(lab, i, made[i]!) : this.#placeCall(i, made[0]!),
      ),
    );
  }

  async #anotherNumber(taken: readonly { e164: string }[]): Promise<string> {
    for (const place of ['415', '212', '808', '512']) {
      const { data } = await this.#ask<{ data: { e164: string }[] }>(
        'GET',
        `/v1/numbers/available?country=US&area_code=${place}&limit=100`,
      );
      const free = data.find(({ e164 }) => !taken.some((one) => one.e164 === e164));
      if (free !== undefined) return free.e164;
    }
    throw new Error('The phone network has no more numbers for sale.');
  }

  async #placeCall(index: number, agent: { id: string; number: string }): Promise<Placed> {
    const { scenario, screen, calls } = this.#o;
    const person = personNumber(index);
    const tag = tagOf(index);
    const call = await this.#ask<CallObject>('POST', '/v1/calls', {
      agent_id: agent.id,
      to: person,
      context: { ...scenario.context, reference: tag },
    });
    if (calls === 1) screen.line('call', `POST /v1/calls: from ${agent.number} to ${person}`);
    return { callId: call.id, agentId: agent.id, person, tag };
  }

  async #receiveCall(lab: Lab, index: number, agent: { id: string; number: string }): Promise<Placed> {
    const { scenario, screen, calls } = this.#o;
    const person = personNumber(index);
    await lab.ask('carrier', '/inbound-calls', { to: agent.number, from: person, callee: scenario.callee });
    if (calls === 1) screen.line('call', `a person at ${person} calls ${agent.number}`);
    const call = await this.#until('the daemon to take the call', LAST_WORDS_MS, async () => {
      const found = await this.#ask<CallObject[]>(
        'GET',
        `/v1/calls?direction=inbound&to_number=${encodeURIComponent(agent.number)}`,
      );
      return found[0] ?? null;
    });
    return { callId: call.id, agentId: agent.id, person, tag: tagOf(index) };
  }

  async #lastUntilEnd(placed: readonly Placed[]): Promise<void> {
    const { screen, signal } = this.#o;
    const [only] = placed;
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), MOST_CALL_MS + placed.length * 1000);
    const lateness = openLateness();
    try {
      if (placed.length === 1 && only !== undefined && this.#teller !== null) {
        await this.#teller.follow(only.callId, AbortSignal.any([signal, giveUp.signal]));
      } else await this.#watchMany(placed, giveUp.signal);
    } finally {
      clearTimeout(timer);
      this.#machineLateMs = lateness.totalMs();
      lateness.close();
      const note = 'the call is over: waiting for its result, then comparing the sound of all sides';
      screen.live({ state: '', person: false, agent: false, note });
    }
    signal.throwIfAborted();
  }

  async #watchMany(placed: readonly Placed[], giveUp: AbortSignal): Promise<void> {
    const { screen, signal } = this.#o;
    const states = new Map(placed.map(({ callId }) => [callId, 'queued']));
    let told = '';
    while (!signal.aborted && !giveUp.aborted) {
      for (const { callId } of placed) {
        if (ENDED.has(states.get(callId)!)) continue;
        states.set(callId, (await this.#ask<CallObject>('GET', `/v1/calls/${callId}`)).status);
      }
      const counts = new Map<string, number>();
      for (const state of states.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
      const note = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
      screen.live({ state: '', person: false, agent: false, note: `${placed.length} calls: ${note}` });
      if (note !== told) screen.line('call', note);
      told = note;
      if ([...states.values()].every((state) => ENDED.has(state))) return;
      await new Promise((again) => setTimeout(again, 1000));
    }
  }

  async #gather(lab: Lab, placed: Placed): Promise<{ evidence: Evidence; recording: Uint8Array | null }> {
    const { scenario } = this.#o;
    const { callId } = placed;
    const path = `/v1/calls/${callId}`;
    // What cannot be had is missing in the evidence, and a check says so.
    const settled = async <T>(what: string, look: () => Promise<T | null>) =>
      this.#until(what, SETTLE_MS, look).catch(() => null);
    await settled('the result', async () => {
      const call = await this.#ask<CallObject>('GET', path);
      return call.result_status === 'pending' ? null : call;
    });
    await settled('the deliveries', async () => {
      const { data } = await this.#ask<{ data: Delivery[] }>(
        'GET',
        `/v1/webhook_deliveries?call_id=${callId}`,
      );
      const types = new Set(data.map(({ event_type }) => event_type));
      const complete = scenario.expected.events.every((type) => types.has(type));
      return complete && data.every(({ status }) => status !== 'pending') ? data : null;
    });
    const released = () =>
      this.#daemonLines(lab).flatMap((line) => {
        const parsed = parsedLine(line);
        return parsed?.event === 'media.released' && parsed.call_id === callId ? [parsed] : [];
      })[0] ?? null;
    if (scenario.expected.status === 'completed') {
      await this.#until('the end of its sound', LAST_WORDS_MS, async () => released()).catch(() => null);
    }
    const transcript = await settled('the transcript', async () => {
      const found = await this.#ask<Evidence['transcript']>('GET', `${path}/transcript`);
      return found.status === 'final' ? found : null;
    });
    // Final at once: the last turn is stored before the transcript counts as final.
    const { data: turns, interruptions } = await this.#ask<{
      data: Turn[];
      interruptions: Interruption[];
    }>('GET', `${path}/turns`);
    const call = await this.#ask<CallObject>('GET', path);
    const doNotCall = scenario.expected.optsOut === null ? null : await this.#calledAgain(lab, placed);
    const { data: deliveries } = await this.#ask<{ data: Delivery[] }>(
      'GET',
      `/v1/webhook_deliveries?call_id=${callId}`,
    );
    const { calls: reports } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    const { data: sessions } = await lab.ask<{ data: ModelSession[] }>('model', '/sessions');
    const recording = await fetch(`${lab.daemon.url}${path}/recording`, {
      headers: { authorization: `Bearer ${lab.apiKey}` },
    });
    const sound = recording.ok ? new Uint8Array(await recording.arrayBuffer()) : null;
    const media = released() as (MediaCounts & Record<string, unknown>) | null;
    return {
      recording: sound,
      evidence: {
        scenario,
        call,
        transcript: transcript ?? { status: 'live', data: [] },
        turns,
        interruptions,
        events: this.#events.filter((event) => event.body.id === callId),
        deliveries,
        carrier:
          reports.find((report) =>
            scenario.direction === 'inbound' ? report.from === placed.person : report.to === placed.person,
          ) ?? null,
        sessions: sessions.filter(({ config }) => config.instructions.includes(placed.tag)),
        killed: this.#supervisor?.killed ?? null,
        doNotCall,
        refusedExtractions: [...this.#refused],
        media,
        machineLateMs: this.#machineLateMs,
        logErrors: this.#daemonLines(lab).flatMap((line) => {
          const parsed = parsedLine(line);
          if (parsed?.level !== 'error') return [];
          return parsed.call_id === undefined || parsed.call_id === callId ? [String(parsed.event)] : [];
        }),
        toolRequests: (this.#orders?.requests ?? []).filter(({ path }) => path.endsWith(`/${placed.tag}`)),
        sounds: {
          clips: {},
          phone: null,
          recording: sound === null ? null : twoVoices(sound),
          modelReceived: null,
          modelSent: null,
        },
      },
    };
  }

  /** What the list has of the person, and what becomes of another call; then the number is taken off again. */
  async #calledAgain(lab: Lab, { agentId, person }: Placed): Promise<DoNotCall> {
    const { data } = await this.#ask<{ data: NonNullable<DoNotCall['entry']>[] }>(
      'GET',
      `/v1/do_not_call?number=${encodeURIComponent(person)}`,
    );
    const entry = data[0] ?? null;
    const { status, body } = await lab.api<{ error?: { code: string } }>('POST', '/v1/calls', {
      agent_id: agentId,
      to: person,
    });
    if (entry !== null) await this.#ask('DELETE', `/v1/do_not_call/${entry.id}`);
    return { entry, refused: status < 400 ? null : (body.error?.code ?? String(status)) };
  }

  #readSounds(evidence: Evidence): void {
    const { sounds, carrier, sessions, scenario } = evidence;
    for (const { file } of scenario.speaks) sounds.clips[file] = readClip(file);
    const mono = (path: string | null | undefined) => {
      if (path == null) return null;
      try {
        return readWav(readFileSync(path)).channels[0] ?? null;
      } catch {
        return null; // the check of that sound says that it is missing
      }
    };
    // Of a call that was taken up by another process there are several, each with its part.
    sounds.modelReceived = inOne(sessions.map((session) => mono(session.received_wav)));
    sounds.modelSent = inOne(sessions.map((session) => mono(session.sent_wav)));
    if (carrier?.recordingPath != null) {
      try {
        sounds.phone = twoVoices(readFileSync(carrier.recordingPath));
      } catch {
        sounds.phone = null;
      }
    }
  }

  async #until<T>(what: string, timeoutMs: number, look: () => Promise<T | null>): Promise<T> {
    const giveUp = performance.now() + timeoutMs;
    for (;;) {
      this.#o.signal.throwIfAborted();
      const found = await look();
      if (found !== null) return found;
      if (performance.now() > giveUp) throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}.`);
      await new Promise((again) => setTimeout(again, POLL_MS));
    }
  }

  async #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const lab = this.#lab;
    if (lab === null) throw new Error('The simulation was ended.');
    const answer = await lab.api<T>(method, path, body);
    if (answer.status >= 400) {
      throw new Error(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }
}

/** +1 415 555 0100 and on: numbers that belong to nobody. */
const personNumber = (index: number) => `+1415555${String(100 + index).padStart(4, '0')}`;
const tagOf = (index: number) => `SIM-${String(index + 1).padStart(4, '0')}`;

function parsedLine(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Null when one of them is missing. */
function inOne(parts: readonly (Float32Array | null)[]): Float32Array | null {
  if (parts.length === 0 || parts.includes(null)) return null;
  const whole = new Float32Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
  let at = 0;
  for (const part of parts) {
    if (part === null) continue;
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function twoVoices(file: Uint8Array): TwoVoices | null {
  const { channels } = readWav(file);
  const [caller, agent] = channels;
  return caller === undefined || agent === undefined ? null : { caller, agent };
}
