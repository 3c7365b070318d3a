// What a talk's record knows of the agent's words: whether they ask for what is dictated.
import t from 'tap';
import { TalkRecord } from '../../../bridge/media/talk-record.ts';

t.test('what was asked for stands until it is answered, whatever is said into the silence', async (t) => {
  let now = 0;
  let serial = 0;
  const record = new TalkRecord({
    callId: 'call',
    post: () => {},
    now: () => now,
    newId: () => `id-${++serial}`,
  });
  const says = (text: string) => {
    const itemId = `item-${++serial}`;
    record.agentText(itemId, text);
    record.agentTextDone(itemId, text);
    now += 2_000;
    record.itemHeard(itemId, 2_000);
  };
  t.notOk(record.asks);
  says('Could you give me your order number, please?');
  t.ok(record.asks);
  now += 12_000;
  says('Are you still there?');
  t.ok(record.asks, 'nobody has answered it');
  record.callerTurn(0, now, now + 3_000);
  t.ok(record.asks, 'until something else is heard: he may go on');
  says('Thank you. Which day suits you?');
  t.notOk(record.asks);
  record.agentTextDone('unheard', 'What is your name?');
  t.notOk(record.asks, 'not before it is heard');
  record.itemHeard('unheard', 2_000);
  t.ok(record.asks);
});
