// Messages of a media thread: in their order, what is urgent at once, the rest together.
import t from 'tap';
import { Outbox } from '../../../bridge/media/outbox.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';

const floor = (atMs: number): FromMedia => ({ type: 'floor', callId: 'c', floor: 'agent', atMs });
const ended: FromMedia = { type: 'stream-ended', callId: 'c', how: 'stopped', why: 'closed', atMs: 1_000 };

t.test('what nobody waits for waits for the tick', async (t) => {
  const sent: (readonly FromMedia[])[] = [];
  const outbox = new Outbox((messages) => sent.push(messages));
  outbox.post(floor(1));
  outbox.post(floor(2));
  t.same(sent, []);
  outbox.flush();
  t.same(sent, [[floor(1), floor(2)]]);
  outbox.flush();
  t.equal(sent.length, 1, 'nothing is sent twice, and no empty message');
});

t.test('what somebody waits for goes at once, behind what came before it', async (t) => {
  const sent: (readonly FromMedia[])[] = [];
  const outbox = new Outbox((messages) => sent.push(messages));
  outbox.post(floor(1));
  outbox.post(ended);
  outbox.post(floor(2));
  t.same(sent, [[floor(1), ended]]);
  outbox.flush();
  t.same(sent[1], [floor(2)]);
});

t.test('a message posted while others are sent is not lost', async (t) => {
  const sent: FromMedia[] = [];
  const outbox = new Outbox((messages) => {
    sent.push(...messages);
    if (sent.length === 1) outbox.post(floor(9));
  });
  outbox.post(ended);
  outbox.flush();
  t.same(sent, [ended, floor(9)]);
});
