// What is said before all else: that an AI calls, and for whom; that the call is recorded. And what somebody hears who asks not to be
// called again. By language, without its region: the line is said as it stands here, so nobody translates it. PURE.
import { fillIn } from '../../../bridge/protocol/agent-texts.ts';
import type { AgentDisclosure, Direction } from '../../../storage/records.ts';

/** `{organization}` stands for the name that is spoken of it. */
interface Said {
  outbound: string;
  inbound: string;
  /** Where nobody has told the organization's name. */
  nameless: string;
  recorded: string;
  optedOut: string;
}

export const DISCLOSURES: Readonly<Record<string, Said>> & { en: Said } = {
  ar: {
    outbound: 'مرحبًا، معك مساعد ذكاء اصطناعي يتصل نيابة عن {organization}.',
    inbound: 'مرحبًا، معك مساعد الذكاء الاصطناعي لدى {organization}.',
    nameless: 'مرحبًا، معك مساعد ذكاء اصطناعي.',
    recorded: 'هذه المكالمة مسجلة.',
    optedOut: 'سجلت ذلك: لن نتصل بهذا الرقم مرة أخرى. مع السلامة.',
  },
  de: {
    outbound: 'Guten Tag, hier spricht ein KI-Assistent im Auftrag von {organization}.',
    inbound: 'Guten Tag, hier spricht der KI-Assistent von {organization}.',
    nameless: 'Guten Tag, hier spricht ein KI-Assistent.',
    recorded: 'Dieses Gespräch wird aufgezeichnet.',
    optedOut: 'Das ist notiert: Wir rufen diese Nummer nicht mehr an. Auf Wiederhören.',
  },
  en: {
    outbound: 'Hello, this is an AI assistant calling for {organization}.',
    inbound: 'Hello, this is the AI assistant of {organization}.',
    nameless: 'Hello, this is an AI assistant.',
    recorded: 'This call is recorded.',
    optedOut: 'I have noted it: we will not call this number again. Goodbye.',
  },
  es: {
    outbound: 'Hola, soy un asistente de inteligencia artificial y llamo en nombre de {organization}.',
    inbound: 'Hola, soy el asistente de inteligencia artificial de {organization}.',
    nameless: 'Hola, soy un asistente de inteligencia artificial.',
    recorded: 'Esta llamada se graba.',
    optedOut: 'Tomo nota: no volveremos a llamar a este número. Adiós.',
  },
  fr: {
    outbound: "Bonjour, je suis un assistant d'intelligence artificielle et j'appelle pour {organization}.",
    inbound: "Bonjour, je suis l'assistant d'intelligence artificielle de {organization}.",
    nameless: "Bonjour, je suis un assistant d'intelligence artificielle.",
    recorded: 'Cet appel est enregistré.',
    optedOut: "C'est noté : nous ne rappellerons plus ce numéro. Au revoir.",
  },
  hi: {
    outbound: 'नमस्ते, मैं एक एआई सहायक हूँ और {organization} की ओर से कॉल कर रहा हूँ।',
    inbound: 'नमस्ते, मैं {organization} का एआई सहायक हूँ।',
    nameless: 'नमस्ते, मैं एक एआई सहायक हूँ।',
    recorded: 'यह कॉल रिकॉर्ड की जा रही है।',
    optedOut: 'यह नोट कर लिया गया है: हम इस नंबर पर फिर कॉल नहीं करेंगे। नमस्ते।',
  },
  it: {
    outbound:
      'Buongiorno, sono un assistente di intelligenza artificiale e chiamo per conto di {organization}.',
    inbound: "Buongiorno, sono l'assistente di intelligenza artificiale di {organization}.",
    nameless: 'Buongiorno, sono un assistente di intelligenza artificiale.',
    recorded: 'Questa chiamata viene registrata.',
    optedOut: 'Ne ho preso nota: non chiameremo più questo numero. Arrivederci.',
  },
  ja: {
    outbound: 'お電話失礼いたします。{organization}の代理でお電話しているAIアシスタントです。',
    inbound: 'お電話ありがとうございます。{organization}のAIアシスタントです。',
    nameless: 'こちらはAIアシスタントです。',
    recorded: 'この通話は録音されています。',
    optedOut: '承知しました。この番号には今後お電話いたしません。失礼いたします。',
  },
  ko: {
    outbound: '안녕하세요, {organization} 측을 대신해 전화드리는 AI 어시스턴트입니다.',
    inbound: '안녕하세요, {organization}의 AI 어시스턴트입니다.',
    nameless: '안녕하세요, AI 어시스턴트입니다.',
    recorded: '이 통화는 녹음됩니다.',
    optedOut: '기록했습니다. 이 번호로 다시 전화드리지 않겠습니다. 안녕히 계세요.',
  },
  nl: {
    outbound: 'Hallo, u spreekt met een AI-assistent die belt namens {organization}.',
    inbound: 'Hallo, u spreekt met de AI-assistent van {organization}.',
    nameless: 'Hallo, u spreekt met een AI-assistent.',
    recorded: 'Dit gesprek wordt opgenomen.',
    optedOut: 'Ik heb het genoteerd: we bellen dit nummer niet meer. Tot ziens.',
  },
  pl: {
    outbound: 'Dzień dobry, mówi asystent sztucznej inteligencji, dzwonię w imieniu: {organization}.',
    inbound: 'Dzień dobry, mówi asystent sztucznej inteligencji, {organization}.',
    nameless: 'Dzień dobry, mówi asystent sztucznej inteligencji.',
    recorded: 'Ta rozmowa jest nagrywana.',
    optedOut: 'Zapisane: nie będziemy więcej dzwonić pod ten numer. Do widzenia.',
  },
  pt: {
    outbound: 'Olá, sou um assistente de inteligência artificial e ligo em nome de {organization}.',
    inbound: 'Olá, sou o assistente de inteligência artificial de {organization}.',
    nameless: 'Olá, sou um assistente de inteligência artificial.',
    recorded: 'Esta chamada é gravada.',
    optedOut: 'Tomei nota: não voltaremos a ligar para este número. Até logo.',
  },
  ru: {
    outbound:
      'Здравствуйте, это помощник на основе искусственного интеллекта, я звоню от имени {organization}.',
    inbound: 'Здравствуйте, это помощник на основе искусственного интеллекта, {organization}.',
    nameless: 'Здравствуйте, это помощник на основе искусственного интеллекта.',
    recorded: 'Разговор записывается.',
    optedOut: 'Записано: мы больше не будем звонить на этот номер. До свидания.',
  },
  tr: {
    outbound: 'Merhaba, ben bir yapay zekâ asistanıyım ve {organization} adına arıyorum.',
    inbound: 'Merhaba, ben {organization} için çalışan yapay zekâ asistanıyım.',
    nameless: 'Merhaba, ben bir yapay zekâ asistanıyım.',
    recorded: 'Bu görüşme kaydedilmektedir.',
    optedOut: 'Not aldım: bu numarayı bir daha aramayacağız. Hoşça kalın.',
  },
  zh: {
    outbound: '您好，我是人工智能助理，代表{organization}给您打电话。',
    inbound: '您好，我是{organization}的人工智能助理。',
    nameless: '您好，我是人工智能助理。',
    recorded: '本次通话会被录音。',
    optedOut: '已经记下了：我们不会再拨打这个号码。再见。',
  },
};

/** In English where the language is not known, as the greeting is then, or where we have no words in it. */
function saidIn(language: string | null): Said {
  const base = language?.split('-')[0] ?? '';
  return (Object.hasOwn(DISCLOSURES, base) ? DISCLOSURES[base] : undefined) ?? DISCLOSURES.en;
}

/** What somebody hears who has asked not to be called again. @param language null: the other side's decides */
export const optedOutLine = (language: string | null): string => saidIn(language).optedOut;

/**
 * The line that is said before all else; null: none is.
 * @param o.organization the name that is spoken of it; null: nobody has told one
 * @param o.notice the call is recorded, and that is to be said
 */
export function disclosureLine(o: {
  disclosure: AgentDisclosure;
  direction: Direction;
  language: string | null;
  organization: string | null;
  notice: boolean;
}): string | null {
  const said = saidIn(o.language);
  const { mode, text } = o.disclosure;
  const parts: string[] = [];
  if (mode === 'standard')
    parts.push(
      o.organization === null ? said.nameless : fillIn(said[o.direction], { organization: o.organization }),
    );
  else if (mode === 'custom') parts.push(fillIn(text ?? '', { organization: o.organization ?? '' }).trim());
  if (o.notice) parts.push(said.recorded);
  const line = parts.filter((part) => part !== '').join(' ');
  return line === '' ? null : line;
}
