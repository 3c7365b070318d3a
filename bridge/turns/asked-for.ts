// PURE. What the agent has just asked for, by its own words as they were heard: something that is said in pieces (a number, a
// name, an address, a spelling), whose pauses are no ends. Words and phrases by language; which language is spoken is not asked,
// since a caller may change it: the lists are held against each other's sentences. How much longer is waited: end-of-turn.ts.

export type AskedFor =
  | 'spelling'
  | 'email'
  | 'birth'
  | 'postcode'
  | 'card'
  | 'phone'
  | 'number'
  | 'name'
  | 'address';

/** In this order: the first that a sentence speaks of is what it asks for. */
const KINDS: readonly AskedFor[] = [
  'spelling',
  'email',
  'birth',
  'postcode',
  'card',
  'phone',
  'number',
  'name',
  'address',
];

interface Lists extends Readonly<Record<AskedFor, string>> {
  /** A question that wants to be told something. */
  asks?: string;
  /** The same, with a question mark or without: an order, a need. */
  tells: string;
  /** Wants a yes or no, or offers something, in whatever words. */
  confirms: string;
}

interface Language {
  asks: RegExp;
  tells: RegExp;
  confirms: RegExp;
  kinds: readonly (readonly [AskedFor, RegExp])[];
  /** How long a question may be that only names what it wants: "And your name?" */
  short(sentence: string): boolean;
}

const LETTER = String.raw`[\p{L}\p{M}\p{N}]`;
const WORD = /[\p{L}\p{N}]\S*/gu;
const SHORT_WORDS = 6;
const SHORT_CHARACTERS = 16;

/** A language whose words have spaces between them: an entry is whole words. */
function spaced(lists: Lists): Language {
  const words = (source: string) => new RegExp(`(?<!${LETTER})(?:${source})(?!${LETTER})`, 'u');
  return language(lists, words, (sentence) => (sentence.match(WORD) ?? []).length <= SHORT_WORDS);
}

/** One whose words have none, or take others' letters to their ends: an entry is found anywhere. */
function joined(lists: Lists): Language {
  const anywhere = (source: string) => new RegExp(source, 'u');
  return language(lists, anywhere, (sentence) => sentence.length <= SHORT_CHARACTERS);
}

function language(lists: Lists, words: (source: string) => RegExp, short: Language['short']): Language {
  const find = (source: string) => words(source.normalize('NFC'));
  return {
    asks: find(lists.asks === undefined ? lists.tells : `${lists.asks}|${lists.tells}`),
    tells: find(lists.tells),
    // It may begin with a word that leads over, and its end is its mark.
    confirms: new RegExp(lists.confirms.normalize('NFC'), 'u'),
    kinds: KINDS.map((kind) => [kind, find(lists[kind])] as const),
    short,
  };
}

/** A yes-or-no question by its first words, after a word or two that lead over; or by its last. */
const opens = (leads: string, first: string) => `^(?:(?:${leads})[,!]? )*(?:${first})(?!${LETTER})`;
const ends = (last: string) => String.raw`(?<!${LETTER})(?:${last})\s*[?？]$`;

const ENGLISH = spaced({
  asks: 'what|which|who|whose|when|where (?:do|should|shall|can|would|is)|how (?:do|would|is|are) .*(?:spell|spelled|spelt|write|written)|(?:may|can|could|might) (?:i|we) (?:please |just |also )*(?:have|get|take|ask|note|know)|(?:can|could|would|will) you (?:please |just |also |kindly )*(?:tell|give|spell|read|say|repeat|confirm|provide|share|enter|dictate)|do you have|have you got|starting with',
  tells:
    "(?:tell|give) (?:me|us)|read (?:me|out|it)|let (?:me|us) (?:have|know)|please (?:tell|give|say|read|repeat|confirm|provide|state|share|dictate)|spell|(?:i|we)(?:'ll| will| would|'d)? (?:just |also |only )*need|go ahead with",
  confirms: `${opens(
    'and|so|okay|ok|alright|great|thanks|thank you|perfect|sure',
    "is|isn't|are|were|does|did|has|shall|should|would you like|do you want|do you still|may i (?:send|call|text|use)|can i (?:send|call|text|use)",
  )}|${ends('correct|right|okay|is that so|still')}`,
  spelling: 'spell|spelled|spelt|spelling|letter by letter',
  email: 'e-?mail(?: address)?',
  birth: 'date of birth|birth ?date|birthday|born',
  postcode: 'post ?code|postal code|zip(?: ?code)?',
  card: 'card number|(?:credit|debit) card|iban|sort code|account number|routing number|security code|cvc|cvv|expiry date',
  phone: '(?:tele)?phone number|(?:mobile|cell|callback|call-back|contact)(?: phone)? number',
  number: 'numbers?|digits?|reference|confirmation code|code|pin|(?:customer|order|member|account|policy) id',
  name: 'names?|surname|speaking (?:with|to)|is calling|is this',
  address:
    'address|street|(?:do|did) you live|(?:deliver|ship|send|post) (?:it|this|that|them)|(?:it|they|that) be (?:delivered|sent|shipped)',
});

const GERMAN = spaced({
  asks: String.raw`was|welche[rsmn]?|wie (?:ist|lautet|war|heißen|heißt|schreib\p{L}*|buchstabier\p{L}*)|wer|wann|wo wohn\p{L}+|wohin|mit wem|(?:darf|dürfte|kann|könnte) ich (?:bitte |noch |kurz |auch )*(?:ihre\p{L}*|deine\p{L}*|die|den|das|um|nach)|durchgeben|angeben|wiederholen|mitteilen|verraten|diktieren|vorlesen|bestätigen|haben sie|hast du`,
  tells: String.raw`nennen|nenn|sagen|sag|geben|gib|buchstabier\p{L}*|brauche|bräuchte|brauchen|benötige`,
  confirms: `${opens(
    'und|also|gut|okay|danke|prima|alles klar',
    'ist|sind|war|stimmt|soll|sollen|darf ich ihnen|darf ich dir|möchten sie|möchtest du|wollen sie|willst du|haben sie noch|hat sich',
  )}|${ends('richtig|korrekt|stimmt das|oder|so')}`,
  spelling: String.raw`buchstabier\p{L}*|schreibt? (?:man|sich|sie)`,
  email: String.raw`e-?mail\p{L}*(?:-adresse)?|mail-?adresse`,
  birth: 'geburts(?:datum|tag)|geboren',
  postcode: 'postleitzahl|plz',
  card: String.raw`iban|(?:\p{L}+)?kartennummer|kontonummer|prüfziffer|bankverbindung`,
  phone: '(?:telefon|handy|mobil|rückruf|ruf|festnetz)nummer',
  number: String.raw`\p{L}*nummern?|ziffern?|kennzeichen|aktenzeichen|\p{L}*code|pin`,
  name: '(?:vor|nach|familien|firmen)?name(?:n|ns)?|heißen sie|heißt du|wem (?:spreche|habe)|wer (?:spricht|ist)',
  address: String.raw`\p{L}*adresse|anschrift|straße|wohnen sie|wohnst du`,
});

const SPANISH = spaced({
  asks: String.raw`cuál(?:es)?|qué|quién|cuándo|dónde|cómo (?:se|te|lo)|(?:me|nos) (?:puede|podría|puedes|podrías|da|daría|dice|diría|indica|facilita|repite|deletrea|confirma)|(?:puede|podría|puedes|podrías) (?:darme|decirme|indicarme|facilitarme|deletrear\p{L}*|repetir\p{L}*|confirmar\p{L}*|proporcionar\p{L}*|dictar\p{L}*)|tiene(?: usted)? (?:a mano )?(?:su|el|la|un)`,
  tells: String.raw`dígame|deme|dime|dame|indíqueme|facilíteme|deletr\p{L}+|necesito|necesitaría`,
  confirms: `${opens(
    'y|entonces|vale|gracias|perfecto|bien',
    'es|son|era|está|están|sigue siendo|quiere|quieres|desea|deseas|le envío|te envío|se lo|prefiere',
  )}|${ends('correcto|verdad|no|cierto|así')}`,
  spelling: String.raw`deletre\p{L}+|letra por letra|se escribe`,
  email: 'correo(?: electrónico)?|e-?mail',
  birth: 'fecha de nacimiento|cumpleaños|nació|naciste',
  postcode: 'código postal',
  card: 'iban|número de (?:la |su |tu )?tarjeta|número de (?:la |su |tu )?cuenta',
  phone: 'teléfono|móvil|celular',
  number: 'números?|dígitos?|cifras?|código|pin|referencia|dni|nie',
  name: 'nombres?|apellidos?|se llama|te llamas|con quién hablo|quién (?:habla|llama)',
  address: 'dirección|domicilio|calle|vive|vives',
});

const FRENCH = spaced({
  asks: String.raw`quel(?:le)?s?|qui|quand|où|comment (?:vous|ça|est-ce|on|[st]'\p{L}+)|(?:pouvez|pourriez|peux|pourrais)-(?:vous|tu) (?:me |m'|nous |le |la |l'|bien |juste )*(?:donner|dire|indiquer|épeler|répéter|communiquer|confirmer|préciser|dicter)|puis-je (?:avoir|prendre|connaître)|avez-vous (?:votre|le|la|un|une)`,
  tells: '(?:donnez|dites|indiquez|donne|dis)-(?:moi|nous)|épelez|besoin|il me (?:faut|faudrait)',
  confirms: `${opens(
    "et|alors|donc|d'accord|merci|très bien|parfait",
    "est-ce (?:bien|exact|que|votre)|c'est bien|c'est toujours|voulez-vous|veux-tu|souhaitez-vous|dois-je|est-il",
  )}|${ends("correct|exact|c'est ça|c'est bien ça|n'est-ce pas|d'accord")}`,
  spelling: String.raw`épel\p{L}+|s'écrit|lettre par lettre`,
  email: 'e-?mail|mail|courriel|adresse électronique',
  birth: 'date de naissance|née?|anniversaire',
  postcode: 'code postal',
  card: 'iban|rib|numéro de (?:la |votre |ta )?carte(?: bancaire)?|numéro de (?:votre )?compte',
  phone: 'téléphone|portable',
  number: 'numéros?|chiffres?|code|référence',
  name: "noms?|prénoms?|vous appelez|t'appelles|qui ai-je",
  address: 'adresse|rue|habitez-vous|habites-tu|domicile',
});

const ITALIAN = spaced({
  asks: 'qual è|quali|qual|che|chi|quando|dove|come (?:si|ti|lo)|(?:mi|ci) (?:può|potrebbe|puoi|potresti|dà|dice|darebbe|direbbe|lascia|ripete|indica|detta|conferma)|(?:può|potrebbe|puoi|potresti) (?:darmi|dirmi|indicarmi|ripetere|ripetermi|confermare|confermarmi|dettarmi|fornirmi|fare|sillabare)|ha (?:a portata di mano )?(?:il|la|un)|posso avere',
  tells: 'mi (?:dica|dia)|dimmi|dammi|ho bisogno|mi serve|avrei bisogno',
  confirms: `${opens(
    'e|allora|bene|grazie|perfetto|va bene',
    'è|sono|era|vuole|vuoi|desidera|devo|posso (?:inviare|mandare|chiamare)|preferisce',
  )}|${ends('giusto|corretto|vero|esatto|va bene')}`,
  spelling: String.raw`spelling|sillab\p{L}+|si scrive|lettera per lettera`,
  email: 'e-?mail|posta elettronica|mail',
  birth: 'data di nascita|nat[oa]|compleanno',
  postcode: 'cap|codice (?:di avviamento )?postale',
  card: 'iban|numero (?:della |di )?(?:sua |tua )?carta|numero di conto',
  phone: 'telefono|cellulare',
  number: 'numer[oi]|cifr[ae]|codice|pin|riferimento',
  name: 'nom[ei]|cognom[ei]|si chiama|ti chiami|con chi parlo|chi parla',
  address: 'indirizzo|abita|abiti|recapito',
});

const PORTUGUESE = spaced({
  asks: 'qual|quais|que|quem|quando|onde|como (?:se|é|o|a|você)|(?:pode|poderia|podes|podia)(?:-me)? (?:me |por favor |)(?:dar|dizer|informar|soletrar|repetir|confirmar|passar|indicar|ditar|fornecer)|tem (?:consigo )?(?:o|a) (?:seu|sua)|posso (?:ter|saber)',
  tells: String.raw`me (?:diga|dê|informe|passe|fala|diz)|(?:diga|dê|indique)-me|informe|soletr\p{L}+|preciso|precisaria`,
  confirms: `${opens(
    'e|então|certo|obrigad[oa]|perfeito|bem',
    'é|são|era|está|continua|quer|queres|deseja|gostaria|devo|posso (?:enviar|mandar|ligar)|prefere',
  )}|${ends('correto|certo|certa|não é|está certo|verdade')}`,
  spelling: String.raw`soletr\p{L}+|se escreve|letra por letra`,
  email: 'e-?mail|correio eletr[óô]nico',
  birth: 'data de nascimento|nasceu|nasceste|aniversário',
  postcode: 'cep|código postal',
  card: 'iban|número d[oa] (?:seu |teu )?cartão|número da (?:sua )?conta',
  phone: 'telefone|telemóvel|celular',
  number: 'números?|dígitos?|algarismos?|código|cpf|nif|pin|protocolo|referência',
  name: 'nomes?|apelido|sobrenome|se chama|te chamas|com quem (?:eu )?(?:falo|estou)|quem fala',
  address: 'endereço|morada|rua|mora|moras',
});

const DUTCH = spaced({
  asks: 'wat|welke?|met wie|wie (?:bent|spreek)|wanneer|waar|hoe (?:heet|schrijft?|spelt?|luidt|is)|(?:mag|kan|zou) ik (?:alstublieft |even |misschien |ook )*(?:uw|je|jouw|de|het|een)|geven|zeggen|noemen|spellen|herhalen|doorgeven|bevestigen|dicteren|heeft u|heb je',
  tells: '(?:geeft?|noemt?|zegt?)(?: u| me| mij| eens| alstublieft)+|spelt?|nodig',
  confirms: `${opens(
    'en|dus|oké|goed|dank u|bedankt|prima',
    'is|zijn|klopt|zal ik|wilt u dat|wil je dat|wilt u|moet ik',
  )}|${ends('toch|juist|correct|klopt dat|klopt|goed')}`,
  spelling: 'spelt?|spellen|gespeld|letter voor letter|schrijft? (?:u|je|men)',
  email: String.raw`e-?mail\p{L}*|mailadres`,
  birth: 'geboortedatum|geboren|verjaardag',
  postcode: 'postcode',
  card: 'iban|kaartnummer|rekeningnummer',
  phone: 'telefoonnummer|mobiele nummer|mobiel nummer',
  number: String.raw`\p{L}*nummers?|cijfers?|\p{L}*code|kenmerk`,
  name: 'naam|namen|voornaam|achternaam|heet (?:u|je)|met wie|wie spreek',
  address: 'adres|straat|woont u|woon je',
});

const POLISH = spaced({
  asks: 'jak(?:i|a|ie|ą|im|iej)|kto|kiedy|gdzie|jak (?:się|pan|pani|brzmi|to|ma|masz)|(?:czy )?(?:mogę|mógłbym|mogłabym) (?:prosić|poprosić|poznać)|podać|powiedzieć|powtórzyć|potwierdzić|podyktować|z kim',
  tells: String.raw`proszę (?:podać|o|powiedzieć|przeliterować|powtórzyć|podyktować|mi)|poproszę|podaj|przeliter\p{L}+|potrzebuję|potrzebny`,
  confirms: `${opens(
    'a|i|więc|dobrze|dziękuję|świetnie',
    'czy (?:to|jest|są|chce|chciał\\p{L}*|mam|pana|pani|twój|numer|adres|nadal)',
  )}|${ends('zgadza się|prawda|tak|dobrze')}`,
  spelling: String.raw`(?:prze)?liter\p{L}+`,
  email: String.raw`e-?mail\p{L}*|adres\p{L}* mailow\p{L}+`,
  birth: String.raw`dat\p{L}+ urodzenia|urodzi\p{L}+`,
  postcode: String.raw`kod\p{L}* pocztow\p{L}+`,
  card: String.raw`iban|numer\p{L}* (?:karty|konta|rachunku)`,
  phone: String.raw`(?:numer\p{L}* )?telefon\p{L}*|komórk\p{L}+`,
  number: String.raw`numer\p{L}*|cyfr\p{L}*|kod\p{L}*|pesel|pin`,
  name: String.raw`imi\p{L}+|nazwisk\p{L}*|nazywa\p{L}*|z kim (?:mam|rozmawiam)`,
  address: String.raw`adres\p{L}*|ulic\p{L}+|mieszka\p{L}*`,
});

const TURKISH = spaced({
  asks: String.raw`nedir|ne|hangi|kim|kiminle|nerede|nereye|nasıl|(?:söyle|ver|hecele|kodla|tekrarla|paylaş|belirt|onayla)\p{L}*|tekrar ed\p{L}+|alabilir (?:miyim|miyiz)|öğrenebilir (?:miyim|miyiz)`,
  tells: String.raw`(?:söyler|verir|söyleyin|verin|heceleyin|kodlayın|tekrarlayın|belirtin)\p{L}*|rica ed\p{L}+|lazım|gerek\p{L}*|ihtiyacım`,
  confirms: ends('doğru mu|değil mi|bu mu|mı|mi|mu|mü|ister misiniz|ister misin'),
  spelling: String.raw`hecele\p{L}*|kodla\p{L}*|harf harf|yazılı\p{L}*`,
  email: String.raw`e-?posta\p{L}*|e-?mail\p{L}*|mail\p{L}*`,
  birth: String.raw`doğum (?:tarih|gün)\p{L}*|doğdu\p{L}*`,
  postcode: String.raw`posta kod\p{L}*`,
  card: String.raw`iban\p{L}*|kart numara\p{L}*|hesap numara\p{L}*`,
  phone: String.raw`telefon\p{L}*|cep numara\p{L}*`,
  number: String.raw`numara\p{L}*|rakam\p{L}*|hane\p{L}*|kod\p{L}*`,
  name: String.raw`ad|ad[ıi]n[ıi]\p{L}*|isim\p{L}*|ism\p{L}+|soyad\p{L}*|kiminle görüş\p{L}+`,
  address: String.raw`adres\p{L}*|sokak|sokağ\p{L}*|oturuyor\p{L}*`,
});

const ARABIC = joined({
  tells:
    'ما هو|ما هي|ما اسم|ما رقم|ما عنوان|ما تاريخ|ما بريد|من المتصل|من معي|مع من|متى|أين|كيف (?:تكتب|يكتب|تهج)|هل (?:يمكنك|يمكنني|تستطيع|بإمكانك|لديك|لي)|أعطن|أعطين|أخبرن|أخبرين|اذكر|تهج|أحتاج|من فضلك',
  confirms: String.raw`^[وف]?هل (?:هذا|هذه|هو|هي|تريد|ترغب|ما زال)|(?:صحيح|أليس كذلك)\s*[؟?]$`,
  spelling: 'تهج|حرفا حرفا|حرفًا حرفًا|حرف حرف|(?:تكتب|يكتب) (?:اسم|هذا)',
  email: 'بريدك? ?(?:ال)?[إا]لكتروني|البريد ال[إا]لكتروني|إيميل|ايميل',
  birth: 'ميلاد|ولدت|مولد',
  postcode: 'الرمز البريدي|رمزك البريدي',
  card: 'آيبان|ايبان|رقم (?:ال)?بطاق|بطاقتك|رقم (?:ال)?حساب|حسابك',
  phone: 'هاتف|جوال|موبايل',
  number: 'رقم|أرقام|الأرقام|رمز',
  name: 'اسم|من المتصل|مع من|من معي',
  address: 'عنوان|شارع|تسكن|سكن',
});

const HINDI = joined({
  tells:
    'क्या है|क्या हैं|कौन|कब|कहाँ|कहां|कैसे लिख|बता|दीजि|दें|दे सकते|दे सकती|चाहिए|कहिए|बोलिए|बोलें|दोहरा|मिल सकता|जान सकत',
  confirms: String.raw`^(?:और |तो )?क्या (?:यह|ये)|(?:सही|ठीक|यही) है(?: ना)?\s*[?？]$`,
  spelling: 'स्पेल|वर्तनी|हिज्जे|अक्षर',
  email: 'ईमेल|ई-मेल',
  birth: 'जन्म',
  postcode: 'पिन ?कोड',
  card: 'कार्ड (?:का )?(?:नंबर|नम्बर)|खाता (?:संख्या|नंबर)|खाते',
  phone: 'फ़ोन|फोन|मोबाइल',
  number: 'नंबर|नम्बर|संख्या|अंक|कोड',
  name: 'नाम|किससे बात',
  address: 'पता(?! (?:चल|है|नहीं|कर|लग))|पते|कहाँ रहते|कहां रहते',
});

const JAPANESE = joined({
  tells:
    '教えて|お願い|ください|いただけます|いただけません|伺|うかが|お聞かせ|何(?:です|番|でしょう)|どちら|いつ|誰|どなた|おっしゃ|必要',
  confirms:
    '(?<!ても)(?:よろしい|よろしかった|合って|間違い|正しい)(?:です|い|ます|でしょう|ありません)|お待ち|お送りし|そのまま',
  spelling: 'つづり|綴り|スペル|一文字ずつ|漢字',
  email: 'メール',
  birth: '生年月日|誕生日|お生まれ',
  postcode: '郵便番号',
  card: 'カード(?:の)?番号|口座番号',
  phone: '電話番号|携帯番号',
  number: '番号|桁|数字|コード',
  name: '名前|氏名|苗字|名字|どちら様|どなた様',
  address: '住所|お住まい',
});

const KOREAN = joined({
  tells: '알려|말씀|주세요|주시겠|주실|어떻게 되|무엇|뭐|누구|언제|어디|필요',
  confirms: '맞(?:습니까|으신가요|나요|으세요|으십니까|죠|지요)|기다려|보내 ?드릴까',
  spelling: '철자|한 글자씩|스펠링',
  email: '이메일|메일 주소',
  birth: '생년월일|생일|태어나',
  postcode: '우편번호',
  card: '카드 ?번호|계좌 ?번호',
  phone: '전화 ?번호|휴대폰|핸드폰|연락처',
  number: '번호|숫자|자리|코드',
  name: '이름|성함|성명',
  address: '주소|거주|사시는',
});

const CHINESE = joined({
  tells:
    '什么|多少|请(?:告诉|说|提供|报|念|拼|给|把)|请问|告诉我|哪|谁|能(?:不能|否)?(?:告诉|提供|说|给|报|拼)|可以(?:告诉|提供|说|给|报|拼)|需要您|需要你|怎么(?:写|拼|称呼)|贵姓|念一下|报一下',
  confirms: '(?:对吗|是吗|对不对|对吧|正确吗|没错吧|要不要)|请稍|需要我',
  spelling: '拼写|怎么写|怎么拼|拼一下|逐字',
  email: '邮箱|电子邮件|邮件地址',
  birth: '出生|生日',
  postcode: '邮编|邮政编码',
  card: '卡号|账号|账户号',
  phone: '电话号码|手机号|联系电话|电话是',
  number: '号码|编号|订单号|单号|会员号|数字|验证码',
  name: '名字|姓名|贵姓|称呼|姓什么',
  address: '地址|住在|住哪|街道',
});

const LANGUAGES: readonly Language[] = [
  ENGLISH,
  GERMAN,
  SPANISH,
  FRENCH,
  ITALIAN,
  PORTUGUESE,
  DUTCH,
  POLISH,
  TURKISH,
  ARABIC,
  HINDI,
  JAPANESE,
  KOREAN,
  CHINESE,
];

/** Asks politely without a verb: "Your name, please." */
const POLITE =
  /please|bitte|por favor|s'il vous plaît|per favore|per cortesia|alstublieft|proszę|lütfen|من فضلك|कृपया/u;
const QUESTION = /[?？؟]$/u;
/** Who reads a number back wants to know whether it is right. */
const READ_BACK = /(?:\p{N}\P{L}{0,3}){3}/u;
/** Only what was said last is answered. */
const LAST_SENTENCES = 4;
/** Longer than any answer in which more than the end matters. */
const LAST_CHARACTERS = 600;

const plain = (text: string) =>
  text
    .slice(-LAST_CHARACTERS)
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('\u0307', '')
    .replaceAll('’', "'")
    .replaceAll(/[¿¡"“”„«»]/gu, '');

function kindOf(sentence: string): AskedFor | null {
  if (READ_BACK.test(sentence)) return null;
  const isQuestion = QUESTION.test(sentence);
  // What one language wants a yes to may look like a question in another.
  if (LANGUAGES.some(({ confirms }) => confirms.test(sentence))) return null;
  const polite = POLITE.test(sentence);
  const bare = sentence.replace(POLITE, '');
  let found = KINDS.length;
  for (const { asks, tells, kinds, short } of LANGUAGES) {
    const names = (isQuestion || polite) && short(bare);
    if (!names && !(isQuestion ? asks : tells).test(sentence)) continue;
    const at = kinds.findIndex(([, words]) => words.test(sentence));
    if (at >= 0) found = Math.min(found, at);
  }
  return KINDS[found] ?? null;
}

/**
 * What the last question in the words asks for, of what is said in pieces; null where it asks for something else, for a yes or
 * no, or for nothing.
 * @param heard what the other side heard of the agent's last words
 */
export function askedFor(heard: string): AskedFor | null {
  const sentences = plain(heard)
    .split(/(?<=[?？؟!！。।])|(?<=\.)\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
  for (const sentence of sentences.slice(-LAST_SENTENCES).reverse()) {
    const kind = kindOf(sentence);
    if (kind !== null || QUESTION.test(sentence)) return kind;
  }
  return null;
}
