import { promisify } from 'node:util';

const nextTick = process.nextTick.bind(process);
const { setImmediate } = globalThis;

/**
 * Steps between two events of node's streams: node's own functions, kept when the library is loaded. Test suites
 * replace them by fakes, Jest with all fake timers even `process.nextTick`, but node's streams do not wait for fakes.
 * Timers, and the step after one, are called by their global names, so that fake time reaches them.
 */
export const steps = { nextTick, setImmediate, nextTurn: promisify(setImmediate) };
