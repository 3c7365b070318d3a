// The gate, driven breadth first through every event in every state it can reach: answers to the create at hand, to another,
// and to none; two responses; deadlines that come with and without progress; sessions lost and found.
import t from 'tap';
import {
  createGate,
  type Gate,
  type GateEvent,
  type GateStep,
  gateBusy,
  gateDeadline,
  MAX_RETRIES,
  stepGate,
} from '../../../bridge/models/response-gate.ts';
import { Drawing } from '../../states/drawing.ts';

const NOW = 1_000_000;
/** From any state on, deadlines alone: retries, then a stall or rest. */
const BOUND = MAX_RETRIES + 6;

/** The same state whatever it was numbered; times stay relative to now. */
function settled(gate: Gate, now: number): Gate {
  const { phase } = gate;
  return {
    ...gate,
    serial: 7,
    phase: {
      ...phase,
      ...('eventId' in phase && phase.eventId !== null ? { eventId: 'create_7' } : {}),
      ...('deadline' in phase ? { deadline: phase.deadline - now + NOW } : {}),
    } as Gate['phase'],
  };
}

function eventsFor(gate: Gate): GateEvent[] {
  const own = 'eventId' in gate.phase ? gate.phase.eventId : null;
  const requests = [...new Set([null, own, 'create_1'])];
  const responses = ['A', 'B'];
  return [
    { type: 'ask', instructions: null },
    { type: 'ask', instructions: 'Greet.' },
    { type: 'interrupt' },
    ...responses.flatMap((responseId) =>
      requests.flatMap((requestId): GateEvent[] => [
        { type: 'created', responseId, requestId },
        { type: 'done', responseId, requestId, retryAfterMs: null },
        { type: 'done', responseId, requestId, retryAfterMs: 500 },
      ]),
    ),
    ...requests.flatMap((eventId) =>
      (['already_active', 'failed'] as const).flatMap((why) =>
        [null, 500].map(
          (retryAfterMs): GateEvent => ({ type: 'create-refused', eventId, why, code: 'x', retryAfterMs }),
        ),
      ),
    ),
    { type: 'cancel-refused' },
    { type: 'deadline', progressAt: NOW },
    { type: 'deadline', progressAt: 0 },
    { type: 'online' },
    { type: 'lost', again: true },
    { type: 'lost', again: false },
  ];
}

function wrongs(before: Gate, event: GateEvent, { gate, effects }: GateStep): string[] {
  const wrong: string[] = [];
  const creates = effects.filter((effect) => effect.do === 'create');
  if (creates.length > 1) wrong.push('asks twice at once');
  const [create] = creates;
  if (create !== undefined) {
    if (gate.phase.at !== 'create_requested' || gate.phase.eventId !== create.eventId)
      wrong.push('asks, and does not wait for the answer');
    // What is under way is over with this event, or a deadline has come for asking again.
    const rests = before.phase.at === 'idle' || before.phase.at === 'offline';
    const ends = ['done', 'create-refused', 'cancel-refused', 'deadline', 'online'].includes(event.type);
    if (!rests && !ends) wrong.push(`asks while a response is ${before.phase.at}`);
  }
  if (before.phase.at === 'offline' && event.type !== 'online' && effects.length > 0)
    wrong.push('tells something to no session');
  const dropped = before.waiting !== null && gate.waiting === null;
  const told = create !== undefined && create.instructions === before.waiting?.instructions;
  if (dropped && !told && event.type !== 'interrupt') wrong.push('what waits is forgotten');
  if (event.type === 'ask' && !gateBusy(gate)) wrong.push('nothing comes of what was asked');
  if (event.type === 'interrupt' && gate.waiting !== null) wrong.push('what was interrupted waits on');
  if ('ask' in gate.phase && (gate.phase.ask?.attempt ?? 0) > MAX_RETRIES) wrong.push('tries for ever');
  const under = !['idle', 'offline'].includes(gate.phase.at);
  if (under && gateDeadline(gate) === null) wrong.push(`${gate.phase.at} has no end`);
  const started = effects.filter((effect) => effect.do === 'started').length;
  if (started > 0 && before.phase.at === 'active' && gate.phase.at === 'active')
    if (before.phase.responseId === gate.phase.responseId) wrong.push('begins twice');
  return wrong;
}

/** Nothing more is heard of the server: how many deadlines until it is told to be of no use, or nothing is due. */
function rests(from: Gate): number | null {
  let gate = from;
  let now = NOW;
  for (let n = 0; n <= BOUND; n++) {
    if (gate.phase.at === 'offline' || (gate.phase.at === 'idle' && gate.waiting === null)) return n;
    const deadline = gateDeadline(gate);
    if (deadline === null) return null;
    now = Math.max(now, deadline);
    const next = stepGate(gate, { type: 'deadline', progressAt: 0 }, now);
    if (next.effects.some((effect) => effect.do === 'stalled')) return n;
    gate = next.gate;
  }
  return null;
}

t.test('every event in every state', async (t) => {
  const start = createGate();
  const seen = new Map<string, string[]>([[JSON.stringify(start), []]]);
  const found: string[] = [];
  const phases = new Set<string>();
  const drawing = new Drawing('gate', start.phase.at);
  let steps = 0;
  for (let frontier = [start]; frontier.length > 0 && found.length === 0; ) {
    const further: Gate[] = [];
    for (const gate of frontier) {
      const path = seen.get(JSON.stringify(gate)) ?? [];
      phases.add(gate.phase.at);
      if (rests(gate) === null) found.push(`time alone leads nowhere: ${path.join(' ')}`);
      for (const event of eventsFor(gate)) {
        for (const now of event.type === 'deadline' ? [NOW, gateDeadline(gate) ?? NOW] : [NOW]) {
          steps++;
          const next = stepGate(gate, event, now);
          drawing.arrow(gate.phase.at, event.type, next.gate.phase.at);
          const after = [...path, JSON.stringify(event)];
          for (const wrong of wrongs(gate, event, next)) found.push(`${wrong}: ${after.join(' ')}`);
          const state = settled(next.gate, now);
          const key = JSON.stringify(state);
          if (seen.has(key)) continue;
          seen.set(key, after);
          further.push(state);
        }
      }
    }
    frontier = further;
  }
  t.same(found.slice(0, 3), [], `${found.length} wrong`);
  t.equal(phases.size, 7, [...phases].join(' '));
  drawing.hold(t);
  t.comment(`note: ${seen.size} states, ${steps} steps`);
});
