// The gate's transitions by table, and its promises under random events.
import t from 'tap';
import {
  createGate,
  type Gate,
  type GateEffect,
  type GateEvent,
  type GatePhase,
  gateBusy,
  gateDeadline,
  MAX_RETRIES,
  stepGate,
} from '../../../bridge/models/response-gate.ts';

const ASK = { instructions: 'hello', attempt: 0, resumes: false };
const gate = (phase: GatePhase, waiting: Gate['waiting'] = null): Gate => ({ phase, waiting, serial: 7 });
const requested = gate({ at: 'create_requested', eventId: 'create_7', ask: ASK, deadline: 8_000 });
const active = gate({ at: 'active', responseId: 'r1', ask: ASK, deadline: 8_000 });
const cancelling = gate({ at: 'cancel_requested', eventId: null, responseId: 'r1', deadline: 5_000 });
const cancelEarly = gate({ at: 'cancel_requested', eventId: 'create_7', responseId: null, deadline: 8_000 });
const backingOff = gate({ at: 'backing_off', ask: { ...ASK, attempt: 1 }, deadline: 500 });
const blocked = gate({ at: 'blocked', deadline: 15_000 });
const idle = gate({ at: 'idle' });
const offline = gate({ at: 'offline' });
const withWaiting = (one: Gate): Gate => ({ ...one, waiting: ASK });
const refused = (
  why: 'already_active' | 'failed',
  eventId: string | null = 'create_7',
  retryAfterMs: number | null = null,
): GateEvent => ({
  type: 'create-refused',
  eventId,
  why,
  code: 'x',
  retryAfterMs,
});
const done = (
  responseId: string,
  requestId: string | null = null,
  retryAfterMs: number | null = null,
): GateEvent => ({ type: 'done', responseId, requestId, retryAfterMs });

type Case = [
  name: string,
  from: Gate,
  event: GateEvent,
  to: string,
  waits: boolean,
  effects: string[],
  now?: number,
];
const cases: Case[] = [
  [
    'idle + ask -> create_requested',
    idle,
    { type: 'ask', instructions: 'hello' },
    'create_requested',
    false,
    ['create'],
  ],
  ['offline + ask -> waits', offline, { type: 'ask', instructions: null }, 'offline', true, []],
  [
    'offline + online, one waits -> create_requested',
    withWaiting(offline),
    { type: 'online' },
    'create_requested',
    false,
    ['create'],
  ],
  ['offline + online -> idle', offline, { type: 'online' }, 'idle', false, []],
  ['active + ask -> waits', active, { type: 'ask', instructions: null }, 'active', true, []],
  [
    'create_requested + created -> active',
    requested,
    { type: 'created', responseId: 'r1', requestId: 'create_7' },
    'active',
    false,
    ['started'],
  ],
  [
    'create_requested + created without metadata -> active',
    requested,
    { type: 'created', responseId: 'r1', requestId: null },
    'active',
    false,
    ['started'],
  ],
  [
    'create_requested + created of another request -> drops it',
    requested,
    { type: 'created', responseId: 'r0', requestId: 'create_6' },
    'create_requested',
    false,
    ['discard', 'cancel'],
  ],
  [
    'idle + created by the server itself -> active',
    idle,
    { type: 'created', responseId: 'r1', requestId: null },
    'active',
    false,
    ['started'],
  ],
  [
    'active + created again -> nothing',
    active,
    { type: 'created', responseId: 'r1', requestId: null },
    'active',
    false,
    [],
  ],
  ['active + done -> idle', active, done('r1'), 'idle', false, []],
  ['active + done of another -> nothing', active, done('r0'), 'active', false, []],
  [
    'active + done, one waits -> create_requested',
    withWaiting(active),
    done('r1'),
    'create_requested',
    false,
    ['create'],
  ],
  ['active + done that passes -> backing_off', active, done('r1', null, 500), 'backing_off', false, []],
  [
    'active + done that passes, one waits -> create_requested',
    withWaiting(active),
    done('r1', null, 500),
    'create_requested',
    false,
    ['create'],
  ],
  [
    'create_requested + done of it without created -> idle',
    requested,
    done('r1', 'create_7'),
    'idle',
    false,
    [],
  ],
  ['create_requested + done of a stranger -> nothing', requested, done('r0'), 'create_requested', false, []],
  [
    'active + interrupt -> cancel_requested',
    withWaiting(active),
    { type: 'interrupt' },
    'cancel_requested',
    false,
    ['discard', 'cancel'],
  ],
  [
    'create_requested + interrupt -> cancel_requested, nothing sent',
    requested,
    { type: 'interrupt' },
    'cancel_requested',
    false,
    [],
  ],
  [
    'cancel_requested early + created -> cancels it',
    cancelEarly,
    { type: 'created', responseId: 'r1', requestId: 'create_7' },
    'cancel_requested',
    false,
    ['discard', 'cancel'],
  ],
  ['cancel_requested early + done -> idle', cancelEarly, done('r1', 'create_7'), 'idle', false, []],
  ['cancel_requested + done -> idle', cancelling, done('r1'), 'idle', false, []],
  [
    'cancel_requested + done, one waits -> create_requested',
    withWaiting(cancelling),
    done('r1'),
    'create_requested',
    false,
    ['create'],
  ],
  ['cancel_requested + done of another -> nothing', cancelling, done('r0'), 'cancel_requested', false, []],
  ['cancel_requested + cancel refused -> idle', cancelling, { type: 'cancel-refused' }, 'idle', false, []],
  [
    'cancel_requested early + cancel refused -> nothing',
    cancelEarly,
    { type: 'cancel-refused' },
    'cancel_requested',
    false,
    [],
  ],
  ['idle + cancel refused -> nothing', idle, { type: 'cancel-refused' }, 'idle', false, []],
  ['cancel_requested early + create refused -> idle', cancelEarly, refused('failed'), 'idle', false, []],
  [
    'cancel_requested + created of another -> drops it',
    cancelling,
    { type: 'created', responseId: 'r9', requestId: 'create_3' },
    'cancel_requested',
    false,
    ['discard', 'cancel'],
  ],
  ['idle + interrupt -> nothing', idle, { type: 'interrupt' }, 'idle', false, []],
  [
    'offline + interrupt -> forgets what waits',
    withWaiting(offline),
    { type: 'interrupt' },
    'offline',
    false,
    [],
  ],
  ['backing_off + interrupt -> idle', backingOff, { type: 'interrupt' }, 'idle', false, []],
  [
    'create_requested + already active -> blocked, waits',
    requested,
    refused('already_active'),
    'blocked',
    true,
    [],
  ],
  [
    'create_requested + already active, unnamed -> blocked, waits',
    requested,
    refused('already_active', null),
    'blocked',
    true,
    [],
  ],
  [
    'create_requested + error about another event -> nothing',
    requested,
    refused('failed', 'create_6'),
    'create_requested',
    false,
    [],
  ],
  ['create_requested + refused -> idle', requested, refused('failed'), 'idle', false, ['refused']],
  [
    'create_requested + refused for a rate -> backing_off',
    requested,
    refused('failed', 'create_7', 300),
    'backing_off',
    false,
    [],
  ],
  ['active + late refusal -> nothing', active, refused('failed'), 'active', false, []],
  [
    'blocked + any done -> create_requested',
    withWaiting(blocked),
    done('r?'),
    'create_requested',
    false,
    ['create'],
  ],
  [
    'blocked + interrupt -> forgets what waits',
    withWaiting(blocked),
    { type: 'interrupt' },
    'blocked',
    false,
    [],
  ],
  [
    'create_requested + deadline -> stalled',
    requested,
    { type: 'deadline', progressAt: 0 },
    'create_requested',
    false,
    ['stalled'],
    8_000,
  ],
  [
    'create_requested + early deadline -> nothing',
    requested,
    { type: 'deadline', progressAt: 0 },
    'create_requested',
    false,
    [],
    7_999,
  ],
  [
    'active + deadline, it goes on -> active',
    active,
    { type: 'deadline', progressAt: 4_000 },
    'active',
    false,
    [],
    8_000,
  ],
  [
    'active + deadline, it does not -> stalled',
    active,
    { type: 'deadline', progressAt: 0 },
    'active',
    false,
    ['stalled'],
    8_000,
  ],
  [
    'cancel_requested + deadline -> idle',
    cancelling,
    { type: 'deadline', progressAt: 0 },
    'idle',
    false,
    [],
    5_000,
  ],
  [
    'cancel_requested early + deadline -> stalled',
    cancelEarly,
    { type: 'deadline', progressAt: 0 },
    'cancel_requested',
    false,
    ['stalled'],
    8_000,
  ],
  [
    'backing_off + deadline -> create_requested',
    backingOff,
    { type: 'deadline', progressAt: 0 },
    'create_requested',
    false,
    ['create'],
    500,
  ],
  [
    'blocked + deadline -> stalled',
    blocked,
    { type: 'deadline', progressAt: 0 },
    'blocked',
    false,
    ['stalled'],
    15_000,
  ],
  ['idle + deadline -> nothing', idle, { type: 'deadline', progressAt: 0 }, 'idle', false, [], 99_999],
  [
    'create_requested + lost -> waits for a new session',
    requested,
    { type: 'lost', again: true },
    'offline',
    true,
    [],
  ],
  ['active + lost -> waits for a new session', active, { type: 'lost', again: true }, 'offline', true, []],
  [
    'active + lost, it gave what it was for -> offline',
    active,
    { type: 'lost', again: false },
    'offline',
    false,
    [],
  ],
  ['cancel_requested + lost -> offline', cancelling, { type: 'lost', again: true }, 'offline', false, []],
  [
    'cancel_requested + lost, one waits -> it waits on',
    withWaiting(cancelling),
    { type: 'lost', again: true },
    'offline',
    true,
    [],
  ],
  [
    'backing_off + lost -> waits for a new session',
    backingOff,
    { type: 'lost', again: true },
    'offline',
    true,
    [],
  ],
  ['idle + lost -> offline', idle, { type: 'lost', again: true }, 'offline', false, []],
];

t.test('transitions', async (t) => {
  for (const [name, from, event, to, waits, effects, now = 0] of cases) {
    const before = structuredClone(from);
    const stepped = stepGate(from, event, now);
    t.same(
      [stepped.gate.phase.at, stepped.gate.waiting !== null, stepped.effects.map((effect) => effect.do)],
      [to, waits, effects],
      name,
    );
    t.same(from, before, `${name}: the state before is not touched`);
  }
});

t.test('what is asked on a new session is what was asked, and says that it resumes', async (t) => {
  const { gate: waiting } = stepGate(active, { type: 'lost', again: true }, 0);
  const { effects } = stepGate(waiting, { type: 'online' }, 0);
  t.match(effects, [{ do: 'create', instructions: 'hello', resumes: true }]);
});

t.test('a retry is made so often and no more', async (t) => {
  let state = stepGate(idle, { type: 'ask', instructions: null }, 0).gate;
  for (let n = 0; n <= MAX_RETRIES; n++) {
    state = stepGate(state, { type: 'created', responseId: `r${n}`, requestId: null }, 0).gate;
    state = stepGate(state, done(`r${n}`, null, 10), 0).gate;
    t.equal(state.phase.at, n < MAX_RETRIES ? 'backing_off' : 'idle');
    if (n < MAX_RETRIES) state = stepGate(state, { type: 'deadline', progressAt: 0 }, 10).gate;
  }
});

t.test(
  'whatever comes: one create at a time, none while a response runs, and busy until all is over',
  async (t) => {
    let random = 42;
    const next = (below: number) => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fffffff;
      return random % below;
    };
    let wrong = 0;
    for (let run = 0; run < 300; run++) {
      let state = createGate();
      let now = 0;
      /** What a server would be doing. */
      let asked: string | null = null;
      let running: string | null = null;
      let responses = 0;
      const perform = (effects: GateEffect[]) => {
        for (const effect of effects) {
          if (effect.do === 'create') {
            if (asked !== null || running !== null) wrong++;
            asked = effect.eventId;
          }
          if (effect.do === 'cancel' && effect.responseId !== running) wrong++;
        }
      };
      const send = (event: GateEvent) => {
        const stepped = stepGate(state, event, now);
        state = stepped.gate;
        perform(stepped.effects);
      };
      send({ type: 'online' });
      for (let n = 0; n < 60; n++) {
        now += next(50);
        const choice = next(5);
        if (choice === 0) send({ type: 'ask', instructions: null });
        else if (choice === 1) send({ type: 'interrupt' });
        else if (choice === 2 && asked !== null) {
          running = `r${responses++}`;
          const requestId: string = asked;
          asked = null;
          send({ type: 'created', responseId: running, requestId });
        } else if (choice === 3 && running !== null) {
          const responseId: string = running;
          running = null;
          send(done(responseId));
        } else send({ type: 'deadline', progressAt: now });
        if ((asked !== null || running !== null) !== (gateBusy(state) && state.phase.at !== 'idle')) wrong++;
        if (gateDeadline(state) === null && gateBusy(state) && state.phase.at !== 'offline') wrong++;
      }
    }
    t.equal(wrong, 0);
  },
);
