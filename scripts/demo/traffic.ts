// The people and businesses of the demo: agents with numbers, a shop's order system, and who calls whom. Speaks to the
// daemon by /v1 and to the phone network by its control API, as anybody could.
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Lab } from '../lab.ts';
import { openOrderServer } from '../simulate/order-server.ts';

const AUDIO = join(import.meta.dirname, '../simulate/audio');
const POLITE = { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 };
const LOOK_MS = 1_000;

const says = (file: string) => ({ do: 'say', file: join(AUDIO, file), when: POLITE });

/** Who answers, or calls: each a callee of the phone network. */
const PEOPLE = {
  talker: {
    ringMs: 2_000,
    steps: [says('jfk-8k.wav'), says('caller-thanks.wav')],
    amd: { verdict: 'human', afterMs: 2_000 },
  },
  // One question in one breath.
  asker: { steps: [says('caller-question.wav'), says('caller-thanks.wav')] },
  interrupter: {
    ringMs: 1_500,
    steps: [
      { do: 'barge_in', file: join(AUDIO, 'caller-question.wav'), afterAgentMs: 2_500 },
      says('caller-thanks.wav'),
    ],
    amd: { verdict: 'human', afterMs: 2_000 },
  },
  // Murmurs while the agent speaks, then interrupts it, with a pause inside the question.
  listener: {
    ringMs: 1_500,
    steps: [
      { do: 'barge_in', file: join(AUDIO, 'caller-thank-you.wav'), afterAgentMs: 2_500 },
      { do: 'wait', ms: 500 },
      { do: 'barge_in', file: join(AUDIO, 'caller-question-paused.wav'), afterAgentMs: 1_000 },
      says('caller-thanks.wav'),
    ],
    amd: { verdict: 'human', afterMs: 2_000 },
  },
  nobody: { outcome: 'no_answer' },
  engaged: { outcome: 'busy' },
} as const;

interface Agent {
  id: string;
  name: string;
  number: string;
}

export interface Traffic {
  /** The agent that is good to begin with. */
  tryAgent: string;
  /** Has somebody call every so many seconds, and says what happens, until the signal. 0: only says what happens. */
  live(everySeconds: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  styleText(style, text, { stream: process.stdout, validateStream: true });

/** Buys numbers and makes the agents. */
export async function openTraffic(lab: Lab): Promise<Traffic> {
  const orders = await openOrderServer({
    order_number: '1042',
    status: 'shipped',
    delivery_date: 'Thursday',
  });
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await lab.api<T>(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const offered = (await ask<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?country=US&limit=3'))
    .data;
  const make = async (index: number, name: string, fields: Record<string, unknown>): Promise<Agent> => {
    const number = await ask<{ id: string; e164: string }>('POST', '/v1/numbers/purchase', {
      e164: offered[index]?.e164,
      friendly_name: name,
    });
    const agent = await ask<{ id: string }>('POST', '/v1/agents', {
      name,
      number_ids: [number.id],
      ...fields,
    });
    return { id: agent.id, name, number: number.e164 };
  };
  const reminder = await make(0, 'Appointment reminder', {
    type: 'outbound',
    persona: 'You are the automated assistant of Riverside Dental, a dentist. You are brief and kind.',
    instructions:
      'Remind the customer of the appointment on Tuesday at ten thirty, and find out whether the customer will come.',
    returns: { confirmed: 'boolean', day: 'string', time: 'string' },
  });
  const orderLine = await make(1, 'Order line', {
    type: 'inbound',
    persona: 'You answer the order line of a shop.',
    instructions: 'Ask for the order, look it up with lookup_order, and tell the caller where it is.',
    returns: { found: 'boolean', order_number: 'string', status: 'string', delivery_day: 'string' },
    tools: [
      {
        type: 'http',
        name: 'lookup_order',
        description: 'Finds an order by its number: its status and its day of delivery.',
        parameters: {
          type: 'object',
          properties: { order_number: { type: 'string', description: 'the number of the order' } },
          required: ['order_number'],
          additionalProperties: false,
        },
        url: orders.url,
        method: 'POST',
        timeout_ms: 5_000,
      },
    ],
  });
  const frontDesk = await make(2, 'Front desk', {
    type: 'inbound',
    persona: 'You answer the phone of an office. You are brief and kind.',
    instructions: 'Find out what the caller wants. The office is open from nine to five.',
    returns: { summary: 'string', said_goodbye: 'boolean' },
  });
  await ask('POST', '/v1/webhook_endpoints', {
    url: lab.receiverUrl,
    description: 'A program on this machine',
  });

  let turn = 0;
  const person = () => `+1212555${String(1_000 + (turn % 9_000)).padStart(4, '0')}`;
  const dial = async (who: keyof typeof PEOPLE) => {
    const to = person();
    await lab.ask('carrier', `/callees/${encodeURIComponent(to)}`, PEOPLE[who], 'PUT');
    await ask('POST', '/v1/calls', { agent_id: reminder.id, to, context: { customer: `Customer ${turn}` } });
  };
  const ring = (who: keyof typeof PEOPLE, agent: Agent) =>
    lab.ask('carrier', '/inbound-calls', { to: agent.number, from: person(), callee: PEOPLE[who] });
  const day: (() => Promise<unknown>)[] = [
    () => dial('talker'),
    () => ring('asker', orderLine),
    () => dial('nobody'),
    () => ring('interrupter', frontDesk),
    () => dial('listener'),
    () => dial('engaged'),
  ];

  /** One line for every end of a call. */
  const told = new Set<string>();
  const names = new Map([reminder, orderLine, frontDesk].map(({ id, name }) => [id, name]));
  function tell(): void {
    for (const { headers, body } of lab.received.splice(0)) {
      const type = headers['service-event-type'] ?? '';
      const call = JSON.parse(body) as {
        id: string;
        agent_id: string;
        direction: string;
        from_number: string;
        to_number: string;
        status: string;
        duration_seconds: number | null;
      };
      const key = `${call.id} ${type}`;
      if (told.has(key) || type === 'call.queued') continue;
      told.add(key);
      const other = call.direction === 'inbound' ? `from ${call.from_number}` : `to ${call.to_number}`;
      const seconds = call.duration_seconds === null ? '' : `, ${Math.round(call.duration_seconds)} s`;
      console.log(
        `  ${paint('dim', new Date().toLocaleTimeString('en-GB'))}  ${type.padEnd(15)} ${names.get(call.agent_id) ?? ''} ${paint('dim', `${other}${seconds}`)}`,
      );
    }
  }

  return {
    tryAgent: frontDesk.name,
    async live(everySeconds, signal) {
      let nextAt = performance.now() + 1_000;
      while (!signal.aborted) {
        tell();
        if (everySeconds > 0 && performance.now() >= nextAt) {
          nextAt = performance.now() + everySeconds * 1_000;
          // A full house or a daemon that is being stopped is no reason to end the demo.
          await day[turn++ % day.length]?.().catch((error: unknown) =>
            console.log(paint('yellow', `  nobody called: ${(error as Error).message}`)),
          );
        }
        await new Promise<void>((next) => {
          const timer = setTimeout(done, LOOK_MS);
          signal.addEventListener('abort', done, { once: true });
          function done() {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            next();
          }
        });
      }
    },
    close: () => orders.close(),
  };
}
