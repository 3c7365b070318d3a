// The OpenAI Agents SDK's Twilio transport, as its documentation shows it but without a session around it, which would only
// cost more. The packages are the bench's own, in a folder outside the tree: see packages.ts.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';

interface Transport {
  on(event: string, listener: (event: unknown) => void): void;
  connect(o: Record<string, unknown>): Promise<void>;
  close(): void;
}
interface Extensions {
  TwilioRealtimeTransportLayer: new (o: { twilioWebSocket: WebSocket; url: string }) => Transport;
}

const [, , modelUrl = '', folder = ''] = process.argv;
const resolver = createRequire(join(folder, 'package.json'));
const extensions = (await import(
  pathToFileURL(resolver.resolve('@openai/agents-extensions')).href
)) as unknown as Extensions;

function bridge(carrier: WebSocket): void {
  const url = `${modelUrl}/realtime?model=bench`;
  const transport = new extensions.TwilioRealtimeTransportLayer({ twilioWebSocket: carrier, url });
  transport.on('error', (error) => {
    console.error('agents-bridge:', JSON.stringify(error).slice(0, 300));
  });
  transport
    .connect({ apiKey: 'sk-bench', model: 'bench', url, initialSessionConfig: { instructions: 'Be kind.' } })
    .catch((error: unknown) => {
      console.error('agents-bridge:', error);
      carrier.terminate();
    });
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', bridge);
server.on('listening', () => {
  const address = server.address();
  process.send?.({ listening: typeof address === 'object' ? address?.port : 0 });
});
process.on('disconnect', () => process.exit(0));
