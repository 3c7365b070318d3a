// Words as people use them: few are in nearly every sentence, most are rare (Zipf), from a vocabulary made by syllables.
// PURE but for the chance it is given.

const COMMON =
  `the to you and i a is it that for of yes in on we your my have no can be this with please do so not me okay
what at will would thank are all if one was just know was call time good back name number there order appointment about tomorrow
today morning afternoon monday tuesday wednesday thursday friday help here let great sure right sorry need see get wait`
    .split(/\s+/)
    .filter((word, index, all) => all.indexOf(word) === index);
const SYLLABLES = 'ba de fi go ku la me ni po ru sa te vi zo che shi tra ple mon der lin gar'.split(' ');
const VOCABULARY = 20_000;
/** Entries of the table that is drawn from; a word's share is how many it has. */
const DRAWS = 1 << 18;

export interface Speech {
  /** The word of a rank, 0 being the most frequent. */
  word(rank: number): string;
  /** So many words, drawn. */
  text(words: number): string;
}

/** @param random from 0 to below 1 */
export function speech(random: () => number): Speech {
  const words = [...COMMON];
  const known = new Set(words);
  for (let at = 0; words.length < VOCABULARY; at++) {
    const length = 2 + (at % 3);
    const word = Array.from(
      { length },
      () => SYLLABLES[Math.floor(random() * SYLLABLES.length)] ?? 'ba',
    ).join('');
    if (known.has(word)) continue;
    known.add(word);
    words.push(word);
  }
  const total = words.reduce((sum, _word, rank) => sum + 1 / (rank + 2.7), 0);
  const table = new Uint16Array(DRAWS);
  let filled = 0;
  let share = 0;
  words.forEach((_word, rank) => {
    share += 1 / (rank + 2.7) / total;
    const until = Math.min(DRAWS, Math.round(share * DRAWS));
    table.fill(rank, filled, until);
    filled = until;
  });
  const draw = () => words[table[Math.floor(random() * DRAWS)] ?? 0] ?? 'the';
  return {
    word: (rank) => words[rank % words.length] ?? 'the',
    text(count) {
      let text = draw();
      for (let at = 1; at < count; at++) text += ` ${draw()}`;
      return text;
    },
  };
}
