// The control plane over a store that answers late, and does what nobody waited for in any order: its suites as they are, and
// what only shows where answers overtake each other. LATE_STORE in the environment has another seed, or another lateness.
import { beLate } from '../storage/late-switch.ts';

beLate('0-20turns@20261104');

await import('./api/agents.test.ts');
await import('./api/numbers.test.ts');
await import('./api/webhook-endpoints.test.ts');
await import('./api/calls.test.ts');
await import('./api/events.test.ts');
await import('./http/idempotency.test.ts');
await import('./webhooks/dispatcher.test.ts');
