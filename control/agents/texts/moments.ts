// What an agent is told at the moments of a call, and what is said in its place. PURE. Their tone: system-prompt.ts.
import type { LineTexts, SessionTexts, TalkTexts } from '../../../bridge/protocol/agent-texts.ts';
import { TOOL_REFUSALS } from './tools.ts';

const GREETING = {
  inbound:
    'You have just picked up the phone. Greet the other person in one sentence. Ask how you can help. Then stop and listen.',
  outbound:
    'The other person has just picked up. Greet them. Say who you are. Say in one sentence why you call. Then stop and listen.',
};

/** What a media thread tells the agent of a call in this direction. */
export function talkTexts(direction: 'inbound' | 'outbound'): TalkTexts {
  return {
    greeting: GREETING[direction],
    idle: [
      'The other person has been silent. Ask in a few words whether they are still there.',
      'The other person is still silent. Ask once more, in a few words, whether they can hear you.',
      'Nobody answers any more. Say goodbye in one short sentence. Then use the end_call tool.',
    ],
    voicemail:
      'You have reached a voicemail, and it is recording now. Leave one short message without a pause. Say who calls and why. Say how to call back, if you know it. Ask no questions. Say goodbye and stop.',
    moment: 'Say exactly this in the language of the conversation, and nothing else: "One moment, please."',
    cutShort:
      'The other person spoke over you. Of what you said last they heard only this: "{heard}" The rest was not said.',
    cutUnheard: 'The other person spoke over you. They heard nothing of what you said last. It was not said.',
    sayExactly: 'Say exactly this, and nothing else: "{line}"',
    keysPressed: '(The other person pressed these keys on the phone: {keys})',
    keysNote: 'The caller pressed {keys}.',
    apology: 'I am sorry, we have a technical problem. Please try again later. Goodbye.',
    refused: TOOL_REFUSALS,
  };
}

/** What the model's session tells by itself. */
export const SESSION_TEXTS: SessionTexts = {
  resumed:
    'The connection was interrupted for a moment. The conversation so far is above. Go on from there. Do not greet again. Do not repeat what was already said.',
  unintelligible: '[the other person spoke; the words could not be made out]',
};

/** What the control side tells an agent during a call. */
export const LINE_TEXTS: LineTexts = {
  closing: 'I am sorry, I have to end this call now. Please call again later. Goodbye.',
  refused: 'The carrier refused. It cannot be done on this call.',
  notPossible: {
    digits: 'No keys can be pressed on this call. It has no phone line.',
    transfer: 'This call cannot be transferred to a number. It has no phone line.',
  },
  transferFailed: {
    busy: 'The transfer did not come about: the line was busy.',
    no_answer: 'The transfer did not come about: nobody answered.',
    failed: 'The transfer did not come about: the number could not be reached.',
    unknown: 'The transfer did not come about.',
  },
};
