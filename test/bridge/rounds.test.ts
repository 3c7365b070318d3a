// When a media thread works, on a loop whose time the test holds: the order of a round, its grid, a stall, the way from events to
// rounds and back, and the end.
import t from 'tap';
import { LoopDelay } from '../../bridge/loop-delay.ts';
import { ThreadClock } from '../../bridge/media/frame-clock.ts';
import { type Loop, MANY_CALLS, ROUND_MS, ROUNDS_FROM, Rounds } from '../../bridge/rounds.ts';

/** A loop that does what it was ordered to, one order after the other, and takes what time the test says. */
class HeldLoop implements Loop {
  nowMs = 500;
  /** What happened, with its time since the start. */
  readonly log: string[] = [];
  /** How long reading takes. */
  readMs = 0;
  #reading: (() => void) | null = null;
  #timer: { atMs: number; run: () => void } | null = null;

  now(): number {
    return this.nowMs;
  }

  sleep(ms: number): void {
    this.nowMs += ms;
    this.#say('slept');
  }

  afterReading(run: () => void): () => void {
    if (this.#reading !== null || this.#timer !== null) throw new Error('two orders at once');
    this.#reading = run;
    return () => {
      this.#reading = null;
    };
  }

  after(ms: number, run: () => void): () => void {
    if (this.#reading !== null || this.#timer !== null) throw new Error('two orders at once');
    this.#timer = { atMs: this.nowMs + ms, run };
    return () => {
      this.#timer = null;
    };
  }

  get ordered(): 'reading' | 'timer' | null {
    return this.#reading !== null ? 'reading' : this.#timer !== null ? 'timer' : null;
  }

  /** The next thing that it was ordered to do. */
  turn(): void {
    const { ordered } = this;
    if (ordered === 'reading') {
      const run = this.#reading;
      this.#reading = null;
      this.nowMs += this.readMs;
      this.#say('read');
      run?.();
    } else if (ordered === 'timer') {
      const timer = this.#timer;
      this.#timer = null;
      this.nowMs = Math.max(this.nowMs, timer?.atMs ?? 0);
      this.#say('woken');
      timer?.run();
    } else throw new Error('nothing was ordered');
  }

  turns(count: number): void {
    for (; count > 0; count--) this.turn();
  }

  tick(): void {
    this.#say('tick');
  }

  #say(what: string): void {
    this.log.push(`${what} ${Math.round((this.nowMs - 500) * 100) / 100}`);
  }
}

function opened() {
  const loop = new HeldLoop();
  const clock = new ThreadClock(loop.nowMs, (error) => t.fail(String(error)));
  clock.add(() => loop.tick());
  const rounds = new Rounds(clock, loop, new LoopDelay());
  t.teardown(() => rounds.close());
  return { loop, clock, rounds };
}

t.test('with few calls events wake it, and a timer for each tick', async (t) => {
  const { loop, rounds } = opened();
  rounds.carry(ROUNDS_FROM - 1);
  loop.turns(3);
  t.same(loop.log, ['woken 20', 'tick 20', 'woken 40', 'tick 40', 'woken 60', 'tick 60']);
  t.equal(loop.ordered, 'timer');
});

t.test('with more it sleeps, reads, ticks: two rounds a tick, each at its time', async (t) => {
  const { loop, rounds } = opened();
  loop.readMs = 1;
  rounds.carry(ROUNDS_FROM);
  loop.turns(5);
  t.same(loop.log, [
    'read 1',
    'slept 10',
    'read 11',
    'slept 20',
    'read 21',
    'tick 21',
    'read 22',
    'slept 30',
    'read 31',
    'slept 40',
  ]);
});

t.test('with many four rounds a tick', async (t) => {
  const { loop, rounds } = opened();
  loop.readMs = 1;
  rounds.carry(MANY_CALLS);
  loop.turns(7);
  t.same(loop.log, [
    'read 1',
    'slept 5',
    'read 6',
    'slept 10',
    'read 11',
    'slept 15',
    'read 16',
    'slept 20',
    'read 21',
    'tick 21',
    'read 22',
    'slept 25',
    'read 26',
    'slept 30',
  ]);
});

t.test('rounds do not drift, whatever the work of each takes', async (t) => {
  for (const { calls, everyMs } of [
    { calls: ROUNDS_FROM, everyMs: ROUND_MS.few },
    { calls: MANY_CALLS, everyMs: ROUND_MS.many },
  ]) {
    const { loop, rounds } = opened();
    loop.nowMs += 3.3;
    rounds.carry(calls);
    for (let round = 0; round < 2_000; ) {
      loop.readMs = (round % 9) * 0.25;
      loop.turn();
      if (loop.log.at(-1)?.startsWith('slept')) round++;
    }
    const slept = loop.log.flatMap((line) => (line.startsWith('slept') ? [Number(line.slice(6))] : []));
    t.same(
      slept,
      slept.map((_, round) => (round + 1) * everyMs),
    );
    t.equal(loop.log.filter((line) => line.startsWith('tick')).length, (2_000 * everyMs) / 20 - 1);
  }
});

t.test(
  'as calls come and go a round gets shorter and longer, and ticks stay due as one begins',
  async (t) => {
    const { loop, rounds } = opened();
    loop.readMs = 1;
    rounds.carry(MANY_CALLS);
    loop.turns(2);
    rounds.carry(MANY_CALLS - 1);
    loop.turns(4);
    rounds.carry(MANY_CALLS);
    loop.turns(4);
    t.same(
      loop.log.filter((line) => !line.startsWith('read')),
      [
        'slept 5',
        'slept 10',
        'slept 15',
        'slept 20',
        'tick 21',
        'slept 30',
        'slept 40',
        'tick 41',
        'slept 45',
        'slept 50',
      ],
    );
  },
);

t.test('how late it is, in a hundredth of the time, whatever a round lasts', async (t) => {
  for (const calls of [ROUNDS_FROM - 1, ROUNDS_FROM, MANY_CALLS]) {
    const { loop, rounds } = opened();
    rounds.carry(calls);
    for (const stallsMs of [[30], [30, 30, 30, 30]]) {
      rounds.delay();
      const stalls = [...stallsMs];
      const endMs = loop.nowMs + 1_000;
      for (let turn = 0; loop.nowMs < endMs; turn++) {
        loop.readMs = 0;
        if (turn % 8 === 0) loop.nowMs += stalls.pop() ?? 0;
        loop.turn();
      }
      const { p99Ms, maxMs } = rounds.delay();
      t.ok(maxMs > 5, `${calls} calls: ${maxMs} ms at most`);
      if (stallsMs.length === 1) t.ok(p99Ms < 1, `${calls} calls: one stall in a second, p99 ${p99Ms} ms`);
      else t.ok(p99Ms > 5, `${calls} calls: four of them, p99 ${p99Ms} ms`);
    }
  }
});

t.test('a stall: no sleep after it, what was missed is left out, and it is known as lateness', async (t) => {
  const { loop, rounds } = opened();
  rounds.carry(MANY_CALLS);
  loop.turns(3);
  rounds.delay();
  loop.log.length = 0;
  loop.readMs = 47;
  loop.turn();
  loop.readMs = 1;
  loop.turns(2);
  t.same(loop.log, [
    'read 62',
    'tick 62',
    'tick 62',
    'tick 62',
    'read 63',
    'slept 65',
    'read 66',
    'slept 70',
  ]);
  const { maxMs } = rounds.delay();
  t.ok(maxMs > 41.9 && maxMs < 42.1, `began ${maxMs} ms after its time`);
  loop.turns(8);
  t.ok(rounds.delay().maxMs < 1, 'a reading begins anew, and sleep is no lateness');
});

t.test('a round that has hardly anything left to sleep does not', async (t) => {
  const { loop, rounds } = opened();
  loop.readMs = 4.9;
  rounds.carry(MANY_CALLS);
  loop.turn();
  loop.readMs = 1;
  loop.turn();
  t.same(loop.log, ['read 4.9', 'read 5.9', 'slept 10']);
});

t.test('calls come and go: from events to rounds and back, with no tick lost or doubled', async (t) => {
  const { loop, clock, rounds } = opened();
  const due: number[] = [];
  clock.add((nowMs) => void due.push(nowMs - 500));
  rounds.carry(1);
  loop.turn();
  rounds.carry(ROUNDS_FROM + 3);
  loop.turns(10);
  t.equal(loop.ordered, 'reading');
  rounds.carry(ROUNDS_FROM);
  t.equal(loop.ordered, 'reading');
  rounds.carry(ROUNDS_FROM - 1);
  loop.turn();
  t.equal(loop.ordered, 'timer');
  loop.turns(2);
  rounds.carry(ROUNDS_FROM);
  loop.turns(9);
  t.ok(due.length >= 6, `${due.length} ticks`);
  t.same(
    due,
    due.map((_, tick) => (tick + 1) * 20),
  );
});

t.test('stopped while it waits, and by its own tick: nothing more is ordered', async (t) => {
  for (const calls of [0, ROUNDS_FROM]) {
    const waiting = opened();
    waiting.rounds.carry(calls);
    waiting.rounds.close();
    t.equal(waiting.loop.ordered, null);

    const ticking = opened();
    ticking.rounds.carry(calls);
    ticking.clock.add(() => ticking.rounds.close());
    for (let turns = 0; ticking.loop.ordered !== null && turns < 10; turns++) ticking.loop.turn();
    t.equal(ticking.loop.ordered, null);
    ticking.rounds.carry(ROUNDS_FROM);
    t.equal(ticking.loop.ordered, null, 'nor by a call that comes too late');
  }
});

t.test('what a tick has begun goes on before the thread sleeps', async (t) => {
  const log: string[] = [];
  let nowMs = 500;
  const loop: Loop = {
    now: () => nowMs,
    sleep(ms) {
      nowMs += ms;
      log.push('slept');
    },
    afterReading(run) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
    after: () => () => {},
  };
  const clock = new ThreadClock(nowMs, (error) => t.fail(String(error)));
  const rounds = new Rounds(clock, loop);
  clock.add(() => {
    log.push('tick');
    Promise.resolve().then(() => log.push('promised'));
    process.nextTick(() => log.push('next tick'));
    setImmediate(() => log.push('immediate'));
  });
  rounds.carry(ROUNDS_FROM);
  while (log.length < 100) await new Promise((turn) => setImmediate(turn));
  rounds.close();
  const first = log.indexOf('tick');
  t.same(log.slice(first, first + 5), ['tick', 'next tick', 'promised', 'immediate', 'slept']);
});

t.test('a loop of its own: sockets, timers and messages have their turn in every round', async (t) => {
  const clock = new ThreadClock(performance.now(), (error) => t.fail(String(error)));
  const rounds = new Rounds(clock);
  t.teardown(() => rounds.close());
  rounds.carry(ROUNDS_FROM);
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const heard: unknown[] = [];
  await new Promise<void>((done) => {
    port2.on('message', (message) => {
      heard.push(message);
      if (heard.length === 20) done();
      else setTimeout(() => port1.postMessage(heard.length), 1);
    });
    port1.postMessage(0);
  });
  t.same(
    heard,
    heard.map((_, i) => i),
  );
});

t.test(
  'whoever is let in has the loop turn again before it sleeps, and no round comes later for it',
  async (t) => {
    const { loop, rounds } = opened();
    loop.readMs = 1;
    rounds.carry(MANY_CALLS);
    loop.turns(1);
    rounds.stir();
    loop.turns(3);
    t.same(loop.log, ['read 1', 'slept 5', 'read 6', 'read 7', 'slept 10', 'read 11', 'slept 15']);
  },
);
