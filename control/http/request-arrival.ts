// A request as the rules of where it comes from see it.
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config.ts';
import type { Arrival, HostRules } from './request-origin.ts';

export const arrivalOf = ({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Arrival => ({
  headers,
  remoteAddress: socket.remoteAddress,
  localAddress: socket.localAddress,
  localPort: socket.localPort,
});

export const hostRules = (config: Pick<Config, 'PUBLIC_URL' | 'ALLOWED_HOSTS'>): HostRules => ({
  publicUrl: config.PUBLIC_URL,
  allowed: config.ALLOWED_HOSTS,
});
