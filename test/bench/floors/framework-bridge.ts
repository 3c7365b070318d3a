// realtime-voice-agents: an open framework of npm whose telephony path is a Twilio media socket, as its documentation shows it. It
// paces nothing and has no ear of its own, but follows what is played by marks. The package is the bench's own: see packages.ts.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';

interface Framework {
  Agent: new (o: { name: string; instructions: string; voice: string }) => object;
  TwilioRealtimeBridge: new (o: {
    agent: object;
    provider: unknown;
    session: { greeting: { mode: 'user-initiates' } };
  }) => { handleConnection(socket: WebSocket): void };
}
interface Provider {
  openaiRealtime(o: { apiKey: string; model: string; baseUrl: string }): unknown;
}

const [, , modelUrl = '', folder = ''] = process.argv;
const resolver = createRequire(join(folder, 'package.json'));
const load = async <T>(name: string) => (await import(pathToFileURL(resolver.resolve(name)).href)) as T;
const { Agent, TwilioRealtimeBridge } = await load<Framework>('realtime-voice-agents');
const { openaiRealtime } = await load<Provider>('realtime-voice-agents/openai');

const bridge = new TwilioRealtimeBridge({
  agent: new Agent({ name: 'Bench', instructions: 'Be kind.', voice: 'marin' }),
  provider: openaiRealtime({ apiKey: 'sk-bench', model: 'bench', baseUrl: `${modelUrl}/realtime` }),
  session: { greeting: { mode: 'user-initiates' } },
});
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => bridge.handleConnection(socket));
server.on('listening', () => {
  const address = server.address();
  process.send?.({ listening: typeof address === 'object' ? address?.port : 0 });
});
process.on('disconnect', () => process.exit(0));
