// PURE. Whether somebody asks not to be called any more, by his own words as they were written down. Phrases by language; which
// language is spoken is not asked, since a caller may change it. Only what can hardly mean anything else counts: what is said in
// other words the agent hears itself, and has a tool for. What follows is not decided here.

/** Found in a clause; what stands around it may say that it is meant otherwise. */
interface Phrase {
  says: RegExp;
  /** Right before it: then it is somebody else's, a condition, or the opposite. */
  unlessAfter?: RegExp;
}

const LETTER = String.raw`[\p{L}\p{M}\p{N}]`;
const words = (source: string) => new RegExp(`(?<!${LETTER})(?:${source})(?!${LETTER})`, 'u');
const anywhere = (source: string) => new RegExp(source, 'u');
const before = (source: string) => new RegExp(`(?<!${LETTER})(?:${source})\\s*$`, 'u');

/** English: whom not to call, and what makes an end of it. */
const ME =
  'me|us|here|this number|this phone|my (?:number|phone|house|home|cell|mobile)|our (?:number|house|home)';
const CALL = 'call|phone|ring|contact|dial|telephone';
const CALLING = 'calling|phoning|ringing|contacting|dialing|dialling|telephoning';
/** Whatever is said after these, it is meant for good. */
const FOR_GOOD =
  '(?:back )?(?:again|any ?more|ever|no more|in (?:the )?future|from now on|(?:at|on) this (?:number|phone))';
/** What may follow without a word of that: anything else says when, how or what as. */
const NOTHING_MORE = '(?: (?:back|please|at all|thank you|thanks|okay|ok|all right|alright|got it))*$';
const END = `(?: ${FOR_GOOD}|${NOTHING_MORE})`;
const LIST =
  '(?:call(?:ing)? |phone |contact |marketing |sales |telemarketing |dial(?:ing|ling)? |mailing )*(?:list|lists|database|system|records)';
const MINE = '(?:me|us|my (?:name|number|phone number)|our number|this number)(?: please| right)?';
const NOT = "(?:do not|don't|dont|never)";
const ENGLISH_ELSE = before(
  "(?:(?:not|never|did ?n't|does ?n't|did not) (?:say|saying|said|mean|meaning|asking|ask|tell|telling)(?: (?:you|to|that))*|(?:he|she|they|who|nobody) (?:said|says|told me|told us|tells me)(?: to)?|if|unless|when|why|because|(?:if |when |why )?(?:you|they|we|i|he|she|people|you (?:guys|all|folks))|(?:my|our|his|her|their)(?: [^ ]+)? (?:[^ ]*[^s ]s|family|children|staff))",
);
const NOT_STOP = before(
  "(?:do not|don't|dont|never|not|no need|need not|needn't|won't|will not|would ?n't|did ?n't|did not|can ?not|can't)(?: (?:want|ask|need|have|tell|say|saying|to|you|them|me|that|ever|just|please|i|said))*",
);

/** What is asked about, or told of others. */
const ASKED =
  '(?:(?:why|when|how come) )?(?:did|have|has|had) (?:you|they|he|she|we|i|it|somebody|someone)|why (?:would|should|do) (?:you|they|he|she|we|i)|(?:they|he|she)(?: (?:will|would|did|do|can|could|all|just|finally))*';
const NOT_ASKED = before(`(?:${ASKED})(?: (?:ever|just|already|really|not))*`);
const NOT_SO = new RegExp(`${NOT_STOP.source}|${NOT_ASKED.source}`, 'u');

const ENGLISH: readonly Phrase[] = [
  {
    says: words(`${NOT} (?:ever |you ever |you dare )?(?:${CALL}) (?:${ME})${END}`),
    unlessAfter: ENGLISH_ELSE,
  },
  { says: words("never call again|(?:do not|don't|dont) call again"), unlessAfter: ENGLISH_ELSE },
  {
    says: words(`not (?:to )?(?:ever )?(?:${CALL}) (?:${ME}) ${FOR_GOOD}`),
    unlessAfter: before(
      '(?:did|do|does|have|has|had|would|will|could|why|if)(?: (?:you|they|he|she|we|i))?|(?:you|they|he|she|we|i) (?:did|do|would|will|could)',
    ),
  },
  { says: words(`(?:stop|quit) (?:${CALLING}) (?:${ME})${END}`), unlessAfter: NOT_SO },
  { says: words(`(?:stop|quit) calling(?: please| already| now)*$`), unlessAfter: NOT_SO },
  {
    says: words(
      `(?:take|remove|delete|get|strike|drop) ${MINE} (?:off|from|out of)(?: of)? (?:your|all your|any of your) ${LIST}`,
    ),
    unlessAfter: NOT_SO,
  },
  {
    says: words(
      `(?:take|remove|delete|get|strike|drop) ${MINE} (?:off|from|out of)(?: of)? (?:the|this|that) (?:call(?:ing)?|phone|contact|marketing|sales|telemarketing|dial(?:ing|ling)?) (?:list|lists|database)`,
    ),
    unlessAfter: NOT_SO,
  },
  {
    says: words(
      `(?:put|add|place) ${MINE} (?:on|to|onto) (?:your|the|a|that) do not call (?:list|registry|register)`,
    ),
    unlessAfter: NOT_SO,
  },
  {
    says: words(
      `(?:i|we) ${NOT} (?:ever )?want (?:you|you people|you guys|anyone|anybody|your company|any of you) to (?:ever )?(?:${CALL}) (?:${ME})${END}`,
    ),
  },
  {
    says: words(
      `(?:i|we) ${NOT} (?:ever )?want (?:to be (?:called|contacted|phoned)|to (?:get|receive) (?:any )?(?:more )?calls|any (?:more )?calls|your calls|(?:any )?more calls)(?: ${FOR_GOOD}| from you(?: people| guys)?|$)`,
    ),
  },
  { says: words('(?:lose my number|forget my number|opt me out)'), unlessAfter: NOT_SO },
  {
    says: words(
      'no more calls(?! (?:today|tonight|tomorrow|this|before|after|until|till|for (?:now|today|the)|to (?:make|do|take)))',
    ),
    unlessAfter: before('(?:have|has|had|got|get|gets|getting|are|were|be|is|was|made|make|makes)'),
  },
  {
    says: words(
      "(?:i|we)(?:'d like| would like| want| wish) to opt out(?: of (?:your|these|all|any) calls|$)",
    ),
    unlessAfter: NOT_SO,
  },
];

const only = (...sources: string[]): Phrase[] => sources.map((source) => ({ says: words(source) }));
const unless = (after: string, ...sources: string[]): Phrase[] =>
  sources.map((source) => ({ says: words(source), unlessAfter: before(after) }));

const PHRASES: readonly Phrase[] = [
  ...ENGLISH,
  // German
  ...unless(
    '(?:warum|wieso|weshalb|wann|wenn|er|niemand|keiner|(?:mein|unser|sein|ihr)[^ ]* [^ ]+)',
    'ruf(?:en sie|t)? (?:mich|uns|hier|diese nummer|unter dieser nummer)(?: bitte| hier| unter dieser nummer)* (?:nie wieder|nicht mehr|nicht wieder|nie mehr|nicht noch (?:ein)?mal)(?: an)?',
  ),
  ...unless(
    '(?:kommen|kommt|kamen|kam|habe|haben|hab|hatte|hatten|bekomme|bekommen|bekam|erhalte|erhalten|gibt es|gab es|da)',
    '(?:bitte )?keine (?:weiteren )?anrufe mehr(?! (?:bekommen|erhalten|gekommen|gehabt|an|rein|ein|heute|vor|nach|bis|um))',
  ),
  ...only(
    '(?:möchte|möchten|will|wollen)(?: ich| wir| von ihnen| bitte)* keine (?:weiteren )?anrufe mehr',
    '(?:ich |wir )?(?:möchte|möchten|will|wollen)(?: ich| wir| von ihnen| bitte)* (?:nicht mehr|nie wieder|nie mehr)(?: von ihnen| hier)* (?:angerufen|kontaktiert) werden',
    '(?:streichen|löschen|nehmen|entfernen) sie (?:mich|uns|meine nummer|diese nummer)(?: bitte)? (?:von|aus) (?:ihrer|ihren) (?:anruf|telefon|kontakt)?(?:liste|listen|datenbank|kartei|verteiler)',
  ),
  ...unless('nicht', 'hör(?:en sie|t)? (?:bitte |endlich )*auf(?: bitte)?(?: mich| uns| hier)* anzurufen'),
  // Spanish: "más" is "later" before "tarde"; so in the two that follow.
  ...only(
    'no (?:me|nos) (?:vuelva|vuelvas|vuelvan) a (?:llamar|contactar|molestar)',
    'no vuelva[ns]? a llamar(?:me|nos)?',
    'no (?:me|nos) (?:llame|llames|llamen|contacte|contacten) (?:más|nunca|otra vez|nunca más|de nuevo)(?! (?:tarde|temprano|pronto|de|que|a|hoy|mañana|esta|antes|hasta|tan))',
    'no quiero que (?:me|nos) (?:vuelva|vuelvas|vuelvan) a llamar|(?:no quiero que (?:me|nos) (?:llame|llamen|llames) más|no quiero (?:recibir )?más llamadas)(?! (?:tarde|temprano|pronto|de|que|a|hoy|mañana|esta|antes|hasta|tan))',
    '(?:quíte|quíten|sáque|sáquen|bórre|bórren|elimíne|elimínen|quita|quite|saque|borre|elimine|táche)(?:me|nos) de (?:su|sus|tu) (?:lista|listas|base)',
  ),
  ...unless('no', '(?:deje|deja|dejen|para|pare|paren) de llamar(?:me|nos)(?: ya| por favor)?'),
  // French: "plus" is "later" before "tard".
  ...unless(
    'je|tu|vous|il|elle|on|ils|elles',
    "(?:ne )?(?:me |m'|nous )(?:rappelez|rappelle|appelez|appelle|recontactez|contactez|téléphonez) (?:plus jamais|plus|jamais)(?! tard| tôt| souvent| vite| tot)",
  ),
  ...only(
    "(?:arrêtez|arrête|cessez|cesse) de (?:m'appeler|me rappeler|me téléphoner|me contacter|nous appeler)",
    '(?:retirez|enlevez|supprimez|rayez|effacez)[- ](?:moi|nous|mon numéro|ce numéro) de (?:votre|vos) (?:liste|listes|fichier|fichiers|base)',
    "je ne (?:veux|souhaite) plus (?:être (?:appelée?|contactée?|rappelée?)|que vous (?:m'appeliez|me rappeliez|me contactiez)|recevoir (?:de |d'|vos )?appels)",
  ),
  // Italian
  ...only(
    'non (?:mi|ci) (?:chiami|chiamate|chiamare|richiami|richiamate|richiamare|contatti|contattate|contattare|telefoni|telefonate) (?:più|mai più|di nuovo)(?! (?:tardi|presto|di|che|oggi|domani|prima|fino|alle))',
    'non voglio più (?:essere (?:chiamat[oa]|contattat[oa])|ricevere (?:chiamate|telefonate)|che mi chiami(?:ate)?)',
    '(?:mi tolga|toglietemi|mi cancelli|cancellatemi|mi rimuova|rimuovetemi|(?:tolga|togliete|cancelli|cancellate|rimuova) (?:il mio|questo) numero) (?:dalla|dalle|dal) (?:vostra|vostre|vostro|sua) (?:lista|liste|elenco|archivio)',
  ),
  ...unless(
    'non',
    '(?:smetta|smetti|smettete|smettetela|smettila|la smetta|finitela) di (?:chiamarmi|chiamarci|telefonarmi)',
  ),
  // Portuguese
  ...only(
    'não (?:me|nos) (?:ligue|liguem|ligues|telefone|telefonem|contacte|contate|contatem) (?:mais|nunca mais|de novo|outra vez|novamente)(?! (?:tarde|cedo|de|do|que|hoje|amanhã|antes|até))',
    'não (?:volte|voltem|voltes) a (?:me )?(?:ligar|telefonar)(?:[- ]me)?',
    'não quero (?:mais (?:receber (?:ligações|chamadas)|que me liguem)|receber mais (?:ligações|chamadas)|que me liguem mais)',
    '(?:tire|tirem|retire|retirem|remova|removam|apague|apaguem)(?:[- ]me| (?:o )?meu número| este número) (?:da|das) (?:sua|suas|vossa) listas?',
  ),
  ...unless('não', '(?:pare|parem|deixe|deixem) de (?:me |nos )ligar'),
  // Dutch
  ...only(
    'bel(?:t u|len jullie|t)? (?:mij|me|ons|hier|dit nummer)(?: alstublieft| alsjeblieft| hier)* (?:niet meer|nooit meer|niet weer|nooit weer)(?! (?:vandaag|vanavond|morgen|voor|na|tot|zo))',
    '(?:wil|willen)(?: ik| wij| we| door u| door jullie)* niet meer (?:gebeld|benaderd|opgebeld) worden',
    '(?:haal|haalt u|verwijder|schrap) (?:mij|me|ons|mijn nummer|dit nummer)(?: alstublieft| alsjeblieft)* (?:van|uit) (?:uw|jullie|je) (?:bel|contact)?(?:lijst|lijsten|bestand|systeem|database)',
  ),
  ...unless('niet', '(?:stop|houd op|hou op) met (?:mij |me |ons )(?:te )?bellen'),
  // Polish
  ...only(
    '(?:proszę )?(?:więcej|już|nigdy więcej|nigdy) (?:do mnie |do nas |tu )?nie (?:dzwonić|dzwoń|dzwońcie)',
    '(?:proszę )?(?:do mnie |do nas )?(?:nie dzwonić|nie dzwoń|nie dzwońcie)(?: do mnie| do nas| tu| pod ten numer)* (?:więcej|już|nigdy)',
    '(?:proszę )?(?:usunąć|wykreślić|skreślić|usuńcie|wykreślcie) (?:mnie|mój numer|ten numer) z (?:waszej|państwa|swojej) (?:listy|bazy)',
  ),
  ...unless('nie', '(?:przestań|przestańcie|proszę przestać) do (?:mnie|nas) dzwonić'),
  // Russian
  ...unless(
    '(?:почему|зачем|если|когда|они)(?: (?:вы|они|мне|нам))*',
    'не звоните (?:мне |нам |сюда |на этот номер )*(?:больше|никогда)',
    '(?:больше|никогда)(?: больше)? (?:мне |нам |сюда |на этот номер )*не звоните',
    '(?:удалите|уберите|вычеркните|исключите) (?:меня|мой номер|этот номер) из (?:вашего |вашей |своего |своей )?(?:списка|базы)',
    'не (?:хочу|желаю) чтобы (?:вы )?(?:мне |сюда )?больше (?:мне |сюда )?звонили',
  ),
  ...unless('не', '(?:перестаньте|прекратите|хватит) (?:мне|нам|сюда) звонить'),
  // Turkish
  ...only(
    '(?:beni|bizi|bu numarayı|burayı)(?: lütfen)? (?:bir daha|artık)(?: lütfen)? arama(?:yın|yınız)',
    '(?:bir daha|artık)(?: lütfen)? (?:beni|bizi|bu numarayı|burayı)(?: lütfen)? arama(?:yın|yınız)',
    '(?:beni|bizi) aramayı (?:bırakın|kesin)',
    '(?:beni|bizi|numaramı|bu numarayı)(?: lütfen)? (?:listenizden|kayıtlarınızdan) (?:çıkarın|silin)',
  ),
  // Arabic
  ...only(
    'لا (?:تتصل|تتصلوا|تتصلي|تتصلون)(?: بي| بنا| بهذا الرقم| علي)? (?:مرة أخرى|مجددا|ثانية|بعد الآن|أبدا|مرة ثانية)',
    '(?:توقف|توقفوا|كف|كفوا) عن الاتصال (?:بي|بنا|بهذا الرقم)',
    '(?:احذفوا|احذف|أزيلوا|أزل|امسحوا) (?:رقمي|اسمي|هذا الرقم) من (?:قائمتكم|القائمة|قوائمكم)',
  ),
  // Hindi
  ...only(
    '(?:मुझे|हमें|इस नंबर पर) (?:दोबारा|फिर से|फिर|आगे से|कभी|अब) (?:कभी )?(?:कॉल|फोन) (?:मत|न|ना) (?:करना|करिए|कीजिए|करें|करो|कीजिएगा|करिएगा)',
    '(?:दोबारा|फिर से|फिर|आगे से|कभी) (?:मुझे|हमें|इस नंबर पर|यहां) (?:कॉल|फोन) (?:मत|न|ना) (?:करना|करिए|कीजिए|करें|करो|कीजिएगा|करिएगा)',
    '(?:मुझे|हमें) (?:कॉल|फोन) करना बंद (?:करो|करें|कीजिए|करिए|कर दो|कर दीजिए)',
    '(?:मेरा|हमारा) (?:नंबर|नाम) (?:अपनी|आपकी) (?:लिस्ट|सूची) से (?:हटा|निकाल)',
  ),
  // Japanese, Korean, Chinese: their words have no blanks between them, or take others' to their ends.
  ...[
    '(?:もう|二度と|今後)[^。]{0,10}(?:電話|連絡)(?:を|は)?(?:して|かけて)?(?:こ|しない|かけな|来)?ないで',
    '(?:もう|二度と|今後)[^。]{0,10}(?:電話|連絡)(?:を|は)?(?:しないで|かけないで|かけてこないで|してこないで|やめて)',
    '(?:リスト|名簿)から(?:私|番号|名前)?(?:を)?(?:外して|削除して|消して)(?:ください)',
    '(?:다시는|더 ?이상|앞으로|이제)[^.]{0,10}(?:전화|연락)(?:를|을|는)? ?(?:하지|걸지|주지) ?(?:마|말아)',
    '전화(?:를|좀)? ?그만 ?(?:하세요|해 ?주세요|거세요|걸어)',
    '(?:명단|목록|리스트)에서 (?:저를 |제 번호를 )?(?:빼|삭제해|지워) ?주세요',
    '(?:不要|别|請別|請不要)再(?:给我|給我|给我们|給我們|往这里|往這裡)?(?:打电话|打電話|打来|打來|打过来|打過來|来电|來電|联系我|聯繫我|联系我们|騷擾)',
    '(?:把我|把我的号码|把我的電話|将我|將我)[^。]{0,4}(?:从|從)(?:你们|您|你們|贵公司|貴公司)[^。]{0,8}(?:名单|列表|名單)[^。]{0,3}(?:删除|刪除|去掉|移除|拿掉)',
    '(?:停止|别|別)再?(?:给我|給我)打(?:电话|電話)(?:了)',
  ].map((source) => ({ says: anywhere(source) })),
];

/** Who says so right after it wants to be the one who calls. */
const CALLS_HIMSELF = words("(?:i'll|i will|we'll|we will|let me) (?:call|phone|ring|contact|get back)");
const CLAUSE = /[.!?;:,…\n]+|\s[-–—]+\s|[。！？、，；]/u;
/** Signs that are written or left out. */
const UNWRITTEN = /[¿¡"“”«»„]|[\u064b-\u065f\u0640]|\p{Cf}/gu;

/** Whether these words of somebody's turn ask that he is not called again. */
export function asksNotToBeCalled(text: string): boolean {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘ʼ′＇`´]/g, "'")
    .replace(UNWRITTEN, '')
    .replace(/\u093c/gu, '')
    .replace(/do-not-call/g, 'do not call')
    .replace(/\bauf, (?=mich|uns)/g, 'auf ');
  const clauses = plain.split(CLAUSE).map((clause) => clause.replace(/\s+/g, ' ').trim());
  return clauses.some(
    (clause, at) => clause !== '' && saysIt(clause) && !CALLS_HIMSELF.test(clauses[at + 1] ?? ''),
  );
}

function saysIt(clause: string): boolean {
  return PHRASES.some(({ says, unlessAfter }) => {
    const found = says.exec(clause);
    return found !== null && unlessAfter?.test(clause.slice(0, found.index)) !== true;
  });
}
