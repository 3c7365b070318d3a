// What a model is given of the caller's sound, and from when to when.
import t from 'tap';
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { CallerFeed, PREROLL_MS } from '../../../bridge/media/caller-feed.ts';
import type { ModelCapabilities, ModelSession } from '../../../bridge/models/model.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';

function open(can: Partial<ModelCapabilities> = {}) {
  const told: (number | string)[] = [];
  const model: Partial<ModelSession> = {
    capabilities: { ...TURN_BY_TURN, ...can },
    takes: MULAW_8K,
    appendAudio: (payload) => told.push(payload.length / BYTES_PER_MS),
    clearAudio: () => void told.push('clear'),
    endTurn: () => told.push('end'),
  };
  const feed = new CallerFeed(model as ModelSession);
  const hears = (fromMs: number, toMs: number) => {
    for (let atMs = fromMs; atMs < toMs; atMs += FRAME_MS) feed.push(new Uint8Array(FRAME_BYTES), atMs);
  };
  return { feed, hears, told };
}

t.test('a turn is given from a little before its onset until it is over', async (t) => {
  const { feed, hears, told } = open();
  hears(0, 2_000);
  t.same(told, [], 'nobody speaks');
  feed.listen(1_900);
  t.same(told, [100 + PREROLL_MS]);
  hears(2_000, 2_040);
  feed.endTurn();
  hears(2_040, 2_100);
  t.same(told.slice(1), [FRAME_MS, FRAME_MS, 'end']);
});

t.test('no more is given than is kept, and none where there is none', async (t) => {
  const { feed, hears, told } = open();
  feed.listen(0);
  t.same(told, []);
  feed.forget();
  hears(0, 6_000);
  feed.listen(500);
  t.same(told, ['clear', 4_000]);
});

t.test('what was no turn is forgotten, where a model can', async (t) => {
  for (const commits of [true, false]) {
    const { feed, hears, told } = open({ commits });
    feed.listen(0);
    feed.forget();
    hears(0, 40);
    t.same(told, commits ? ['clear'] : []);
  }
});

t.test('a model that tells the turns is given all, and nothing twice', async (t) => {
  const { feed, hears, told } = open({ turns: 'model' });
  hears(0, 40);
  feed.listen(20);
  feed.endTurn();
  feed.close();
  hears(40, 60);
  t.same(told, [FRAME_MS, FRAME_MS, 'end', FRAME_MS]);
});
