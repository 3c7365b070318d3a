// The listener for beeps on its own set, in short: five kinds on a line and through a room, and what must not be taken for one.
import t from 'tap';
import { BEEP_KINDS, beepsOf, noBeepsOf, scoreBeeps } from './beeps.ts';
import { readRecordings } from './recordings.ts';

/** Sounds that are made more like a beep than any that were recorded: notes held by an organ, children's vowels. */
const NEARLY = /organ|aah|sung/;

t.test(
  'beeps of five kinds are found, on a line and through a room; what else is on a line is none',
  async (t) => {
    const { sentences } = readRecordings('own');
    const score = scoreBeeps(beepsOf('in short', 8, sentences), noBeepsOf('in short', 1));
    const found = { clean: 0, room: 0 };
    for (const kind of BEEP_KINDS)
      for (const place of ['clean', 'room'] as const) found[place] += score.found[kind][place].hits;
    t.ok(found.clean >= 39, `${found.clean} of 40`);
    t.ok(found.room >= 36, `${found.room} of 40 in a room`);
    t.ok(score.falseBefore <= 1, `${score.falseBefore} in the speech before`);
    const others = Object.entries(score.falseOnes).filter(([, { hits }]) => hits > 0);
    t.same(
      others.filter(([source]) => !NEARLY.test(source)),
      [],
    );
    t.ok(others.reduce((sum, [, { hits }]) => sum + hits, 0) <= 3, JSON.stringify(others));
    t.comment(score.notes.join('\n'));
  },
);
