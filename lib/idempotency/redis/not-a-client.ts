import { isThenable } from '../../basics/awaitable';
import { isKeyvLike } from '../stores/keyv-like';

/** Makes the error for a value that is not a client; it says what was passed, and what to pass instead. */
export function notAClient(given: unknown): TypeError {
  return new TypeError(
    `redisLeases: client must be a client of node-redis, ioredis or iovalkey, not ${what(given)}. ` +
      'For example: createClient({ url }) of redis, or new Redis(url) of ioredis.',
  );
}

/** Names the value, but quotes no text: the URL of a server has its password. */
function what(given: unknown): string {
  if (typeof given === 'string') return 'text: make a client with it first, for example createClient({ url })';
  if (typeof given === 'function') return 'a function: call it, and pass the client that it returns';
  if (typeof given !== 'object' || given === null) return String(given);
  if (isThenable(given)) return 'a promise: await it first';
  if (isKeyvLike(given)) return 'a Keyv store: pass that as `store`, and `leases` are made from it; or pass its client';
  if ('client' in given) return 'an object with `client`: pass the client itself, redisLeases(client)';
  return `an object without ${['eval', 'connect', 'isOpen'].filter(name => !(name in given)).join(', ')}`;
}
