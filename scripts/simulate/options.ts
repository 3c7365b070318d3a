// PURE. The command line of `npm run simulate`: what may be given, and what it means.
import { parseArgs } from 'node:util';
import { type Direction, directionsOf, SCENARIOS, type ScenarioName } from './scenarios.ts';

export const USAGE = `npm run simulate -- [options]

Places a call from the daemon to a simulated person, with a simulated phone network and a simulated speech model, all on
this machine: no account, no key and no internet needed. Leaves a folder with the recording, a picture of the call and
everything that was said and sent, and ends with exit code 0 only when nothing went wrong.

  --scenario NAME   what happens (default reminder):
                      reminder    reminds a person of an appointment; the outcome is read from the talk
                      order-line  answers a person who asks for an order, and looks it up in another program
                      barge-in    the person interrupts the agent
                      give-and-take
                                  the person pauses in a question, murmurs over the agent, and interrupts it
                      line-lost   the connection to the phone network breaks in mid-sentence; the call goes on
                      killed      the daemon is killed in mid-sentence and started again; the call goes on
                      disclosure  the person speaks over what the agent has to say first; it is said to its end
                      opt-out     the person asks not to be called again, and is not
                      voicemail   a machine answers, and gets a message after its beep
                      no-answer   nobody picks up
  --inbound         receive the call instead of placing it (scenarios order-line and barge-in; alone: order-line)
  --caller FILE     a WAV file to be the voice of the person (default: a public speech with pauses, 11 s)
  --calls N         N calls at the same time (default 1, at most 200)
  --out DIR         folder for the results (default ./simulations/<time>-<scenario>)
  --data DIR        keep the data of the daemon in this folder (default: a temporary one, removed at the end)
  --help            this text`;

export interface SimulateOptions {
  scenario: ScenarioName;
  direction: Direction;
  caller: string | null;
  calls: number;
  out: string | null;
  data: string | null;
}

/** The options, `help`, or one line saying what is wrong with them. */
export function readOptions(argv: readonly string[]): SimulateOptions | { help: true } | { wrong: string } {
  let values: {
    scenario?: string;
    inbound?: boolean;
    caller?: string;
    calls?: string;
    out?: string;
    data?: string;
    help?: boolean;
  };
  try {
    ({ values } = parseArgs({
      args: [...argv],
      allowPositionals: false,
      options: {
        scenario: { type: 'string' },
        inbound: { type: 'boolean' },
        caller: { type: 'string' },
        calls: { type: 'string' },
        out: { type: 'string' },
        data: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    // Node's second sentence explains how to pass arguments that begin with a dash.
    const message = error instanceof Error ? error.message : String(error);
    return { wrong: `${message.split(/\. |\n/)[0]}.` };
  }
  if (values.help) return { help: true };
  const inbound = values.inbound ?? false;
  const scenario = values.scenario ?? (inbound ? 'order-line' : 'reminder');
  const known = SCENARIOS.find((name) => name === scenario);
  if (known === undefined) {
    return { wrong: `There is no scenario "${scenario}": it is one of ${SCENARIOS.join(', ')}.` };
  }
  const directions = directionsOf(known);
  const direction = inbound ? 'inbound' : directions[0]!;
  if (!directions.includes(direction)) {
    return {
      wrong: `The scenario ${known} is a call that the daemon places; --inbound goes with order-line and barge-in.`,
    };
  }
  const calls = Number(values.calls ?? '1');
  if (!Number.isInteger(calls) || calls < 1 || calls > 200) {
    return { wrong: `--calls takes a whole number from 1 to 200, not "${values.calls}".` };
  }
  if (known === 'killed' && calls > 1) {
    return { wrong: 'The scenario killed looks at one call, so --calls does not go with it.' };
  }
  for (const name of ['caller', 'out', 'data'] as const) {
    if (values[name] === '') return { wrong: `--${name} needs a path.` };
  }
  if (values.caller !== undefined && (known === 'voicemail' || known === 'no-answer')) {
    return { wrong: `In the scenario ${known} no person speaks, so --caller does not go with it.` };
  }
  if (values.caller !== undefined && (known === 'disclosure' || known === 'opt-out')) {
    return { wrong: `In the scenario ${known} certain words are said, so --caller does not go with it.` };
  }
  return {
    scenario: known,
    direction,
    caller: values.caller ?? null,
    calls,
    out: values.out ?? null,
    data: values.data ?? null,
  };
}
