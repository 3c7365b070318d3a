// What the speech model is told of its tools, and what a tool answers that did not do its work. PURE. Their tone: system-prompt.ts.
import type { TalkTexts } from '../../../bridge/protocol/agent-texts.ts';
import { quoteData } from '../fenced-data.ts';

/** What the built-in tools are for, and what their arguments mean. */
export const BUILT_IN = {
  end_call: {
    use: 'Hangs up. Say goodbye first. Use it only when the conversation is over.',
    reason: 'Why the call ends, in a few words.',
  },
  transfer_call: {
    use: 'Hands the call over to somebody else. Tell the other person first.',
    target: 'Whom to hand the call to.',
  },
  do_not_call: {
    use: 'Notes that the other person does not want to be called again, says goodbye and ends the call. Use it only when they ask for that, in whatever words. Say nothing before it. Never use it because somebody is busy or wants another time.',
  },
  send_dtmf: {
    use: 'Presses keys of the phone. Use it when a voice menu asks for keys.',
    digits: 'The keys: 0 to 9, * and #. A w waits half a second.',
  },
};

/** The line to be said before a tool runs. It is told as JSON text, so that it ends where it ends. */
export const sayFirst = (line: string): string =>
  `Before you use it, say exactly this and nothing else: ${quoteData(line)}`;

/** What a tool answers that has not run. */
export const TOOL_REFUSALS: TalkTexts['refused'] = {
  unknownTool: 'There is no such tool.',
  unknownTarget: 'There is no such transfer target.',
  wrongKeys: 'Only the keys 0-9, * and # can be sent, 32 at most.',
  lineLeaves: 'Only one at a time. The line is just about to leave.',
  timedOut: 'The tool did not answer in time.',
};

/** What an HTTP tool answers that has not done its work. None says more of our network than that it failed. */
export const HTTP_TOOL = {
  tooMany: 'No more tools can be used on this call. Go on without them.',
  unknownTool: TOOL_REFUSALS.unknownTool,
  argumentsTooLong: 'The arguments are too long.',
  argumentsNoJson: 'The arguments are not JSON.',
  redirected: 'The tool pointed to another address, which is not followed.',
  unreadable: 'The tool did what was asked. Its answer is not text and cannot be read.',
  stopped: 'The tool was stopped before it answered.',
  timedOut: TOOL_REFUSALS.timedOut,
  unreachable: 'The tool could not be reached.',
  failed: 'The tool failed.',
  /** Stands for a secret of the agent that an answer held. */
  hidden: '[hidden]',
};

/** @param fault what is wrong, in words that hold nothing of the arguments */
export const wrongArguments = (fault: string): string => `The arguments are wrong: ${fault}.`;

/** @param status the HTTP status of the tool's answer */
export const errorStatus = (status: number): string => `The tool answered with an error (status ${status}).`;
