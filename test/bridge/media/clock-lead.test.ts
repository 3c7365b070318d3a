// How far a carrier's clock runs before ours, by what came soonest.
import t from 'tap';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import { ClockLead } from '../../../bridge/media/clock-lead.ts';

t.test(
  'what comes soonest tells the other clock; what is late does not, and old news is forgotten',
  async (t) => {
    const lead = new ClockLead();
    t.equal(lead.ms, null);
    lead.seen(10, 30);
    t.equal(lead.ms, -20);
    lead.seen(50, 60);
    lead.seen(55, 200);
    t.equal(lead.ms, -10, 'a frame that was delayed changes nothing');
    for (let nowMs = 500; nowMs <= 1_600; nowMs += 20) lead.seen(nowMs - 40, nowMs);
    t.equal(lead.ms, -40, 'it stalled, and stays behind');
  },
);

t.test('sound stands where the first frame has put it', async (t) => {
  const clock = new CallerClock(500);
  t.equal(clock.at(100), 600);
  t.equal(clock.leadMs, null);
  clock.begin(520);
  t.equal(clock.at(100), 620);
  clock.came(200, 700);
  t.equal(clock.leadMs, 20);
});
