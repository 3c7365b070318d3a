// What an agent's words ask for, in each language that the daemon has words of its own in, and what they do not.
import t from 'tap';
import { type AskedFor, askedFor } from '../../../bridge/turns/asked-for.ts';
import { APOLOGIES } from '../../../control/agents/texts/moments.ts';

type Table = Readonly<Record<AskedFor, readonly string[]>>;

const ASKS: Readonly<Record<string, Table>> = {
  en: {
    spelling: [
      'Could you spell that for me?',
      'How do you spell your last name?',
      'Please spell it letter by letter.',
    ],
    email: ["What's your email address?", 'Which e-mail can I send it to? Take your time.'],
    birth: ['May I have your date of birth, please?', 'And when were you born?'],
    postcode: ['And the postcode?', 'What is your ZIP code?'],
    card: ['Could you give me the last four digits of the card number?', 'Please read me your IBAN.'],
    phone: ["What's the best phone number to reach you?", 'Which mobile number should we use?'],
    number: [
      'Thanks for calling. Could I have your order number? It is the six-digit number at the top of the invoice.',
      'I just need your customer number.',
      'Do you have your reference at hand?',
      'Your policy number, please.',
      "I didn't catch that. Could you repeat the number?",
    ],
    name: [
      'Hello! Who am I speaking with?',
      'May I take your name?',
      'Under which name is the reservation?',
      'And your name?',
    ],
    address: ["What's your address?", 'Where should we deliver it?', 'Which street do you live in?'],
  },
  de: {
    spelling: ['Könnten Sie das bitte buchstabieren?', 'Wie schreibt man das?'],
    email: ['Wie lautet Ihre E-Mail-Adresse?', 'Und Ihre E-Mail?'],
    birth: ['Wann sind Sie geboren?', 'Nennen Sie mir bitte Ihr Geburtsdatum.'],
    postcode: ['Und die Postleitzahl?'],
    card: ['Wie ist Ihre IBAN?', 'Sagen Sie mir bitte Ihre Kontonummer.'],
    phone: ['Unter welcher Telefonnummer erreichen wir Sie?', 'Wie ist Ihre Handynummer?'],
    number: [
      'Wie lautet Ihre Kundennummer?',
      'Haben Sie Ihre Bestellnummer zur Hand?',
      'Ihre Auftragsnummer bitte.',
    ],
    name: ['Darf ich um Ihren Namen bitten?', 'Mit wem spreche ich?', 'Wie heißen Sie?', 'Ihr Name, bitte?'],
    address: ['Wie ist Ihre Adresse?', 'Wo wohnen Sie?'],
  },
  es: {
    spelling: ['¿Me lo puede deletrear?', '¿Cómo se escribe su apellido?'],
    email: ['¿Cuál es su correo electrónico?'],
    birth: ['¿Me dice su fecha de nacimiento?', '¿Cuándo nació usted?'],
    postcode: ['¿Y el código postal?'],
    card: ['¿Cuál es el número de su tarjeta?'],
    phone: ['¿A qué teléfono podemos llamarle?', 'Dígame su número de teléfono.'],
    number: ['¿Me puede dar su número de pedido?', '¿Tiene el número de cliente?'],
    name: ['¿Cómo se llama usted?', '¿Con quién hablo?', '¿Y su apellido?'],
    address: ['¿Cuál es su dirección?', '¿Dónde vive?'],
  },
  fr: {
    spelling: ["Pouvez-vous l'épeler, s'il vous plaît ?", "Comment ça s'écrit ?"],
    email: ['Quelle est votre adresse e-mail ?'],
    birth: ['Quelle est votre date de naissance ?', 'Quand êtes-vous né ?'],
    postcode: ['Et le code postal ?'],
    card: ['Quel est votre numéro de carte ?', 'Il me faudrait votre IBAN.'],
    phone: ['À quel numéro de téléphone puis-je vous joindre ?'],
    number: [
      'Quel est votre numéro de commande ?',
      "Votre numéro de client, s'il vous plaît ?",
      'Donnez-moi le numéro du dossier.',
    ],
    name: ['Quel est votre nom ?', 'Comment vous appelez-vous ?', 'Puis-je avoir votre prénom ?'],
    address: ['Quelle est votre adresse ?', 'Où habitez-vous ?'],
  },
  it: {
    spelling: ['Può fare lo spelling, per favore?', 'Come si scrive?'],
    email: ['Qual è la sua e-mail?'],
    birth: ['Qual è la sua data di nascita?', 'Quando è nato?'],
    postcode: ['E il CAP?'],
    card: ['Mi può dare il numero della carta?'],
    phone: ['A che numero di telefono possiamo chiamarla?', 'Mi dica il suo cellulare.'],
    number: ["Qual è il numero dell'ordine?", 'Ha il codice cliente?'],
    name: ['Come si chiama?', 'Con chi parlo?', 'Mi dice il suo cognome?'],
    address: ['Qual è il suo indirizzo?', 'Dove abita?'],
  },
  pt: {
    spelling: ['Pode soletrar, por favor?', 'Como se escreve?'],
    email: ['Qual é o seu e-mail?'],
    birth: ['Qual é a sua data de nascimento?', 'Quando nasceu?'],
    postcode: ['E o CEP?', 'Qual é o código postal?'],
    card: ['Qual é o número do cartão?'],
    phone: ['Qual é o seu telefone?', 'Me diga o seu celular.'],
    number: ['Pode me dar o número do pedido?', 'Qual é o seu CPF?'],
    name: ['Como se chama?', 'Com quem eu falo?', 'Qual é o seu nome?'],
    address: ['Qual é o seu endereço?', 'Onde mora?'],
  },
  nl: {
    spelling: ['Kunt u dat spellen?', 'Hoe schrijf je dat?'],
    email: ['Wat is uw e-mailadres?'],
    birth: ['Wat is uw geboortedatum?', 'Wanneer bent u geboren?'],
    postcode: ['En de postcode?'],
    card: ['Wat is uw rekeningnummer?'],
    phone: ['Op welk telefoonnummer kunnen we u bereiken?'],
    number: [
      'Mag ik uw klantnummer?',
      'Heeft u het ordernummer bij de hand?',
      'Ik heb uw bestelnummer nodig.',
    ],
    name: ['Wat is uw naam?', 'Met wie spreek ik?', 'Hoe heet u?'],
    address: ['Wat is uw adres?', 'Waar woont u?'],
  },
  pl: {
    spelling: ['Czy może pani to przeliterować?', 'Proszę przeliterować.'],
    email: ['Jaki jest pana e-mail?'],
    birth: ['Proszę podać datę urodzenia.', 'Kiedy się pani urodziła?'],
    postcode: ['A kod pocztowy?'],
    card: ['Proszę podać numer karty.'],
    phone: ['Jaki jest pana numer telefonu?'],
    number: ['Czy mogę prosić o numer zamówienia?', 'Proszę podać PESEL.'],
    name: ['Jak się pan nazywa?', 'Z kim rozmawiam?', 'Poproszę nazwisko.'],
    address: ['Jaki jest pani adres?', 'Gdzie pan mieszka?'],
  },
  tr: {
    spelling: ['Heceler misiniz?', 'Nasıl yazılıyor?'],
    email: ['E-posta adresiniz nedir?'],
    birth: ['Doğum tarihiniz nedir?', 'Ne zaman doğdunuz?'],
    postcode: ['Posta kodunuz nedir?'],
    card: ['Kart numaranızı söyler misiniz?'],
    phone: ['Telefon numaranızı alabilir miyim?'],
    number: ['Sipariş numaranız nedir?', 'Müşteri numaranızı verir misiniz?'],
    name: ['Adınız nedir?', 'Kiminle görüşüyorum?', 'Soyadınızı alabilir miyim?'],
    address: ['Adresiniz nedir?', 'Nerede oturuyorsunuz?'],
  },
  ar: {
    spelling: ['هل يمكنك تهجئة الاسم؟'],
    email: ['ما هو بريدك الإلكتروني؟'],
    birth: ['ما هو تاريخ ميلادك؟'],
    postcode: ['ما هو الرمز البريدي؟'],
    card: ['ما هو رقم البطاقة؟'],
    phone: ['ما هو رقم هاتفك؟'],
    number: ['هل يمكنك إعطائي رقم الطلب؟', 'ما هو رقم العميل؟'],
    name: ['ما هو اسمك؟', 'مع من أتحدث؟'],
    address: ['ما هو عنوانك؟'],
  },
  hi: {
    spelling: ['क्या आप इसकी स्पेलिंग बता सकते हैं?'],
    email: ['आपका ईमेल क्या है?'],
    birth: ['आपकी जन्म तिथि क्या है?'],
    postcode: ['आपका पिन कोड क्या है?'],
    card: ['अपना कार्ड नंबर बताइए।'],
    phone: ['आपका फ़ोन नंबर क्या है?'],
    number: ['कृपया अपना ऑर्डर नंबर बताइए।', 'क्या आप ग्राहक संख्या बता सकते हैं?'],
    name: ['आपका नाम क्या है?'],
    address: ['आपका पता क्या है?'],
  },
  ja: {
    spelling: ['お名前のつづりを教えていただけますか？'],
    email: ['メールアドレスを教えてください。'],
    birth: ['生年月日をお願いします。'],
    postcode: ['郵便番号は何番ですか？'],
    card: ['カード番号を教えていただけますか？'],
    phone: ['お電話番号を伺ってもよろしいですか。', 'お電話番号は？'],
    number: ['ご注文番号を教えてください。'],
    name: ['お名前をお願いできますか？', 'どちら様でしょうか。'],
    address: ['ご住所を教えていただけますか？'],
  },
  ko: {
    spelling: ['철자를 말씀해 주시겠어요?'],
    email: ['이메일 주소를 알려 주세요.'],
    birth: ['생년월일이 어떻게 되세요?'],
    postcode: ['우편번호를 말씀해 주세요.'],
    card: ['카드 번호를 알려 주시겠어요?'],
    phone: ['전화번호가 어떻게 되시나요?'],
    number: ['주문 번호를 말씀해 주시겠어요?'],
    name: ['성함이 어떻게 되세요?'],
    address: ['주소를 알려 주세요.'],
  },
  zh: {
    spelling: ['您的名字怎么拼？'],
    email: ['请告诉我您的邮箱。'],
    birth: ['您的出生日期是什么？'],
    postcode: ['邮编是多少？'],
    card: ['请提供您的银行卡号。'],
    phone: ['您的电话号码是多少？'],
    number: ['请说一下您的订单号。', '会员号是多少？'],
    name: ['请问您贵姓？', '您叫什么名字？'],
    address: ['您的地址是什么？'],
  },
};

/** Questions that are answered in one breath, offers, and what is to be confirmed. */
const NOTHING: Readonly<Record<string, readonly string[]>> = {
  en: [
    'How can I help you?',
    'Thanks, I have your name. What can I do for you today?',
    'Is that the right number?',
    'Is your phone number still 4 1 5, 5 5 5, 0 1 4 2?',
    'Your order number is 4 7 1 1, is that correct?',
    'What is your order number? Is it on the invoice?',
    'Would you like me to send it to your email address?',
    'Shall I text the link to this number?',
    'I was looking at your e-mail. What time suits you?',
    'One moment, I am looking up your order number.',
    'Which day would suit you?',
    'How many people will come?',
    '',
  ],
  de: [
    'Wie kann ich Ihnen helfen?',
    'Ist das Ihre Nummer?',
    'Ihre Nummer ist 4 7 1 1, stimmt das?',
    'Soll ich es an Ihre E-Mail-Adresse schicken?',
    'Wie kann ich Ihnen bei Ihrer E-Mail helfen? Worum geht es?',
    'Welcher Tag passt Ihnen?',
    'Einen Moment, ich suche Ihre Bestellung.',
  ],
  es: [
    '¿En qué puedo ayudarle?',
    '¿Es correcto su número?',
    '¿Quiere que le envíe un e-mail?',
    '¿Qué día le viene bien?',
  ],
  fr: [
    'Comment puis-je vous aider ?',
    'Est-ce bien votre numéro ?',
    "Est-ce que c'est votre adresse e-mail ?",
    'Quel jour vous convient ?',
  ],
  it: [
    'Come posso aiutarla?',
    'È il suo numero?',
    'Vuole che le mandi una e-mail?',
    'Che giorno preferisce?',
  ],
  pt: ['Em que posso ajudar?', 'É o seu número?', 'Quer que eu envie um e-mail?', 'Que dia prefere?'],
  nl: ['Waarmee kan ik u helpen?', 'Is dat uw nummer?', 'Zal ik een e-mail sturen?', 'Welke dag komt u uit?'],
  pl: ['W czym mogę pomóc?', 'Czy to jest pana numer?', 'Proszę chwilę poczekać.', 'Jaki dzień pani pasuje?'],
  tr: ['Nasıl yardımcı olabilirim?', 'Telefon numaranız bu mu?', 'Hangi gün size uyar?'],
  ar: ['كيف يمكنني مساعدتك؟', 'هل هذا رقمك؟', 'أي يوم يناسبك؟'],
  hi: ['मैं आपकी क्या मदद कर सकता हूँ?', 'क्या यह आपका नंबर है?', 'कौन सा दिन ठीक रहेगा?'],
  ja: [
    'どのようなご用件でしょうか？',
    'お電話番号はこちらでよろしいですか？',
    '番号を確認しますので、少々お待ちください。',
    'いつがよろしいですか？',
  ],
  ko: ['무엇을 도와드릴까요?', '전화번호가 맞으신가요?', '어느 요일이 좋으세요?'],
  zh: ['请问有什么可以帮您？', '这是您的电话号码，对吗？', '请稍等，我查一下订单号。', '您哪天方便？'],
};

t.test('every language of the daemon`s own words is there', async (t) => {
  t.same(Object.keys(ASKS).sort(), Object.keys(APOLOGIES).sort());
  t.same(Object.keys(NOTHING).sort(), Object.keys(APOLOGIES).sort());
});

for (const [language, table] of Object.entries(ASKS)) {
  t.test(`${language}: what is asked for`, async (t) => {
    for (const [kind, sentences] of Object.entries(table)) {
      t.ok(sentences.length > 0);
      for (const sentence of sentences) t.equal(askedFor(sentence), kind, sentence);
    }
    for (const sentence of NOTHING[language] ?? []) t.equal(askedFor(sentence), null, sentence);
  });
}

t.test('the last question counts, and what is said after it changes nothing', async (t) => {
  t.equal(askedFor('What is your name? And what is your order number?'), 'number');
  t.equal(askedFor('What is your order number? And which day suits you?'), null);
  t.equal(askedFor('What is your order number? Take your time, I am here. There is no hurry.'), 'number');
});

t.test('what was cut before it was asked was not asked', async (t) => {
  t.equal(askedFor('Could you please give me your'), null);
  t.equal(askedFor('Thank you. What is'), null);
});

t.test('a text without end is read from its end, and in time', async (t) => {
  const long = `${'and the number of the order is on the invoice '.repeat(2_000)}. What is your name?`;
  t.equal(askedFor(long), 'name');
  t.equal(askedFor('1 2 '.repeat(5_000)), null);
});
