// What an agent is told at the moments of a call, and what is said in its place. PURE. Their tone: system-prompt.ts.
import {
  fillIn,
  type LineTexts,
  type SessionTexts,
  type SpokenLine,
  type TalkTexts,
} from '../../../bridge/protocol/agent-texts.ts';
import { optedOutLine } from './disclosure.ts';
import { TOOL_REFUSALS } from './tools.ts';

const GREETING = {
  inbound:
    'You have just picked up the phone. Greet the other person in one sentence. Ask how you can help. Then stop and listen.',
  outbound:
    'The other person has just picked up. Greet them. Say who you are. Say in one sentence why you call. Then stop and listen.',
};

const SAY_LINE = 'Say exactly this in the language of the conversation, and nothing else: "{line}"';

/** Said by a voice that translates nothing, when the model is lost: by language, without its region. */
export const APOLOGIES: Readonly<Record<string, string>> & { en: string } = {
  ar: 'نعتذر، لدينا مشكلة تقنية. يرجى المحاولة لاحقًا. مع السلامة.',
  de: 'Es tut uns leid, wir haben ein technisches Problem. Bitte versuchen Sie es später noch einmal. Auf Wiederhören.',
  en: 'I am sorry, we have a technical problem. Please try again later. Goodbye.',
  es: 'Lo sentimos, tenemos un problema técnico. Por favor, inténtelo de nuevo más tarde. Adiós.',
  fr: 'Nous sommes désolés, nous rencontrons un problème technique. Veuillez réessayer plus tard. Au revoir.',
  hi: 'क्षमा करें, हमें एक तकनीकी समस्या आ रही है। कृपया बाद में फिर कोशिश करें। नमस्ते।',
  it: 'Ci scusiamo, abbiamo un problema tecnico. La preghiamo di riprovare più tardi. Arrivederci.',
  ja: '申し訳ございません。ただいま技術的な問題が発生しています。後ほどおかけ直しください。失礼いたします。',
  ko: '죄송합니다. 기술적인 문제가 발생했습니다. 나중에 다시 걸어 주세요. 안녕히 계세요.',
  nl: 'Het spijt ons, we hebben een technisch probleem. Probeer het later opnieuw. Tot ziens.',
  pl: 'Przepraszam, mamy problem techniczny. Proszę spróbować później. Do widzenia.',
  pt: 'Desculpe, estamos com um problema técnico. Por favor, tente novamente mais tarde. Até logo.',
  tr: 'Üzgünüz, teknik bir sorun yaşıyoruz. Lütfen daha sonra tekrar deneyin. Hoşça kalın.',
  zh: '很抱歉,我们遇到了技术问题。请稍后再试。再见。',
};

/** In English where the language is not known, or we have no words in it. */
function apologyIn(language: string | null): SpokenLine {
  const base = language?.split('-')[0] ?? '';
  const text = Object.hasOwn(APOLOGIES, base) ? APOLOGIES[base] : undefined;
  return text === undefined || language === null
    ? { text: APOLOGIES.en, language: 'en' }
    : { text, language };
}

/** What a media thread tells the agent of a call in this direction. @param language of the call; null: the other side's decides */
export function talkTexts(direction: 'inbound' | 'outbound', language: string | null): TalkTexts {
  return {
    greeting: GREETING[direction],
    idle: [
      'The other person has been silent. Ask in a few words whether they are still there.',
      'The other person is still silent. Ask once more, in a few words, whether they can hear you.',
      'Nobody answers any more. Say goodbye in one short sentence. Then use the end_call tool.',
    ],
    voicemail:
      'You have reached a voicemail, and it is recording now. Leave one short message without a pause. Say who calls and why. Say how to call back, if you know it. Ask no questions. Say goodbye and stop.',
    moment: fillIn(SAY_LINE, { line: 'One moment, please.' }),
    cutOff:
      'You were cut off from the other person for a moment. Say so in one short sentence, in the language of the conversation. Then go on where you were, or answer what they said last. Do not greet again. Do not repeat what they heard.',
    unfinishedTool:
      'You had called the tool "{name}" with {arguments} when the line was cut off. Nobody knows whether it was done. Do not call it again before you have asked the other person.',
    lineBack:
      'The line was gone for a few seconds and is back. The other person heard nothing meanwhile, and you heard nothing of them. Say in one short sentence that the line was gone for a moment and that you are here again. Then stop and listen.',
    cutShort:
      'The other person spoke over you. Of what you said last they heard only this: "{heard}" The rest was not said.',
    cutUnheard: 'The other person spoke over you. They heard nothing of what you said last. It was not said.',
    brokeIn:
      'The other person has just broken in with a word or two while you spoke. You have stopped. React to it in one short sentence. Do not go on with what you were saying unless they ask for it.',
    disclose:
      'Say exactly this, word for word and as it stands, in its own language. Say nothing before it and nothing after it: "{line}"',
    sayLine: SAY_LINE,
    keysPressed: '(The other person pressed these keys on the phone: {keys})',
    keysNote: 'The caller pressed {keys}.',
    apology: apologyIn(language),
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
  optedOut: optedOutLine,
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
