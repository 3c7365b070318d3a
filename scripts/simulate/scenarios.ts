// PURE. The scenarios of `npm run simulate`: what the agent is told, what the person on the line does, how the simulated
// model answers, and what must have come of it.
import type { CalleeInput, FaultInput } from '../carrier-simulator/options.ts';

export const SCENARIOS = [
  'reminder',
  'order-line',
  'barge-in',
  'give-and-take',
  'line-lost',
  'killed',
  'disclosure',
  'opt-out',
  'voicemail',
  'no-answer',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];
export type Direction = 'outbound' | 'inbound';

/** A recording of a person: the file, and the words in it with their start and end in ms. */
export interface Clip {
  /** Absolute path. */
  file: string;
  words: [number, number, string][];
  /** The words are not known, so stand-ins mark the spoken parts of the file. */
  unknownWords?: true;
  /** Said while the other one talks, and means: go on. */
  goOn?: true;
}

/** The recordings that a scenario may use, by file name, and the one that the person on the line speaks. */
export interface Clips {
  caller: Clip;
  byFile: Record<string, Clip>;
}

/** A value of the result, and the words that it was taken from. */
export interface ExpectedField {
  value: unknown;
  saidBy: 'agent' | 'caller';
  words: RegExp;
}

export interface Expected {
  status: 'completed' | 'no_answer';
  events: string[];
  /** Null: there was no conversation, so there can be no result. */
  result: Record<string, ExpectedField> | null;
  /** The agent must have been cut short while it was heard. */
  bargeIn: boolean;
  /** The agent must have gone on over a short word, and an answer begun in a pause must have been thrown away unheard. */
  giveAndTake: boolean;
  /** How often the line broke, and the call must have gone on. */
  gaps: number;
  /** The process that carried the call was killed, and another had to go on with it. */
  killed: boolean;
  tool: { name: string; arguments: Record<string, unknown>; answer: Record<string, unknown> } | null;
  /** The message must have been spoken whole after the beep. */
  message: boolean;
  hangupCause: RegExp | null;
  /** What must be said before all else, and be heard whole although the person speaks over it. */
  firstLine: string | null;
  /** The person asks not to be called again in these words: noted, confirmed, and not called again. */
  optsOut: RegExp | null;
}

/** So long into the agent's answer to a step of the person, counted from 0. */
export interface Kill {
  step: number;
  afterMs: number;
}

export interface Scenario {
  name: ScenarioName;
  /** One line for the head of the terminal and of the picture. */
  title: string;
  /** What one is about to see, in plain words. */
  about: string;
  direction: Direction;
  /** Body of POST /v1/agents, without numbers; `toolUrl` is where the order server listens. */
  agent(toolUrl: string): Record<string, unknown>;
  context: Record<string, unknown>;
  callee: CalleeInput;
  /** The recordings of the callee's steps that sound, in order. */
  speaks: Clip[];
  /** The shipped scenario of the model simulator that this one starts from. */
  model: string;
  /** Rules that go before those of the shipped scenario. */
  modelRules: Record<string, unknown>[];
  expected: Expected;
  /** When the daemon is killed; null: it is not. */
  kill: Kill | null;
  /** What is set for the organization before, by PATCH /v1/organization. */
  organization: Record<string, unknown>;
  /** What the phone network does wrong on each call, by itself. */
  faults: Omit<FaultInput, 'number'>[];
  /** More settings for the daemon. */
  env: Record<string, string>;
}

/** Which scenarios can be had in which direction; the first is the usual one. */
const DIRECTIONS: Record<ScenarioName, Direction[]> = {
  reminder: ['outbound'],
  'order-line': ['inbound'],
  'barge-in': ['outbound', 'inbound'],
  'give-and-take': ['outbound'],
  'line-lost': ['outbound'],
  killed: ['outbound'],
  disclosure: ['outbound'],
  'opt-out': ['outbound'],
  voicemail: ['outbound'],
  'no-answer': ['outbound'],
};

export function directionsOf(name: ScenarioName): Direction[] {
  return DIRECTIONS[name];
}

/** Pauses inside one speech of the agent are shorter than this. */
const POLITE = { afterAgentSilenceMs: 1300, timeoutMs: 20_000 };
/** What a new stream takes at a carrier; elsewhere the phone network of a simulation is as quick as this machine. */
const CARRIER_DELAYS = {
  connectDelayMs: [250, 450] as [number, number],
  firstMediaDelayMs: [100, 200] as [number, number],
  playoutStartMs: [40, 100] as [number, number],
};
/** Of 40 ms each that the agent speaks: in its answer, whatever voice it answers; the greeting has about 210. */
const LOST_AFTER_MESSAGES = 290;
/** In the question that follows the confirmation. */
const KILLED_AFTER_MS = 5_500;
const CONVERSATION_EVENTS = {
  outbound: ['call.queued', 'call.ringing', 'call.answered', 'call.completed'],
  inbound: ['call.ringing', 'call.answered', 'call.completed'],
};
/** How a recording of unknown words is heard: stand-ins such as "(part 1)". */
export const STAND_IN = /\(part \d+\)/;

const LOOKUP_ORDER = {
  name: 'lookup_order',
  arguments: { order_number: '1042' },
  answer: { order_number: '1042', status: 'shipped', delivery_date: 'Thursday' },
};

/** The standard line of an agent that calls for the scenario's organization, and that the call is recorded. */
const FIRST_LINE = 'Hello, this is an AI assistant calling for Doctor Long. This call is recorded.';

const say = (clip: Clip, when: object | 'at_once' = POLITE) => ({
  do: 'say' as const,
  file: clip.file,
  when: when as typeof POLITE,
});

/** The scenario with these recordings. @throws Error when the scenario has no such direction */
export function makeScenario(name: ScenarioName, direction: Direction, clips: Clips): Scenario {
  if (!DIRECTIONS[name].includes(direction))
    throw new Error(`The scenario ${name} has no ${direction} call.`);
  const { caller } = clips;
  const clip = (file: string): Clip => {
    const found = clips.byFile[file];
    if (found === undefined) throw new Error(`There is no recording ${file}.`);
    return found;
  };
  const nobody: Expected = {
    status: 'completed',
    events: CONVERSATION_EVENTS[direction],
    result: null,
    bargeIn: false,
    giveAndTake: false,
    gaps: 0,
    killed: false,
    tool: null,
    message: false,
    hangupCause: null,
    firstLine: null,
    optsOut: null,
  };
  const reminderAgent = {
    persona: 'You are the automated assistant of Riverside Dental, a dentist. You are brief and kind.',
    instructions:
      'Remind the customer of the appointment on Tuesday at ten thirty, and find out whether the customer will come.',
  };
  const reminderReturns = { confirmed: 'boolean', day: 'string', time: 'string' };
  /** The rule for what a recording of unknown words says. */
  const unknown = (rule: Record<string, unknown>) =>
    caller.unknownWords === true ? [{ on: 'caller', ...rule }] : [];
  const base = {
    name,
    direction,
    context: {},
    modelRules: [],
    kill: null,
    organization: {},
    faults: [],
    env: {},
  };

  switch (name) {
    case 'reminder':
    case 'line-lost': {
      const thanks = clip('caller-thanks.wav');
      const isLost = name === 'line-lost';
      return {
        ...base,
        title: isLost ? 'Line lost: the connection breaks in mid-sentence' : 'Appointment reminder',
        about: isLost
          ? 'The daemon calls a person and reminds them of an appointment. While the agent speaks, the connection between the phone network and the daemon breaks. The phone network asks what to do, gets a new connection, and the agent goes on where it was last heard; the rest of the call is as if nothing had happened.'
          : 'The daemon calls a person and reminds them of an appointment. The person answers with a recording, with pauses in it, and says goodbye; afterwards the outcome is taken from the words that were said.',
        ...(isLost
          ? { faults: [{ do: 'stream_abort', at: { stage: 'app_media', count: LOST_AFTER_MESSAGES } }] }
          : {}),
        agent: () => ({ ...reminderAgent, returns: reminderReturns }),
        callee: {
          ringMs: 1500,
          steps: [say(caller), say(thanks)],
          ...(isLost ? { network: CARRIER_DELAYS } : {}),
        },
        speaks: [caller, thanks],
        model: 'reminder',
        modelRules: [
          ...unknown({
            heard: '^(?!.*goodbye)',
            say: 'Thank you, your appointment on Tuesday at ten thirty is confirmed. Is there anything else I can do for you?',
          }),
        ],
        expected: {
          ...nobody,
          result: {
            confirmed: { value: true, saidBy: 'agent', words: /appointment[^.]* is confirmed/ },
            day: { value: 'Tuesday', saidBy: 'agent', words: /\bTuesday\b/ },
            time: { value: '10:30', saidBy: 'agent', words: /\bten thirty\b/ },
          },
          hangupCause: /^agent_ended$/,
          gaps: isLost ? 1 : 0,
        },
      };
    }
    case 'killed': {
      const thanks = clip('caller-thanks.wav');
      return {
        ...base,
        title: 'Killed: the daemon dies in mid-sentence',
        about:
          'The daemon calls a person and reminds them of an appointment. While the agent speaks, the daemon is killed (SIGKILL) and started again, as a supervisor would. The phone network asks it what to do with the call, and the call goes on: the agent says that it was cut off, and the rest is as if nothing had happened.',
        agent: () => ({ ...reminderAgent, returns: reminderReturns }),
        // More patient than a restart takes: who speaks into the gap is not heard.
        callee: {
          ringMs: 1500,
          steps: [say(caller), say(thanks, { afterAgentSilenceMs: 5_000, timeoutMs: 30_000 })],
        },
        speaks: [caller, thanks],
        kill: { step: 0, afterMs: KILLED_AFTER_MS },
        model: 'reminder',
        modelRules: [
          {
            on: 'caller',
            heard: caller.unknownWords === true ? '^(?!.*goodbye)' : '\\bcountry\\.',
            say: 'Thank you, your appointment on Tuesday at ten thirty is confirmed. Is there anything else I can do for you?',
          },
        ],
        expected: {
          ...nobody,
          result: {
            confirmed: { value: true, saidBy: 'agent', words: /appointment[^.]* is confirmed/ },
            day: { value: 'Tuesday', saidBy: 'agent', words: /\bTuesday\b/ },
            time: { value: '10:30', saidBy: 'agent', words: /\bten thirty\b/ },
          },
          hangupCause: /^agent_ended$/,
          gaps: 1,
          killed: true,
        },
      };
    }
    case 'order-line': {
      const lookUp = {
        say: 'One moment, please. I will look that up for you.',
        tool: { name: LOOKUP_ORDER.name, arguments: LOOKUP_ORDER.arguments },
      };
      const thanks = clip('caller-thanks.wav');
      return {
        ...base,
        title: 'Order line with a tool call',
        about:
          'A person calls the number of an order line. The agent looks the order up in another program while they are on the line (a tool call: the daemon asks a small web server on this machine), and tells what it found.',
        agent: (toolUrl) => ({
          persona: 'You answer the order line of a shop.',
          instructions: 'Ask for the order, look it up with lookup_order, and tell the caller where it is.',
          returns: { found: 'boolean', order_number: 'string', status: 'string', delivery_day: 'string' },
          tools: [
            {
              type: 'http',
              name: LOOKUP_ORDER.name,
              description: 'Finds an order by its number: its status and its day of delivery.',
              parameters: {
                type: 'object',
                properties: { order_number: { type: 'string', description: 'the number of the order' } },
                required: ['order_number'],
                additionalProperties: false,
              },
              url: toolUrl,
              method: 'POST',
              timeout_ms: 5000,
            },
          ],
        }),
        callee: { steps: [say(caller), say(thanks)] },
        speaks: [caller, thanks],
        model: 'order-line',
        modelRules: [
          ...unknown({ heard: '^(?!.*goodbye)', ...lookUp }),
          // The last words of a speech with pauses in it: what comes before is no whole question.
          { on: 'caller', heard: 'country\\.', once: true, ...lookUp },
          {
            on: 'caller',
            heard: '\\bgoodbye\\b',
            say: 'Thank you for calling. Goodbye.',
            tool: { name: 'end_call' },
          },
          { on: 'caller', heard: '\\w', say: 'Thank you. Please go on.' },
          {
            on: 'tool_result',
            tool_name: LOOKUP_ORDER.name,
            result: '"answer"',
            say: 'I have found your order. The order number is {{tool.answer.order_number|missing}}. The status is {{tool.answer.status|missing}}. Delivery is planned for {{tool.answer.delivery_date|missing}}. Is there anything else I can do for you?',
          },
        ],
        expected: {
          ...nobody,
          result: {
            found: { value: true, saidBy: 'agent', words: /have found your order/ },
            order_number: { value: '1042', saidBy: 'agent', words: /order number is 1042/ },
            status: { value: 'shipped', saidBy: 'agent', words: /status is shipped/ },
            delivery_day: { value: 'Thursday', saidBy: 'agent', words: /planned for Thursday/ },
          },
          tool: LOOKUP_ORDER,
          hangupCause: /^agent_ended$/,
        },
      };
    }
    case 'barge-in': {
      const question = clip('caller-question.wav');
      return {
        ...base,
        title: 'Barge-in: the person interrupts the agent',
        about:
          'The agent gives a long answer and the person starts to speak in the middle of it (a barge-in). The agent must fall silent at once, and must not believe that it said what nobody heard.',
        agent: () => ({
          persona: 'You are the automated assistant of an office.',
          instructions: 'Answer questions. Let yourself be interrupted.',
          returns: { interrupted: 'boolean' },
        }),
        callee: {
          ringMs: 1000,
          steps: [
            say(question),
            { do: 'barge_in', file: caller.file, afterAgentMs: 4000 },
            { do: 'hang_up', when: POLITE },
          ],
        },
        speaks: [question, caller],
        model: 'barge-in',
        modelRules: [
          ...unknown({ heard: '^(?!.*more information)', say: 'You stopped me. Thank you. Please go on.' }),
        ],
        expected: {
          ...nobody,
          bargeIn: true,
          result: { interrupted: { value: true, saidBy: 'agent', words: /You stopped me/ } },
        },
      };
    }
    case 'give-and-take': {
      const question = clip('caller-question-paused.wav');
      const thankYou: Clip = { ...clip('caller-thank-you.wav'), goOn: true };
      return {
        ...base,
        title: 'Give and take: a pause, a murmur, an interruption',
        about:
          'The person pauses inside a question: the answer that was begun there is thrown away, and nobody hears it. A murmured "thank you" over the agent lowers its voice for a moment and does not stop it; somebody who goes on speaking does.',
        agent: () => ({
          persona: 'You are the automated assistant of an office.',
          instructions: 'Answer questions. Let yourself be interrupted.',
          language: 'en',
          returns: { interrupted: 'boolean' },
        }),
        callee: {
          ringMs: 1000,
          steps: [
            say(question),
            { do: 'barge_in', file: thankYou.file, afterAgentMs: 3500 },
            { do: 'wait', ms: 1500 },
            { do: 'barge_in', file: caller.file, afterAgentMs: 1000 },
            { do: 'hang_up', when: POLITE },
          ],
        },
        speaks: [question, thankYou, caller],
        model: 'barge-in',
        modelRules: [
          ...unknown({
            heard: '^(?!.*(?:more information|thank you))',
            say: 'You stopped me. Thank you. Please go on.',
          }),
        ],
        expected: {
          ...nobody,
          bargeIn: true,
          giveAndTake: true,
          result: { interrupted: { value: true, saidBy: 'agent', words: /You stopped me/ } },
        },
      };
    }
    case 'disclosure': {
      const over = clip('caller-question.wav');
      const thanks = clip('caller-thanks.wav');
      return {
        ...base,
        title: 'Disclosure: what is said before all else',
        about:
          'Before all else the agent tells that it is an AI, for whom it calls, and that the call is recorded. The person speaks over that from early on: it is neither lowered nor cut, and what was said meanwhile is answered when it is over.',
        // Of words that the simulated voice has: it spells others.
        organization: { spoken_name: 'Doctor Long' },
        env: { RECORDING_NOTICE: 'always' },
        agent: () => ({
          ...reminderAgent,
          persona: 'You are the automated assistant of Doctor Long. You are brief and kind.',
          returns: reminderReturns,
          language: 'en',
          disclosure: { mode: 'standard' },
        }),
        callee: {
          ringMs: 1500,
          // Who speaks at length at once passes for a machine by that alone.
          amd: { verdict: 'human', afterMs: 2000 },
          steps: [
            { do: 'barge_in', file: over.file, afterAgentMs: 1000 },
            say(thanks, { afterAgentSilenceMs: 4_000, timeoutMs: 60_000 }),
          ],
        },
        speaks: [over, thanks],
        model: 'reminder',
        modelRules: [
          {
            on: 'caller',
            heard: '^(?!.*goodbye)',
            say: 'Thank you, your appointment on Tuesday at ten thirty is confirmed. Is there anything else I can do for you?',
          },
        ],
        expected: {
          ...nobody,
          firstLine: FIRST_LINE,
          result: {
            confirmed: { value: true, saidBy: 'agent', words: /appointment[^.]* is confirmed/ },
            day: { value: 'Tuesday', saidBy: 'agent', words: /\bTuesday\b/ },
            time: { value: '10:30', saidBy: 'agent', words: /\bten thirty\b/ },
          },
          hangupCause: /^agent_ended$/,
        },
      };
    }
    case 'opt-out': {
      const notAgain = clip('caller-not-again.wav');
      return {
        ...base,
        title: 'Opt-out: "do not call me again"',
        about:
          'The person asks not to be called again. The number goes on the do-not-call list, with the words and their moment; the agent says that it is noted, and the call ends when that was heard. Another call to that number is then refused. (At the end the number is taken off the list, so that kept data can be used again.)',
        agent: () => ({ ...reminderAgent, returns: {}, language: 'en' }),
        callee: { ringMs: 1500, steps: [say(notAgain)] },
        speaks: [notAgain],
        model: 'reminder',
        expected: { ...nobody, optsOut: /do not call me again/i, hangupCause: /^agent_ended$/ },
      };
    }
    case 'voicemail': {
      const greeting = clip('voicemail-greeting-with-beep.wav');
      return {
        ...base,
        title: 'Voicemail: a machine answers',
        about:
          'A voicemail box picks up instead of a person. The daemon recognizes the machine, waits for its beep, and leaves a message, whole and with nothing spoken before the beep.',
        agent: () => ({ ...reminderAgent, returns: {}, voicemail_action: 'leave_message' }),
        callee: {
          ringMs: 1500,
          voicemail: { greeting: { file: greeting.file }, beep: null, silenceMs: 3000 },
        },
        speaks: [greeting],
        model: 'voicemail',
        expected: { ...nobody, message: true, hangupCause: /voicemail/ },
      };
    }
    case 'no-answer':
      return {
        ...base,
        title: 'Nobody answers',
        about: 'The phone rings and nobody picks up. The daemon gives up after the time set for ringing.',
        agent: () => ({ ...reminderAgent, returns: reminderReturns }),
        callee: { outcome: 'no_answer' },
        speaks: [],
        model: 'reminder',
        // The least that the daemon takes.
        env: { RING_SECONDS: '5' },
        expected: {
          ...nobody,
          status: 'no_answer',
          events: ['call.queued', 'call.ringing', 'call.no_answer'],
        },
      };
  }
}

/** The model simulator's scenario file: the shipped one, with the rules and recordings of this call. */
export function modelScenario(scenario: Scenario, shipped: Record<string, unknown>): Record<string, unknown> {
  // Only one scenario is loaded, so it holds for whatever the agent is told.
  const { for: _, ...rest } = shipped;
  return {
    ...rest,
    hears: scenario.speaks.map(({ file, words }) => ({ file, words })),
    rules: [...scenario.modelRules, ...(shipped.rules as unknown[])],
  };
}
