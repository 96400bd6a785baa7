import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/**
 * Returns false for a request that came over no socket. Adapters (of AWS Lambda, or of tests) make such requests; they
 * look for the end of the response in ways of their own.
 */
export const cameOverSocket = ({ socket }: IncomingMessage): boolean => socket instanceof Socket;
