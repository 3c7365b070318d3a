// Short words that somebody says while the agent speaks, by language: those that mean "go on", and those that mean "stop". PURE.
// Written as they are heard; how they are compared: bridge/turns/word-meaning.ts. Whatever is in neither list stops the agent.
import type { ShortWords } from '../../../bridge/protocol/agent-texts.ts';

const listed = (text: string): string[] => text.split(',').map((phrase) => phrase.trim());

/** Sounds that mean the same wherever they are made, as transcriptions write them. */
const EVERYWHERE = listed(
  'm, mm, mhm, mhmm, m hm, mm hm, mm hmm, hm, hmm, uh huh, ah, aha, ah ha, oh, uh, um, eh, ok, o k, okay',
);

interface Lists {
  assents: readonly string[];
  stops: readonly string[];
}

/** By language, without its region. */
export const SHORT_WORDS: Readonly<Record<string, Lists>> = {
  ar: {
    assents: listed(
      'نعم, أيوه, أيوا, اه, آه, أجل, طيب, تمام, حسنا, صحيح, صح, بالضبط, مفهوم, فهمت, أكيد, طبعا, بالطبع, ماشي, أوكي, ممتاز, جيد, جميل, عظيم, كويس, حاضر, شكرا, شكرا لك, شكرا جزيلا, لا مشكلة, مافيش مشكلة, إن شاء الله',
    ),
    stops: listed(
      'لا, كلا, قف, توقف, توقفي, وقف, استنى, استني, انتظر, انتظري, لحظة, لحظه, ثانية, دقيقة, عفوا, معذرة, لو سمحت, آسف, كفى, كفاية, بس, خلاص, اسكت, خطأ, غلط, مهلا, ببطء, ماذا, الو',
    ),
  },
  de: {
    assents: listed(
      'ja, jaja, jo, joa, jep, jawohl, genau, ganz genau, richtig, stimmt, das stimmt, klar, ist klar, alles klar, na klar, gut, sehr gut, ist gut, schön, verstehe, ich verstehe, verstanden, ach so, achso, ach ja, na ja, eben, natürlich, sicher, super, prima, toll, gerne, passt, in ordnung, weiß ich, danke, vielen dank, kein problem, oh ja, oh gut, ja bitte, ja gerne',
    ),
    stops: listed(
      'stopp, stop, halt, nein, nee, nö, moment, moment mal, einen moment, warten sie, warte, warte mal, warten, sekunde, entschuldigung, entschuldigen sie, verzeihung, falsch, stimmt nicht, das stimmt nicht, nicht, langsam, langsamer, aufhören, hören sie auf, hör auf, ruhe, genug, reicht, das reicht, wie bitte, was, hallo',
    ),
  },
  en: {
    assents: listed(
      'yes, yes please, yes sir, yes maam, yes madam, okay sir, please do, yeah, yea, yep, yup, ya, yah, right, thats right, all right, alright, sure, sure thing, of course, i see, got it, i got it, gotcha, i know, i understand, understood, exactly, correct, thats correct, true, thats true, fine, thats fine, good, thats good, very good, great, thats great, perfect, nice, cool, wonderful, excellent, absolutely, definitely, indeed, totally, makes sense, fair enough, sounds good, go on, go ahead, no problem, no worries, thank you, thanks, thank you very much, thanks a lot, really, wow, interesting, huh, ha, haha, very well',
    ),
    stops: listed(
      'stop, stop it, no, nope, nah, uh uh, wait, wait a minute, wait a second, hold on, hang on, one moment, one second, just a moment, just a second, excuse me, sorry, pardon, hey, hello, quiet, be quiet, shut up, enough, thats enough, never mind, cancel, wrong, thats wrong, not right, thats not right, incorrect, not, dont, slow down, slower, repeat, say again, come again, what, operator, agent',
    ),
  },
  es: {
    assents: listed(
      'sí, sí señor, sí señora, sí por favor, claro, claro que sí, vale, bueno, ya, ya veo, ajá, exacto, exactamente, correcto, eso, eso es, así es, de acuerdo, entiendo, entendido, comprendo, perfecto, muy bien, bien, está bien, por supuesto, desde luego, genial, estupendo, dale, okey, venga, cierto, es verdad, verdad, ah sí, gracias, muchas gracias, sin problema, no hay problema, no pasa nada',
    ),
    stops: listed(
      'no, que no, para, pare, basta, alto, espera, espere, un momento, un momentito, un segundo, momento, perdón, perdona, perdone, disculpe, disculpa, oiga, oye, calla, cállese, silencio, incorrecto, mal, repita, más despacio, despacio, cómo, qué, stop',
    ),
  },
  fr: {
    assents: listed(
      "oui, oui monsieur, oui madame, oui s'il vous plaît, ouais, d'accord, bien, très bien, c'est bien, bien sûr, bien entendu, voilà, exact, exactement, tout à fait, je vois, je comprends, compris, entendu, parfait, super, génial, effectivement, en effet, absolument, certes, ah oui, ça marche, c'est ça, c'est vrai, c'est bon, vrai, bon, merci, merci beaucoup, merci bien, pas de problème, pas de souci, je sais",
    ),
    stops: listed(
      'non, stop, arrête, arrêtez, attends, attendez, un instant, un moment, une seconde, une minute, minute, pardon, excusez-moi, excuse-moi, écoutez, écoute, doucement, moins vite, silence, taisez-vous, tais-toi, ça suffit, assez, faux, c’est faux, incorrect, répétez, quoi, comment, pas, allô',
    ),
  },
  hi: {
    assents: listed(
      'हाँ, जी, जी सर, जी मैडम, यस सर, जी हाँ, हाँ जी, अच्छा, ठीक, ठीक है, सही, सही है, बिल्कुल, बिलकुल, समझ गया, समझ गयी, समझ गई, समझा, हम्म, हूँ, ओके, ओह, ज़रूर, बढ़िया, बहुत अच्छा, पता है, धन्यवाद, शुक्रिया, कोई बात नहीं, haan, ji, accha, acha, theek hai, thik hai, sahi',
    ),
    stops: listed(
      'नहीं, ना, न, रुको, रुकिए, रुकिये, रुकें, रुक जाइए, ठहरो, ठहरिए, एक मिनट, एक सेकंड, सुनो, सुनिए, सुनिये, माफ़ कीजिए, बस, बंद करो, बंद कीजिए, चुप, गलत, धीरे, फिर से, क्या, हैलो, nahi, nahin, ruko, rukiye',
    ),
  },
  it: {
    assents: listed(
      "sì, sì signore, sì signora, sì prego, sì per favore, certo, certamente, esatto, esattamente, giusto, va bene, vabbè, bene, benissimo, molto bene, capisco, ho capito, capito, d'accordo, ovvio, ovviamente, perfetto, ottimo, appunto, infatti, ecco, chiaro, già, eh sì, ah sì, eh già, vero, è vero, assolutamente, lo so, grazie, grazie mille, nessun problema, non c'è problema",
    ),
    stops: listed(
      'no, fermo, ferma, fermi, si fermi, fermati, basta, stop, alt, aspetta, aspetti, aspettate, attenda, un attimo, attimo, un momento, momento, un secondo, scusi, scusa, mi scusi, senta, senti, silenzio, zitto, zitta, sbagliato, piano, più piano, ripeta, come, cosa, non, pronto',
    ),
  },
  ja: {
    assents: listed(
      'はい, はいお願いします, お願いします, ええ, うん, そう, そうです, そうですね, そうですか, そうか, なるほど, なるほどね, わかりました, 分かりました, わかった, 分かった, 了解, 了解です, 承知しました, オーケー, オッケー, ほう, へえ, へー, あ, ああ, あー, おお, もちろん, たしかに, 確かに, いいですね, いいですよ, 大丈夫, 大丈夫です, ありがとう, ありがとうございます, どうも, ん, んー, うーん, ふん, ふむ, ね',
    ),
    stops: listed(
      'いいえ, いや, いえ, 違う, 違います, ちがう, ちがいます, 待って, 待ってください, ちょっと待って, ちょっと待ってください, まって, ちょっと, 止めて, やめて, やめてください, 止まって, ストップ, すみません, すいません, ごめんなさい, もういい, 結構です, 静かに, もう一度, え, 何, なに, もしもし, ゆっくり',
    ),
  },
  ko: {
    assents: listed(
      '네, 네네, 넵, 넵넵, 넹, 예, 예예, 옙, 응, 어, 그래, 그래요, 그렇죠, 그렇군요, 그렇구나, 그럼요, 맞아, 맞아요, 맞습니다, 알겠습니다, 알겠어요, 알았어, 알았어요, 좋아요, 좋습니다, 물론, 물론이죠, 오케이, 아, 아하, 음, 흠, 으음, 괜찮아요, 괜찮습니다, 감사합니다, 고맙습니다',
    ),
    stops: listed(
      '아니, 아니요, 아뇨, 아닙니다, 잠깐, 잠깐만, 잠깐만요, 잠시만, 잠시만요, 기다려, 기다려요, 기다려 주세요, 기다리세요, 멈춰, 멈추세요, 멈춰 주세요, 그만, 그만해, 그만하세요, 스톱, 저기, 저기요, 죄송한데요, 실례합니다, 조용히, 틀려요, 틀렸어요, 천천히, 다시, 뭐, 뭐라고요, 여보세요',
    ),
  },
  nl: {
    assents: listed(
      'ja, jaja, ja graag, ja alstublieft, ja meneer, ja mevrouw, jawel, jep, yep, juist, klopt, dat klopt, precies, oké, goed, heel goed, is goed, prima, natuurlijk, zeker, uiteraard, snap ik, ik snap het, begrijp ik, ik begrijp het, begrepen, duidelijk, mooi, top, fijn, inderdaad, oh ja, ach zo, weet ik, graag, bedankt, dank u, dank je, dank u wel, dank je wel, geen probleem',
    ),
    stops: listed(
      'nee, stop, ho, wacht, wacht even, wachten, moment, een moment, ogenblik, een ogenblik, even wachten, seconde, sorry, pardon, excuseer, hou op, houd op, genoeg, stil, niet, klopt niet, dat klopt niet, fout, onjuist, langzaam, langzamer, rustig, nogmaals, wat, hallo, luister',
    ),
  },
  pl: {
    assents: listed(
      'tak, tak proszę, tak jest, no, no tak, dobrze, dobra, okej, jasne, oczywiście, rozumiem, zgadza się, dokładnie, właśnie, no właśnie, pewnie, w porządku, super, świetnie, racja, prawda, wiem, fakt, dziękuję, dzięki, dziękuję bardzo, nie ma problemu, nie ma sprawy',
    ),
    stops: listed(
      'nie, stop, stój, przestań, proszę przestać, dość, dosyć, wystarczy, czekaj, zaczekaj, poczekaj, proszę czekać, proszę poczekać, proszę zaczekać, chwila, chwileczkę, chwilkę, moment, momencik, sekundę, przepraszam, cisza, cicho, źle, błędnie, wolniej, powoli, proszę powtórzyć, co, halo',
    ),
  },
  pt: {
    assents: listed(
      'sim, sim senhor, sim senhora, sim por favor, claro, certo, isso, isso mesmo, exato, exatamente, correto, tá, tá bom, tá bem, tá certo, está bem, está bom, bom, bem, muito bem, entendo, entendi, percebo, compreendo, perfeito, ótimo, beleza, pois, pois é, pois sim, com certeza, de acordo, verdade, é verdade, ah sim, sei, legal, combinado, uhum, aham, obrigado, obrigada, muito obrigado, muito obrigada, sem problema, não tem problema, não há problema',
    ),
    stops: listed(
      'não, pare, para, chega, alto, espera, espere, aguarde, um momento, um momentinho, um segundo, um minuto, momento, desculpa, desculpe, com licença, licença, olhe, escuta, escute, calma, silêncio, errado, incorreto, devagar, repita, como, o quê, alô, stop',
    ),
  },
  ru: {
    assents: listed(
      'да, да пожалуйста, ага, угу, м, мм, мгм, хм, хмм, э, эм, ну, ну да, так, понятно, понял, поняла, хорошо, ладно, ясно, конечно, точно, верно, правильно, именно, отлично, прекрасно, замечательно, согласен, согласна, окей, да да, вот как, знаю, спасибо, большое спасибо, не проблема, нет проблем, ничего страшного',
    ),
    stops: listed(
      'нет, не, стоп, стой, стойте, хватит, достаточно, подождите, подожди, погодите, погоди, постойте, минуту, минутку, одну минуту, секунду, секундочку, момент, извините, простите, тихо, тише, замолчите, неверно, неправильно, не так, медленнее, помедленнее, повторите, что, алло, послушайте, слушайте',
    ),
  },
  tr: {
    assents: listed(
      'evet, evet efendim, evet lütfen, tamam, tamamdır, olur, peki, doğru, aynen, aynen öyle, tabii, tabi, tabii ki, anladım, anlıyorum, güzel, çok güzel, iyi, çok iyi, harika, elbette, kesinlikle, oldu, he, hee, ha, hı hı, hıhı, biliyorum, teşekkürler, teşekkür ederim, sağ ol, sağ olun, sorun değil, sorun yok',
    ),
    stops: listed(
      'hayır, yok, dur, durun, bekle, bekleyin, bir dakika, dakika, bir saniye, saniye, bir an, pardon, affedersiniz, özür dilerim, yeter, sus, susun, yanlış, yavaş, tekrar, efendim, ne, alo, dinle, dinleyin, değil',
    ),
  },
  zh: {
    assents: listed(
      '对, 对啊, 对的, 是, 是的, 是啊, 是吗, 嗯, 好, 好的, 好吧, 好啊, 行, 可以, 没错, 明白, 明白了, 我明白, 知道, 知道了, 我知道, 了解, 当然, 当然了, 原来如此, 这样啊, 哦, 噢, 喔, 啊, 呃, 没问题, 不错, 谢谢, 谢谢你, 谢谢您, 没关系, 對, 對啊, 對的, 是嗎, 沒錯, 當然, 原來如此, 這樣啊, 沒問題, 謝謝, 沒關係',
    ),
    stops: listed(
      '不, 不是, 不对, 不要, 不行, 停, 停下, 停一下, 停止, 等等, 等一下, 等一等, 等会, 稍等, 且慢, 慢着, 慢点, 打断一下, 不好意思, 对不起, 够了, 别说了, 安静, 闭嘴, 错, 错了, 喂, 什么, 再说一遍, 没有, 不對, 慢點, 打斷一下, 對不起, 夠了, 別說了, 安靜, 閉嘴, 錯, 錯了, 什麼, 再說一遍, 沒有',
    ),
  },
};

/**
 * The lists of a call. Where its language is not known they are those of all languages, and what means "stop" in one of them
 * stops; in a language that has none, nothing but `more` does.
 * @param more words that stop this agent, whatever else they mean
 */
export function shortWords(language: string | null, more: readonly string[]): ShortWords {
  const base = language?.split('-')[0] ?? '';
  if (language !== null && !Object.hasOwn(SHORT_WORDS, base)) return { assents: null, stops: more };
  const lists = language === null ? Object.values(SHORT_WORDS) : [SHORT_WORDS[base] as Lists];
  return {
    assents: [...EVERYWHERE, ...lists.flatMap(({ assents }) => assents)],
    stops: [...more, ...lists.flatMap(({ stops }) => stops)],
  };
}
