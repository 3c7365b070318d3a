// The browser as a carrier is what every carrier is; nobody is behind it but the page that opened the call.
import t from 'tap';
import { openBrowser } from '../../../../bridge/carriers/browser/carrier.ts';
import { carrierConformance } from '../conformance.ts';

carrierConformance(t, async () => {
  const carrier = openBrowser({ lastSeen: async () => null });
  await carrier.open(async () => {});
  return {
    carrier,
    told: [],
    media: [],
    stream: { callId: 'c', url: 'ws://127.0.0.1/media/1/browser/c', token: 'one-time' },
    onWaiting() {},
    until: async () => {},
    world: null,
  };
});
