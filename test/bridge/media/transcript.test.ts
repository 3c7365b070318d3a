// Heard text never runs ahead of the audio, whichever way a line ends.
import t from 'tap';
import { Transcript } from '../../../bridge/media/transcript.ts';

const TEXT = 'One two three four five six seven eight nine ten.';

function line(o: { whole: boolean; text?: string }) {
  let serial = 0;
  const transcript = new Transcript(() => `id-${++serial}`);
  transcript.agentText('a', o.text ?? TEXT, 0);
  transcript.agentStarted('a', 100);
  if (o.whole) transcript.agentTextDone('a', o.text ?? TEXT, 50);
  return transcript;
}

t.test('a whole line that was heard to its end: every word', async (t) => {
  t.match(line({ whole: true }).agentHeard('a', 3_000, 3_200), {
    text: TEXT,
    heardText: TEXT,
    interrupted: false,
    endMs: 3_200,
  });
});

t.test('a line that is being heard: each word more, none twice, none before it was heard', async (t) => {
  const transcript = line({ whole: false, text: 'One two three four five' });
  const hear = (heardMs: number, complete = false) =>
    transcript.agentHearing('a', { heardMs, receivedMs: complete ? 3_600 : 1_600, complete });
  t.equal(hear(100), null, 'not a word yet');
  t.match(hear(600), { heardText: 'One', text: 'One two three four five', interrupted: false, endMs: null });
  t.equal(hear(650), null, 'nothing new');
  t.match(hear(900), { heardText: 'One two' });
  t.equal(hear(600), null, 'what was told stands');
  transcript.agentText('a', TEXT.slice('One two three four five'.length), 0);
  t.match(transcript.agentTextDone('a', TEXT, 1_000), { text: TEXT, heardText: 'One two', endMs: null });
  t.match(hear(3_000, true), { heardText: 'One two three four five six seven' });
  t.match(transcript.agentHeard('a', 3_600, 3_700), { heardText: TEXT, interrupted: false, endMs: 3_700 });
  t.equal(hear(3_600, true), null, 'it is over');
  t.equal(transcript.agentHearing('unknown', { heardMs: 1, receivedMs: 1, complete: true }), null);
});

t.test('the model takes back words that were counted as heard: no others are told as heard', async (t) => {
  const transcript = line({ whole: false, text: 'One two three four' });
  t.match(transcript.agentHearing('a', { heardMs: 900, receivedMs: 1_000, complete: false }), {
    heardText: 'One two',
  });
  t.match(transcript.agentTextDone('a', 'Won too three', 1_000), { text: 'Won too three', heardText: '' });
});

t.test('a line that broke off at the model: the words its audio had room for, and it says so', async (t) => {
  const heard = line({ whole: false }).agentHeard('a', 1_000, 1_200);
  t.ok(heard !== null && TEXT.startsWith(heard.heardText));
  // A second of speech is two to four words.
  const words = (heard?.heardText ?? '').split(' ').length;
  t.ok(words >= 2 && words <= 4, `heard: ${heard?.heardText}`);
  t.equal(heard?.interrupted, true);
});

t.test('a line that broke off before any audio: nothing', async (t) => {
  t.match(line({ whole: false }).agentHeard('a', 0, 1_200), { heardText: '', interrupted: true });
});

t.test('a line without words (only sound was received): nothing is claimed', async (t) => {
  t.match(line({ whole: false, text: '' }).agentHeard('a', 500, 700), { text: '', heardText: '' });
});

t.test('how fast the voice speaks is learned from its complete lines', async (t) => {
  const cutAfterASecond = (msPerCharacter: number) => {
    const transcript = line({ whole: true });
    for (let i = 0; i < 8; i++) transcript.agentHeard('a', TEXT.length * msPerCharacter, 0);
    transcript.agentText('b', TEXT, 0);
    transcript.agentStarted('b', 0);
    return transcript.agentCut('b', { heardMs: 1_000, receivedMs: 1_000, complete: false }, 1_000)?.heardText;
  };
  t.equal(cutAfterASecond(100), 'One two', 'a slow voice');
  t.equal(cutAfterASecond(50), 'One two three', 'a quick one');
});

t.test('a line whose words were told, and no sound of it heard: cut where it would have begun', async (t) => {
  const UNHEARD = { text: TEXT, heardText: '', interrupted: true, startMs: 100, endMs: 100 };
  t.match(line({ whole: true }).agentSilenced(), [UNHEARD]);
  const heard = line({ whole: true });
  heard.agentHeard('a', 3_000, 3_200);
  const cut = line({ whole: true });
  cut.agentCut('a', { heardMs: 1_000, receivedMs: 3_000, complete: true }, 1_200);
  for (const transcript of [heard, cut, line({ whole: false })]) t.same(transcript.agentSilenced(), []);
  const later = line({ whole: true });
  later.agentSilenced();
  later.agentText('b', TEXT, 200);
  t.match(later.agentTextDone('b', TEXT, 300), { interrupted: false, endMs: null }, 'the talk goes on');
});

t.test('words that come when nobody hears the agent any more: never heard', async (t) => {
  const transcript = line({ whole: false });
  t.same(transcript.agentLeft(), [], 'of what was never told, nothing is');
  t.match(transcript.agentTextDone('a', TEXT, 900), { text: TEXT, heardText: '', interrupted: true });
  t.match(transcript.agentTextDone('b', TEXT, 950), { heardText: '', interrupted: true, endMs: 950 });
  t.same(transcript.agentLeft(), [], 'each is told once');
});

t.test('the rest of the words comes behind the sound: it is judged with all of them', async (t) => {
  const heard = line({ whole: false, text: 'One two three' });
  heard.agentHeard('a', 3_000, 3_200);
  t.match(heard.agentTextDone('a', TEXT, 3_300), { heardText: TEXT, interrupted: false, endMs: 3_200 });
  const cut = line({ whole: false, text: 'One two three' });
  cut.agentCut('a', { heardMs: 1_500, receivedMs: 3_000, complete: true }, 1_700);
  const late = cut.agentTextDone('a', TEXT, 1_800);
  t.match(late, { heardText: 'One two three four', interrupted: true });
});

t.test('what was heard of the agent since the turn that it answers', async (t) => {
  let serial = 0;
  const transcript = new Transcript(() => `id-${++serial}`);
  const says = (itemId: string, text: string, atMs: number) => {
    transcript.agentTextDone(itemId, text, atMs);
    transcript.agentHeard(itemId, 2_000, atMs + 2_000);
  };
  t.same(transcript.agentSaid(), []);
  says('a', 'Good morning, who is speaking?', 0);
  t.same(transcript.agentSaid(), ['Good morning, who is speaking?']);
  transcript.callerTurn(0, 3_000, 4_000);
  t.same(transcript.agentSaid(), ['Good morning, who is speaking?'], 'until something else is heard');
  says('b', 'Thank you.', 5_000);
  says('c', 'What is your number?', 7_000);
  t.same(transcript.agentSaid(), ['Thank you.', 'What is your number?']);
  transcript.callerTurn(1, 9_000, 9_500);
  transcript.agentText('d', 'One moment, please. I am looking', 10_000);
  transcript.agentCut('d', { heardMs: 0, receivedMs: 3_000, complete: false }, 10_000);
  t.same(
    transcript.agentSaid(),
    ['Thank you.', 'What is your number?'],
    'an answer that nobody heard was none',
  );
  transcript.agentHeard('e', 1_000, 12_000);
  transcript.agentText('f', 'And your name', 12_000);
  transcript.agentHeard('f', 3_000, 15_000);
  t.match('And your name', transcript.agentSaid()[0]);
  transcript.agentTextDone('f', 'And your name?', 15_500);
  t.same(transcript.agentSaid(), ['And your name?'], 'words that come late');
});
