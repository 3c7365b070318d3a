// Which pieces of a turn are those of dictation.
import t from 'tap';
import { beginPieces, dictates, endPiece, nextPiece, type Pieces } from '../../../bridge/turns/dictation.ts';

/** Pieces and the gaps between them, in turn. */
function said(...ms: number[]): Pieces {
  let atMs = 1_000;
  let pieces = beginPieces(atMs, 0);
  for (const [i, length] of ms.entries()) {
    if (i % 2 === 1) {
      atMs += length;
      pieces = nextPiece(pieces, atMs);
      continue;
    }
    atMs += length;
    pieces = endPiece(pieces, atMs, false);
  }
  return pieces;
}

t.test('what is dictation', async (t) => {
  const table: [string, boolean, number[]][] = [
    ['digits one by one', true, [320, 550, 410, 600, 350]],
    ['digits slowly', true, [320, 900, 410, 850, 500]],
    ['groups of three', true, [1_100, 700, 1_250, 750, 900]],
    ['a fourth is to come', true, [320, 550, 410, 600, 350, 580]],
    ['two pieces', false, [320, 550, 410]],
    ['a word and a sentence', false, [320, 550, 1_650, 600, 350]],
    ['sentences', false, [2_400, 500, 2_600, 550, 2_500]],
    ['pauses of any length', false, [400, 250, 420, 900, 380]],
    ['one who looks for something', false, [400, 1_700, 420, 1_800, 380]],
  ];
  for (const [name, is, ms] of table) t.equal(dictates(said(...ms)), is, name);
});

t.test('a piece whose end nobody told makes no gap', async (t) => {
  let pieces = nextPiece(beginPieces(0, 0), 5_000);
  for (const atMs of [5_300, 6_200, 7_100]) {
    pieces = endPiece(pieces, atMs, false);
    pieces = nextPiece(pieces, atMs + 600);
  }
  t.ok(dictates(pieces));
});

t.test('a drawn-out end is that of the last piece', async (t) => {
  const drawn = endPiece(beginPieces(0, 0), 800, true);
  t.ok(drawn.drawnOut);
  t.notOk(nextPiece(drawn, 1_500).drawnOut);
});
