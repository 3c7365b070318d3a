// A call as it happens: its states and its words, line by line, and on a terminal one status line below them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, CallGap, TranscriptItem } from '../../sdk/index.ts';
import { hasEnded } from '../../sdk/index.ts';
import type { Context } from '../context.ts';
import { Ending, EXIT } from '../exit.ts';
import { duration } from '../output.ts';
import { gapWords } from './call-gaps.ts';

const LOOK_MS = 700;

const STATE: Record<Call['status'], string> = {
  queued: 'recorded',
  initiated: 'the carrier has it',
  ringing: 'ringing',
  in_progress: 'answered',
  completed: 'ended',
  no_answer: 'nobody answered',
  busy: 'busy',
  canceled: 'canceled',
  failed: 'failed',
};

const clock = (ms: number) => {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

const oneLine = (text: string) => text.replace(/[\n\t]+/g, ' ');

/** One line of what was said, whatever was in it; what was not heard any more is told apart. */
export function spokenLine({ output }: Pick<Context, 'output'>, item: TranscriptItem): string {
  const who = { agent: 'agent ', caller: 'caller', tool: 'tool  ', system: '      ' }[item.role];
  const style = { agent: 'green', caller: 'cyan', tool: 'magenta', system: 'dim' } as const;
  const heard = item.role === 'agent' ? item.heard_text : item.text;
  const rest = item.interrupted && item.text.startsWith(heard) ? item.text.slice(heard.length) : '';
  const cut = item.interrupted
    ? `${output.paint('dim', oneLine(rest.trimEnd()))} ${output.paint('yellow', '[cut]')}`
    : '';
  return `${output.paint('dim', clock(item.start_ms).padStart(6))}  ${output.paint(style[item.role], who)}  ${oneLine(heard)}${cut}`;
}

/** A line for a gap in the call's sound, between those of what was said. `over`: the call has ended. */
export function gapLine({ output }: Pick<Context, 'output'>, gap: CallGap, over: boolean): string {
  return `${output.paint('dim', clock(gap.from_ms).padStart(6))}  ${output.paint('yellow', `— ${gapWords(gap, over)} —`)}`;
}

async function follow(context: Context, id: string): Promise<Call> {
  const { offhook, output, signal } = context;
  const printed = new Set<string>();
  let seen: Call['status'] | null = null;
  let gapsPrinted = 0;
  let answeredAt = 0;
  const print = (text: string) => {
    output.status('');
    output.line(text);
  };
  const show = (text: string) => output.status(output.paint('dim', text));
  /** Prints the lines that are over. Answers whether none can come any more. */
  const look = async (ended: boolean): Promise<boolean> => {
    const { data, status } = await offhook.calls.transcript(id, { signal });
    const final = ended || status === 'final';
    for (const [at, item] of data.entries()) {
      // A line is told when it is over: its text and what was heard of it change until then.
      const over = final || item.end_ms !== null || at < data.length - 1;
      if (!over || printed.has(item.id) || item.text.trim() === '') continue;
      printed.add(item.id);
      print(spokenLine(context, item));
    }
    return final;
  };
  for (;;) {
    const call = await offhook.calls.get(id, { signal });
    const ended = hasEnded(call);
    const settled = ended && call.result_status !== 'pending';
    const tell = () => {
      if (call.status === seen) return;
      seen = call.status;
      const why = call.error_message ?? call.hangup_cause;
      print(
        `${' '.repeat(8)}${output.paint('bold', STATE[call.status])}${ended && why !== null ? output.paint('dim', ` (${oneLine(why)})`) : ''}`,
      );
    };
    for (const gap of call.gaps.slice(gapsPrinted)) {
      // Told when it is over, with its length.
      if (gap.to_ms === null && !ended) continue;
      gapsPrinted++;
      print(gapLine(context, gap, ended));
    }
    if (call.status === 'in_progress' && answeredAt === 0) answeredAt = performance.now();
    if (!ended) tell();
    const complete = call.answered_at === null || (await look(settled));
    // The end is the last line: words may still be on their way when the call is over.
    if (ended && complete) tell();
    if (settled) {
      output.status('');
      return call;
    }
    if (ended) show('        the result is being worked out …');
    else if (answeredAt > 0) show(`        ${clock(performance.now() - answeredAt)} on the line`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** Follows a call to its end and result. Ctrl-C leaves it; the call goes on. Answers the call as it ended. */
export async function watchCall(context: Context, id: string): Promise<Call> {
  try {
    return await follow(context, id);
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw new Ending(EXIT.ok, `\nThe call goes on: offhook calls hangup ${id}`);
  }
}

/** How a call that was waited for ends the command. @throws Ending for a call that reached nobody or failed */
export function endAs(call: Call): void {
  if (call.status === 'completed') return;
  throw new Ending(call.status === 'failed' ? EXIT.callFailed : EXIT.notReached);
}

/** What came of it: the result field by field, how long, how much. */
export function showEnd({ output }: Context, call: Call): void {
  output.line();
  if (call.result !== null) {
    output.facts(
      Object.entries(call.result).map(([name, value]) => [
        name,
        value === null ? output.paint('dim', 'not said') : output.paint('bold', String(value)),
      ]),
    );
  } else if (call.result_status === 'failed' && call.result_error !== null) {
    output.line(`No result: ${call.result_error}`);
  }
  output.line(output.paint('dim', `${duration(call.duration_seconds)}, call ${call.id}`));
}

/** The status of a call in its colour. */
export const paintStatus = ({ output }: Context, call: Call) =>
  output.paint(
    call.status === 'completed'
      ? 'green'
      : call.status === 'failed'
        ? 'red'
        : call.ended_at === null
          ? 'cyan'
          : 'yellow',
    call.status,
  );
