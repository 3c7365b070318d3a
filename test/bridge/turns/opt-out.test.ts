// Who asks not to be called any more, by table: what is said in each language, and what only sounds like it.
import t from 'tap';
import { asksNotToBeCalled } from '../../../bridge/turns/opt-out.ts';

const YES: Record<string, readonly string[]> = {
  en: [
    'Please do not call me again.',
    "Don't call me anymore",
    "Hey, I'm not interested, don't ever call me again please",
    "I said don't call me again!",
    'Stop calling me.',
    'Will you people please stop calling here',
    'I told you to stop calling this number.',
    'Stop calling!',
    "No thanks. Don't call me.",
    'Take me off your list.',
    'Could you take me off your calling list, please?',
    'Remove my number from your database',
    'Put me on your do-not-call list.',
    "I don't want you to call me again",
    "I don't want to be called anymore.",
    "We don't want any more calls from you",
    'Can I ask you not to call me again?',
    'Never call this number again.',
    'No more calls, okay?',
    'Please, no more calls from you people',
    'Will you please stop calling me',
    'I have had enough stop calling me',
    "This is my last warning don't call me again",
    "You have my answer and my address don't call me again",
    'Lose my number.',
    "I'd like to opt out of your calls",
    "don't contact us again I'm busy",
  ],
  de: [
    'Rufen Sie mich bitte nicht mehr an.',
    'Ruf mich nie wieder an!',
    'Ich möchte nicht mehr angerufen werden.',
    'Hören Sie auf, mich anzurufen.',
    'Hören Sie endlich auf mich anzurufen',
    'Streichen Sie mich von Ihrer Liste.',
    'Bitte keine Anrufe mehr.',
    'Ich will keine Anrufe mehr bekommen.',
  ],
  es: [
    'No me vuelva a llamar, por favor.',
    'No me llamen más.',
    'Deje de llamarme.',
    'Quíteme de su lista.',
    'No quiero que me vuelvan a llamar',
    '¡No quiero más llamadas!',
  ],
  fr: [
    'Ne me rappelez plus.',
    'Ne m’appelez plus jamais !',
    'Arrêtez de m’appeler.',
    'Retirez-moi de votre liste.',
    'Je ne veux plus être appelée.',
  ],
  it: [
    'Non mi chiami più.',
    'Non mi chiamate mai più!',
    'Smettetela di chiamarmi.',
    'Mi tolga dalla vostra lista.',
    'Non voglio più ricevere chiamate',
  ],
  pt: [
    'Não me ligue mais.',
    'Pare de me ligar.',
    'Tire meu número da sua lista.',
    'Não quero mais receber ligações.',
  ],
  nl: [
    'Bel mij niet meer.',
    'Stop met mij te bellen.',
    'Haal me van jullie lijst.',
    'Ik wil niet meer gebeld worden.',
  ],
  pl: [
    'Proszę więcej do mnie nie dzwonić.',
    'Proszę nie dzwonić do mnie więcej.',
    'Przestańcie do mnie dzwonić.',
    'Proszę usunąć mój numer z waszej listy.',
  ],
  ru: [
    'Не звоните мне больше.',
    'Больше сюда не звоните!',
    'Перестаньте мне звонить.',
    'Удалите мой номер из вашей базы.',
  ],
  tr: [
    'Beni bir daha aramayın.',
    'Lütfen artık beni aramayın.',
    'Beni aramayı bırakın.',
    'Numaramı listenizden silin.',
  ],
  ar: ['لا تتصل بي مرة أخرى', 'توقفوا عن الاتصال بي.', 'احذفوا رقمي من قائمتكم'],
  hi: ['मुझे दोबारा कॉल मत करना।', 'मुझे फ़ोन करना बंद करो', 'मेरा नंबर अपनी लिस्ट से हटा दीजिए'],
  ja: ['もう電話しないでください。', '二度と電話をかけてこないでください', 'リストから削除してください。'],
  ko: [
    '다시는 전화하지 마세요.',
    '더 이상 연락하지 말아 주세요',
    '전화 그만하세요',
    '목록에서 제 번호를 삭제해 주세요.',
  ],
  zh: ['请不要再打电话了。', '别再给我打电话', '請不要再打來了', '把我从你们的名单里删除'],
};

const NO: Record<string, readonly string[]> = {
  en: [
    "Don't call me before nine.",
    "Please don't call me at work",
    "Don't call me today, I am driving",
    "Don't call me Bob.",
    "don't call me a liar",
    'Stop calling me sir.',
    "Don't call me, I'll call you.",
    'Why did you not call me again?',
    "Why don't you call me again tomorrow?",
    "If you don't call me again I will be sad",
    "You don't call me anymore.",
    "I don't want you to stop calling me.",
    "No, please don't stop calling me",
    "I didn't say don't call me again",
    'She said do not call me again, can you believe it',
    'Take me off the waiting list.',
    'Remove me from the guest list',
    "Don't take me off your list",
    "You don't have to take me off your list.",
    'Call me again tomorrow.',
    'Please call me back.',
    'Nobody calls me any more.',
    'Can I opt out of the newsletter?',
    'I want to stop my subscription',
    'Do I have to call again?',
    'There were no calls.',
    'I was calling about my number.',
    "My kids don't call me anymore.",
    'My best friends never call me back.',
    'You guys never call me back.',
    'No more calls today please',
    'I have no more calls to make',
    'There will be no more calls',
    'Did you lose my number?',
    'Why did you take me off your list?',
    'Did you remove my number from your system?',
    'When did you stop calling?',
    'They said they will stop calling.',
  ],
  de: [
    'Rufen Sie mich morgen wieder an.',
    'Rufen Sie mich nicht vor neun an.',
    'Hören Sie nicht auf mich anzurufen.',
    'Nehmen Sie mich von der Warteliste.',
    'Ich habe nicht mehr angerufen.',
    'Warum rufen Sie mich nicht mehr an?',
    'Meine Tochter ruft mich nie wieder an.',
    'Ich habe keine Anrufe mehr bekommen.',
    'Seit Montag kommen keine Anrufe mehr an.',
  ],
  es: [
    'No me llame antes de las nueve.',
    'No deje de llamarme.',
    'Llámeme más tarde.',
    'No me llamo Pedro.',
    'No me llame más tarde de las nueve.',
    'No me llame más de dos veces.',
    'No me llame otra vez hoy.',
  ],
  fr: [
    'Rappelez-moi plus tard.',
    'Ne m’appelez plus tard que midi',
    'N’arrêtez pas de m’appeler.',
    'Je ne m’appelle plus Martin.',
  ],
  it: [
    'Mi chiami più tardi.',
    'Non mi chiami prima delle nove.',
    'Non smetta di chiamarmi.',
    'Non mi chiami più tardi delle nove.',
  ],
  pt: [
    'Me ligue mais tarde.',
    'Não me ligue antes das nove.',
    'Não pare de me ligar.',
    'Não me ligue mais tarde.',
  ],
  nl: [
    'Bel mij niet voor negen uur.',
    'Bel me later.',
    'Ik heb niet meer gebeld.',
    'Bel me niet meer vandaag.',
  ],
  pl: ['Proszę nie dzwonić przed dziewiątą.', 'Nie przestań do mnie dzwonić', 'Już dzwoniłem.'],
  ru: [
    'Не звоните мне до девяти.',
    'Позвоните мне завтра.',
    'Мне больше не звонили.',
    'Почему вы больше не звоните?',
  ],
  tr: ['Beni yarın arayın.', 'Beni dokuzdan önce aramayın.'],
  ar: ['اتصل بي غدا', 'لا تتصل بي قبل التاسعة'],
  hi: ['मुझे कल कॉल करना।', 'मुझे नौ बजे से पहले कॉल मत करना'],
  ja: ['明日電話してください。', 'もう電話しました。', '九時前には電話しないでください'],
  ko: ['내일 전화해 주세요.', '아홉 시 전에는 전화하지 마세요.'],
  zh: ['请明天再打电话。', '不要打错电话', '我已经打过电话了。'],
};

t.test('asked for, in each language', async (t) => {
  for (const [language, said] of Object.entries(YES))
    for (const text of said) t.ok(asksNotToBeCalled(text), `${language}: ${text}`);
});

t.test('a time, a name, the opposite, somebody else: not that', async (t) => {
  for (const [language, said] of Object.entries(NO))
    for (const text of said) t.notOk(asksNotToBeCalled(text), `${language}: ${text}`);
});

t.test('wherever it stands in a turn, and however it is written', async (t) => {
  for (const text of [
    'well, listen. I have told you before: please, do not call me again! Goodbye.',
    'DO NOT CALL ME AGAIN',
    'okay — take me off your list — bye',
    'please don’t call me again',
  ])
    t.ok(asksNotToBeCalled(text), text);
  for (const text of ['', '…', '[unintelligible]', 'a'.repeat(5_000), `${'stop '.repeat(2_000)}`])
    t.notOk(asksNotToBeCalled(text), text.slice(0, 20));
});
