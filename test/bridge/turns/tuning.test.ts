// What the words that an agent is tuned by make of the turn rules.
import t from 'tap';
import type { Tuning } from '../../../bridge/protocol/messages.ts';
import { anyWordStops, tuned } from '../../../bridge/turns/tuning.ts';
import { TURN_RULES, type TurnRules } from '../../../bridge/turns/turns.ts';

const NORMAL: Tuning = { patience: 'normal', eagerness: 'normal', interruption: 'normal' };
const WORDS = {
  patience: ['short', 'normal', 'long'],
  eagerness: ['eager', 'normal', 'relaxed'],
  interruption: ['easy', 'normal', 'hard'],
} as const;
/** What each moves; a later word makes each of them larger. */
const MOVES: Record<keyof Tuning, readonly (keyof TurnRules)[]> = {
  patience: ['dictationMs', 'hesitationMs', 'mostSilenceMs', 'pauseMarginMs'],
  eagerness: ['endOfTurnMs'],
  interruption: [
    'pauseMs',
    'pauseTogetherMs',
    'pauseOverAssentMs',
    'confirmMs',
    'soundingMs',
    'confirmTogetherMs',
  ],
};

t.test('an agent that is not tuned is as before', async (t) => t.same(tuned(TURN_RULES, NORMAL), TURN_RULES));

t.test('each word moves what a caller notices as one thing', async (t) => {
  for (const word of Object.keys(MOVES) as (keyof Tuning)[]) {
    const [less, same, more] = WORDS[word].map((value) => tuned(TURN_RULES, { ...NORMAL, [word]: value }));
    t.same(same, TURN_RULES);
    for (const rule of Object.keys(TURN_RULES) as (keyof TurnRules)[]) {
      const figures = [less![rule], same![rule], more![rule]];
      if (rule === 'earlyMs' && word === 'eagerness') continue;
      if (!MOVES[word].includes(rule)) t.ok(new Set(figures).size === 1, `${word} leaves ${rule}`);
      else t.ok(figures[0]! < figures[1]! && figures[1]! < figures[2]!, `${word}: ${rule} ${figures}`);
    }
  }
});

t.test('whatever the words, the rules go together', async (t) => {
  for (const patience of WORDS.patience) {
    for (const eagerness of WORDS.eagerness) {
      for (const interruption of WORDS.interruption) {
        const rules = tuned(TURN_RULES, { patience, eagerness, interruption });
        const name = `${patience} ${eagerness} ${interruption}`;
        t.ok(rules.endOfTurnMs <= rules.mostSilenceMs, name);
        t.ok(rules.endOfTurnMs <= rules.dictationMs, name);
        t.ok(rules.earlyMs! + rules.leastGainMs < rules.endOfTurnMs, name);
        t.ok(rules.pauseMs < rules.confirmMs && rules.pauseTogetherMs < rules.confirmTogetherMs, name);
        t.ok(rules.soundingMs < rules.confirmMs && rules.confirmMs < rules.confirmTogetherMs, name);
        t.ok(rules.confirmTogetherMs < rules.holdLimitMs, name);
      }
    }
  }
});

t.test('who is relaxed asks the model later, and begins fewer answers in vain', async (t) => {
  const [eager, normal, relaxed] = WORDS.eagerness.map(
    (eagerness) => tuned(TURN_RULES, { ...NORMAL, eagerness }).earlyMs!,
  );
  t.equal(eager, normal);
  t.ok(relaxed! > normal!);
});

t.test('where no answer is begun early, no word has one begun', async (t) => {
  for (const eagerness of WORDS.eagerness)
    t.equal(tuned({ ...TURN_RULES, earlyMs: null }, { ...NORMAL, eagerness }).earlyMs, null);
});

t.test('of the short words over an agent that talks on only those that mean stop are heeded', async (t) => {
  for (const interruption of WORDS.interruption)
    t.equal(anyWordStops({ ...NORMAL, interruption }), interruption !== 'hard', interruption);
});
