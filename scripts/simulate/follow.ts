// Watches a running call from outside: the simulators' event streams and /v1, told line by line on the screen.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Lab } from '../lab.ts';
import {
  type CallObject,
  type ReceivedEvent,
  type Spurt,
  type TranscriptItem,
  wordStretches,
} from './evidence.ts';
import { endingOf } from './picture-data.ts';
import type { Scenario } from './scenarios.ts';
import type { Screen } from './screen.ts';

const POLL_MS = 400;
/** The phone network tells the end of a voice this long after it. */
const HANGOVER_MS = 300;
const FRAME_MS = 20;

export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** Reads a simulator's stream of JSON lines until `signal` aborts or the program ends. */
export async function readEvents(
  url: string,
  onEvent: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await fetch(url, { signal });
    if (response.body === null) return;
    const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
    body.on('error', () => {}); // told by the loop below
    for await (const line of createInterface({ input: body })) {
      if (line !== '') onEvent(JSON.parse(line) as StreamEvent);
    }
  } catch (error) {
    // The stream ends with its program, and with the simulation.
    if (!signal.aborted && !(error instanceof TypeError)) throw error;
  }
}

const PLAIN: Record<string, string> = {
  queued: 'waiting to be placed',
  initiated: 'the phone network has taken it',
  ringing: 'it rings',
  in_progress: 'picked up',
};

/** The same for the status line. */
const SHORT: Record<string, string> = {
  queued: 'waiting',
  initiated: 'dialing',
  in_progress: 'talking',
  completed: 'ended',
  no_answer: 'ended',
};

export const ENDED: ReadonlySet<string> = new Set(['completed', 'no_answer', 'busy', 'canceled', 'failed']);

/** Tells one call's life on the screen while it lasts. */
export class CallTeller {
  readonly #lab: Lab;
  readonly #screen: Screen;
  readonly #scenario: Scenario;
  #state = 'starting';
  readonly #speaking = { person: false, agent: false };
  #sounding = 0;
  /** When the person speaks, by the words of the recordings, in ms of this machine's clock. */
  #person: Spurt[] = [];
  #agentBeganMs = 0;
  readonly #told = new Map<string, { text: boolean; end: boolean }>();
  /** What the model is about to say, and what of it was told before the transcript had it. */
  #nextWords: string | null = null;
  /** When the line broke, by this machine's clock; null: it is there. */
  #lostMs: number | null = null;
  readonly #early: string[] = [];

  constructor(lab: Lab, screen: Screen, scenario: Scenario) {
    this.#lab = lab;
    this.#screen = screen;
    this.#scenario = scenario;
  }

  /** An event of the phone network. */
  phone(event: StreamEvent): void {
    const atMs = Date.parse(String(event.at));
    switch (event.type) {
      case 'callee.speaking':
        this.#speaking.person = true;
        break;
      case 'callee.stopped':
        this.#speaking.person = false;
        break;
      case 'agent.audible':
        this.#speaking.agent = true;
        this.#agentBegan(atMs - FRAME_MS);
        break;
      case 'agent.stopped':
        this.#speaking.agent = false;
        this.#agentStopped(atMs - HANGOVER_MS);
        break;
      case 'amd.verdict':
        this.#screen.line(
          'network',
          `the phone network listened for an answering machine: ${String(event.verdict)}`,
        );
        break;
      case 'callee.step':
        this.#step(event, atMs);
        break;
      case 'stream.ended':
        if (event.by !== 'error') break;
        this.#lostMs = atMs;
        this.#screen.line('network', 'the connection between the phone network and the daemon breaks');
        break;
      case 'stream.started':
        if (this.#lostMs === null) break;
        this.#screen.line('network', `and is back after ${((atMs - this.#lostMs) / 1000).toFixed(2)} s`);
        this.#lostMs = null;
        break;
      case 'call.error':
        this.#screen.line('network', `error ${String(event.code)}: ${String(event.message)}`);
        break;
    }
    this.#show();
  }

  /** An event of the speech model. */
  model(event: StreamEvent): void {
    if (event.type === 'decided' && typeof event.say === 'string' && event.say !== '') {
      this.#nextWords = event.say;
    }
  }

  #step(event: StreamEvent, atMs: number): void {
    if (event.state !== 'started') return;
    if (event.do === 'record') {
      this.#screen.line('network', 'the beep is over, the voicemail box records');
    }
    if (event.do !== 'say' && event.do !== 'barge_in') return;
    const clip = this.#scenario.speaks[this.#sounding++];
    if (clip === undefined || clip.goOn === true) return;
    this.#person = wordStretches(clip).map(({ startMs, endMs }) => ({
      startMs: atMs - FRAME_MS + startMs,
      endMs: atMs - FRAME_MS + endMs,
    }));
  }

  #agentBegan(atMs: number): void {
    this.#agentBeganMs = atMs;
    const ended = this.#person.findLast(({ startMs }) => startMs <= atMs);
    if (ended !== undefined && ended.endMs <= atMs && !this.#scenario.expected.message) {
      const seconds = ((atMs - ended.endMs) / 1000).toFixed(2);
      this.#screen.line('timing', `the agent answers ${seconds} s after the person's last word`);
      // The agent goes on after a pause of its own: no other answer.
      this.#person = this.#person.filter((one) => one.startMs > atMs);
    }
    if (this.#nextWords === null) return;
    this.#screen.line('agent', this.#nextWords);
    this.#early.push(this.#nextWords);
    this.#nextWords = null;
  }

  #agentStopped(atMs: number): void {
    const cut = this.#person.find(({ startMs }) => startMs > this.#agentBeganMs && startMs < atMs);
    if (cut === undefined) return;
    if (this.#scenario.expected.firstLine !== null) {
      // Nobody interrupts it, and nothing else is spoken over in such a scenario.
      this.#screen.line('call', 'the person spoke over what has to be said first, and it was said on');
      return;
    }
    this.#screen.line(
      'barge-in',
      `the person spoke while the agent did; the agent was silent ${Math.round(atMs - cut.startMs)} ms later`,
    );
  }

  webhook(event: ReceivedEvent): void {
    const signature =
      event.signature_error === null ? 'signature right' : `SIGNATURE WRONG: ${event.signature_error}`;
    this.#screen.line('webhook', `${event.type}, number ${event.sequence} of this call, ${signature}`);
  }

  /** Follows until the call has ended and its words are complete, or `signal` aborts. */
  async follow(callId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { body: call } = await this.#lab.api<CallObject>('GET', `/v1/calls/${callId}`);
      if (call.status !== this.#state) {
        this.#state = call.status;
        this.#screen.line(
          'call',
          ENDED.has(call.status) ? endingOf(call) : (PLAIN[call.status] ?? call.status),
        );
        this.#show();
      }
      const { body: transcript } = await this.#lab.api<{ status: string; data: TranscriptItem[] }>(
        'GET',
        `/v1/calls/${callId}/transcript`,
      );
      for (const item of transcript.data) this.#tell(item);
      if (ENDED.has(call.status) && transcript.status === 'final') return;
      await new Promise((again) => setTimeout(again, POLL_MS));
      if (signal.aborted) return;
    }
  }

  #tell(item: TranscriptItem): void {
    const told = this.#told.get(item.id) ?? { text: false, end: false };
    this.#told.set(item.id, told);
    if (item.role === 'tool') {
      if (!told.text) this.#tellTool(item.text);
      told.text = true;
      return;
    }
    const early = item.role === 'agent' ? this.#early.findIndex((words) => words.startsWith(item.text)) : -1;
    if (!told.text && item.text !== '' && early >= 0) {
      told.text = true;
      this.#early.splice(early, 1);
    }
    // Of the agent's words more may come until they were heard.
    const over = item.role !== 'agent' || item.end_ms !== null;
    if (!told.text && item.text !== '' && over) {
      told.text = true;
      this.#screen.line(
        item.role === 'caller'
          ? this.#scenario.expected.message
            ? 'voicemail'
            : 'person'
          : item.role === 'agent'
            ? 'agent'
            : 'call',
        item.text,
      );
    }
    if (item.role === 'agent' && told.text && !told.end && item.interrupted && item.end_ms !== null) {
      told.end = true;
      this.#screen.line(
        'barge-in',
        item.heard_text === ''
          ? 'not a word of that was heard: the person went on speaking'
          : `of that the person heard only: "${item.heard_text}"`,
      );
    }
  }

  #tellTool(text: string): void {
    let use: { name?: unknown; arguments?: unknown; ok?: unknown; output?: unknown } = {};
    try {
      use = JSON.parse(text) as typeof use;
    } catch {
      // Not the shape that is known: as it is.
    }
    this.#screen.line(
      'tool',
      use.name === undefined
        ? text
        : `asked ${String(use.name)} ${String(use.arguments)}, which ${use.ok === true ? 'answered' : 'failed with'} ${String(use.output)}`,
    );
  }

  #show(): void {
    this.#screen.live({ state: SHORT[this.#state] ?? this.#state, ...this.#speaking });
  }
}
