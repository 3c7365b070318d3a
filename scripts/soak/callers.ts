// Who is on the lines of a soak: people who are called and people who call, for seconds or for many minutes, who talk,
// interrupt, stay silent, hang up or are hung up on. Each call is looked at when it is over: its end, its frames, its sound.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CalleeInput } from '../carrier-simulator/options.ts';
import type { Random } from '../carrier-simulator/random.ts';
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Lab, Received } from '../lab.ts';

/** What the daemon said of a call's frames when it let go of it. */
export interface FrameCounts {
  framesIn: number;
  framesOut: number;
  filledMs: number;
}

export interface Account {
  calls: number;
  /** By kind of caller and how it ended. */
  ends: Record<string, number>;
  /** Ends that are not those of the kind: what was seen of each. */
  unexplained: string[];
  /** Refused before it rang: no line, or no media thread that keeps time. */
  refused: number;
  /** Requests that were cut off: whether they were taken shows by what follows. */
  unanswered: number;
  talkSeconds: number;
  /** Frames that the carrier sent and the daemon never worked on, those of a last moment not counted. */
  framesSent: number;
  framesLost: number;
  framesFilled: number;
  /** Holes in the agent's speech at the carrier: how many, all together, and the longest. */
  holes: number;
  holeMs: number;
  longestHoleMs: number;
  violations: string[];
}

export interface Callers {
  account: Account;
  /** A webhook of the daemon. */
  told(received: Received): void;
  /** A line of the daemon's log. */
  logged(line: Record<string, unknown>): void;
  /** Calls nobody any more; resolves when all that was begun is over. */
  finish(): Promise<void>;
}

interface PublicCall {
  id: string;
  to_number: string;
  from_number: string;
  status: string;
  hangup_cause: string | null;
  error_code: string | null;
}

export interface CallersOptions {
  lab: Lab;
  random: Random;
  lines: number;
  /** Folder of the daemon's data: recordings are taken away when their call is over. */
  dataDir: string;
  outboundAgents: readonly string[];
  inboundNumbers: readonly string[];
  /** No call is meant to last longer than this many seconds. */
  longestSeconds: number;
}

const AUDIO = join(import.meta.dirname, '../simulate/audio');
const QUESTION = join(AUDIO, 'caller-question.wav');
const LONG_SPEECH = join(AUDIO, 'jfk-8k.wav');
const GOODBYE = join(AUDIO, 'caller-thanks.wav');
const POLITE = { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 };
/** About what one exchange takes, both voices and the pauses. */
const EXCHANGE_SECONDS = 14;
const LAST_FRAMES = 25;
const LOOK_MS = 1_000;
/** What a call's end may take beyond its length: its result, and the webhook that tells it. */
const END_MS = 120_000;
/** So long after the end all that concerns a call has been said. */
const SETTLE_MS = 3_000;
/** Whom nobody called by then was not called. */
const NEVER_CALLED_MS = 60_000;
/** After a refusal. */
const LATER_MS = 2_000;

interface Plan {
  kind: string;
  callee: CalleeInput;
  /** Statuses that are the right ones for this kind. */
  ends: readonly string[];
  /** Ended over /v1 after so long; null: not by us. */
  hangUpAfterMs: number | null;
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export function startCallers(o: CallersOptions): Callers {
  const { lab, random } = o;
  const account: Account = {
    calls: 0,
    ends: {},
    unexplained: [],
    refused: 0,
    unanswered: 0,
    talkSeconds: 0,
    framesSent: 0,
    framesLost: 0,
    framesFilled: 0,
    holes: 0,
    holeMs: 0,
    longestHoleMs: 0,
    violations: [],
  };
  /** By the other end's number, while its call is watched. */
  const watched = new Map<string, { id: string | null; end: PublicCall | null }>();
  const frames = new Map<string, FrameCounts>();
  let serial = 0;
  let stopping = false;

  /** Mostly short, some of minutes, a few as long as may be. */
  function seconds(): number {
    const share = random.next();
    const most = share < 0.5 ? 40 : share < 0.9 ? 120 : o.longestSeconds;
    return Math.min(o.longestSeconds, 5 + random.next() * most);
  }

  function plan(): Plan {
    const share = random.next();
    const exchanges = Math.max(1, Math.round(seconds() / EXCHANGE_SECONDS));
    const talk = (step: (index: number) => NonNullable<CalleeInput['steps']>[number]) =>
      Array.from({ length: exchanges }, (_, index) => step(index));
    const says = (index: number) =>
      ({ do: 'say', file: index % 3 === 2 ? LONG_SPEECH : QUESTION, when: POLITE }) as const;
    const common = {
      ringMs: [200, 2_000] as [number, number],
      amd: { verdict: 'human' as const, afterMs: 2_000 },
    };
    const talked = { ends: ['completed'], hangUpAfterMs: null };
    if (share < 0.4)
      return {
        kind: 'says goodbye',
        callee: { ...common, steps: [...talk(says), { do: 'say', file: GOODBYE, when: POLITE }] },
        ...talked,
      };
    if (share < 0.6)
      return {
        kind: 'hangs up',
        callee: { ...common, steps: [...talk(says), { do: 'hang_up' }] },
        ...talked,
      };
    if (share < 0.75)
      return {
        kind: 'interrupts',
        callee: {
          ...common,
          steps: [
            ...talk((index) =>
              index % 2 === 0 ? says(index) : { do: 'barge_in', file: QUESTION, afterAgentMs: 900 },
            ),
            { do: 'say', file: GOODBYE, when: POLITE },
          ],
        },
        ...talked,
      };
    if (share < 0.85)
      return {
        kind: 'is hung up on',
        callee: { ...common, steps: talk(says) },
        ends: ['completed', 'canceled'],
        hangUpAfterMs: seconds() * 1000,
      };
    if (share < 0.9) return { kind: 'says nothing', callee: common, ...talked };
    if (share < 0.95)
      return {
        kind: 'busy',
        callee: { ringMs: [200, 2_000], outcome: 'busy' },
        ends: ['busy'],
        hangUpAfterMs: null,
      };
    return {
      kind: 'leaves at once',
      callee: { ringMs: [200, 1_000], outcome: 'hangup_at_once', hangUpAfterMs: random.next() * 1_500 },
      ends: ['completed', 'canceled', 'no_answer'],
      hangUpAfterMs: null,
    };
  }

  const legsOf = async (number: string) => {
    const path = `/calls?number=${encodeURIComponent(number)}`;
    const ask = () => lab.ask<{ calls: CallReport[] }>('carrier', path);
    return (await ask().catch(ask)).calls;
  };

  /** The call's end by the daemon's webhook; null when it was refused, or no word came in time. */
  async function endOf(number: string, one: Plan): Promise<PublicCall | null | 'refused'> {
    const state = watched.get(number);
    if (state === undefined) return null;
    const begun = performance.now();
    const giveUp = begun + (o.longestSeconds * 3 + 60) * 1000 + END_MS;
    let hungUp = false;
    while (state.end === null && performance.now() < giveUp) {
      await pause(LOOK_MS);
      if (state.id === null) {
        const legs = await legsOf(number);
        if (legs.length === 0 && performance.now() - begun > NEVER_CALLED_MS) return 'refused';
        if (legs.length > 0 && legs.every(({ endedAtMs }) => endedAtMs !== null)) {
          // Its webhook may still be on the way.
          for (let waited = 0; state.id === null && waited < END_MS / 10; waited += LOOK_MS)
            await pause(LOOK_MS);
          if (state.id === null) return 'refused';
        }
      } else if (one.hangUpAfterMs !== null && !hungUp && performance.now() - begun > one.hangUpAfterMs) {
        hungUp = true;
        await lab.api('POST', `/v1/calls/${state.id}/hangup`).catch(() => account.unanswered++);
      }
    }
    return state.end;
  }

  /** What carrier and daemon say of the call's sound, against each other. */
  async function lookAt(number: string, call: PublicCall): Promise<void> {
    const counts = frames.get(call.id);
    frames.delete(call.id);
    let sent = 0;
    for (const leg of await legsOf(number)) {
      account.talkSeconds += leg.durationSeconds ?? 0;
      for (const { code, message } of leg.violations)
        account.violations.push(`${number}: ${code} ${message}`);
      for (const stream of leg.streams) {
        sent += stream.sent.media;
        for (const gap of stream.gaps) {
          if (gap.afterMark) continue;
          account.holes++;
          account.holeMs += gap.ms;
          account.longestHoleMs = Math.max(account.longestHoleMs, gap.ms);
        }
      }
      await lab.ask('carrier', `/calls/${leg.sid}`, undefined, 'DELETE').catch(() => null);
    }
    account.framesSent += sent;
    if (counts === undefined) return;
    account.framesFilled += counts.filledMs / 20;
    // Those on the way when our side closes the socket are nobody's loss.
    account.framesLost += Math.max(0, sent - counts.framesIn - LAST_FRAMES);
  }

  function judge(number: string, one: Plan, end: PublicCall | null): void {
    const how =
      end === null
        ? 'no end was told'
        : [end.status, end.hangup_cause, end.error_code].filter((part) => part !== null).join(' ');
    const key = `${one.kind}: ${how}`;
    account.ends[key] = (account.ends[key] ?? 0) + 1;
    const right =
      end !== null &&
      one.ends.includes(end.status) &&
      (end.error_code === null || end.status !== 'completed');
    if (!right) account.unexplained.push(`${end?.id ?? number} ${key}`);
  }

  async function oneCall(): Promise<void> {
    const one = plan();
    serial++;
    const number = `+1555${String(1_000_000 + (serial % 9_000_000))}`;
    const state = { id: null as string | null, end: null as PublicCall | null };
    watched.set(number, state);
    try {
      if (random.chance(0.4) && one.callee.outcome === undefined) {
        const to = o.inboundNumbers[random.integer(o.inboundNumbers.length)];
        await lab.ask('carrier', '/inbound-calls', { to, from: number, callee: one.callee });
      } else {
        await lab.ask('carrier', `/callees/${encodeURIComponent(number)}`, one.callee, 'PUT');
        const agent = o.outboundAgents[random.integer(o.outboundAgents.length)];
        const answer = await lab
          .api<PublicCall>('POST', '/v1/calls', { agent_id: agent, to: number })
          .catch(() => null);
        if (answer === null) account.unanswered++;
        else if (answer.status === 503) {
          account.refused++;
          await pause(LATER_MS);
          return;
        } else if (answer.status === 201) state.id = answer.body.id;
        else throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
      const end = await endOf(number, one);
      if (end === 'refused') {
        account.refused++;
        await pause(LATER_MS);
        return;
      }
      account.calls++;
      judge(number, one, end);
      await pause(SETTLE_MS);
      if (end === null) return;
      await lookAt(number, end);
      rmSync(join(o.dataDir, 'recordings', `${end.id}.wav`), { force: true });
    } finally {
      watched.delete(number);
    }
  }

  async function line(): Promise<void> {
    while (!stopping) {
      await oneCall().catch((error: unknown) =>
        account.unexplained.push(`the soak itself: ${String(error)}`),
      );
      await pause(random.next() * 3_000);
    }
  }

  const all = Promise.all(Array.from({ length: o.lines }, (_, index) => pause(index * 400).then(line)));
  return {
    account,
    told({ headers, body }) {
      const call = JSON.parse(body) as PublicCall;
      const state = watched.get(call.to_number) ?? watched.get(call.from_number);
      if (state === undefined) return;
      state.id ??= call.id;
      const type = headers['service-event-type'] ?? '';
      if (/completed|failed|no_answer|busy|canceled/.test(type)) state.end = call;
    },
    logged(line) {
      if (line.event === 'media.released') frames.set(String(line.call_id), line as unknown as FrameCounts);
    },
    async finish() {
      stopping = true;
      await all;
    },
  };
}
