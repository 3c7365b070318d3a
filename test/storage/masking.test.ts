// Numbers that are not to be stored. Cards are the test numbers that the card schemes' processors publish; IBANs are of the
// registry's own examples (ISO 13616).
import t from 'tap';
import { maskHeard, maskText, maskValue } from '../../storage/masking.ts';

const ALL = ['card', 'iban', 'ssn'] as const;

t.test('cards, as they are written', (t) => {
  for (const [text, masked] of [
    ['4111111111111111', '•••• 1111'],
    ['It is 4111 1111 1111 1111, thanks.', 'It is •••• 1111, thanks.'],
    ['5555-5555-5555-4444', '•••• 4444'],
    ['amex 3782 822463 10005 and visa 4012888888881881', 'amex •••• 0005 and visa •••• 1881'],
    ['4 2 2 2. 2 2 2 2. 2 2 2 2. 2', '•••• 2222'],
    ['The other side pressed 6011111111111117#', 'The other side pressed •••• 1117#'],
    ['{"card":"4111111111111111","of":"Ann"}', '{"card":"•••• 1111","of":"Ann"}'],
  ] as const)
    t.equal(maskText(text, ['card']), masked, text);
  t.end();
});

t.test('cards, as they are said, in four languages', (t) => {
  for (const text of [
    'four one one one, one one one one, one one one one, one one one one',
    'Four triple one, uh, double one double one, one one one one and then 1111',
    'vier eins eins eins eins eins eins eins eins eins eins eins eins eins eins eins',
    'cuatro uno uno uno uno uno uno uno uno uno uno uno uno uno uno uno',
    'quatre un un un un un un un un un un un un un un un',
  ])
    t.equal(maskText(`${text}.`, ['card']), '•••• 1111.', text);
  t.equal(
    maskText(
      'I have one question: my card is four one one one one one one one one one one one one one one one',
      ['card'],
    ),
    'I have one question: my card is •••• 1111',
  );
  t.end();
});

t.test('what is no such number stays', (t) => {
  for (const text of [
    '4111111111111112',
    'Call me at +491511234567 or +4222222222222.',
    'Order 123456789012, on 2026-03-01 at 10:00.',
    'One two three four five, once I caught a fish alive.',
    'at 4111 in the 1111 street, and 1111 is not 1111',
    'twelve o’clock',
    'DE89370400440532013001',
    '000-12-3456',
    '',
  ])
    t.equal(maskText(text, ALL), text, text);
  t.equal(maskText('4111111111111111', []), '4111111111111111', 'nothing is masked that nobody asked for');
  t.equal(maskText('DE89 3704 0044 0532 0130 00', ['card']), 'DE89 3704 0044 0532 0130 00');
  t.end();
});

t.test('IBANs and social security numbers', (t) => {
  t.equal(maskText('It is DE89 3704 0044 0532 0130 00, Ann.', ['iban']), 'It is •••• 3000, Ann.');
  t.equal(maskText('gb29nwbk60161331926819 please', ['iban']), '•••• 6819 please');
  t.equal(maskText('My number is 123-45-6789.', ['ssn']), 'My number is •••• 6789.');
  t.equal(maskText('one two three, four five, six seven eight nine', ['ssn']), '•••• 6789');
  t.equal(
    maskText('4111111111111111 DE89370400440532013000 123-45-6789', ALL),
    '•••• 1111 •••• 3000 •••• 6789',
  );
  t.end();
});

t.test('of a number that was cut short, nothing is left', (t) => {
  const text = 'You said 4111 1111 1111 1111, right?';
  for (let heard = 0; heard <= text.length; heard++) {
    const masked = maskHeard({ text, heard_text: text.slice(0, heard) }, ['card']);
    t.equal(masked.text, 'You said •••• 1111, right?');
    if (/[0-9]{2}/.test(masked.heard_text.replace('•••• 1111', ''))) t.fail(masked.heard_text);
  }
  t.strictSame(maskHeard({ text, heard_text: 'You said' }, ['card']).heard_text, 'You said');
  t.end();
});

t.test('everything in a result', (t) => {
  t.strictSame(
    maskValue({ a: ['4111111111111111', 5], b: { c: 4_111_111_111_111_111, d: null, e: true } }, ['card']),
    { a: ['•••• 1111', 5], b: { c: '•••• 1111', d: null, e: true } },
  );
  t.end();
});
