import { backingStoreOf, isMapLike, type KeyvLike } from './keyv-like';

/** @throws TypeError for a store that looks shared and is the memory of this process. */
export function refuseIgnoredAddress(store: KeyvLike): void {
  const address = ignoredAddress(store);
  if (address === undefined) return;
  // The rest of an address may contain a password.
  const scheme = /^[a-z]+:(?=\/\/)/i.exec(address)?.[0] ?? '';
  throw new TypeError(
    `idempotency: store is a Keyv in memory: Keyv 5 ignores the address ${JSON.stringify(`${scheme}//…`)} that it ` +
      'was given, so processes would not share it. Write new Keyv(new KeyvRedis(address)), with KeyvRedis of ' +
      '@keyv/redis.',
  );
}

/**
 * Finds the address of a server that a Keyv in memory was given and ignores: up to Keyv 4, `new Keyv('redis://…')` was
 * a Keyv on Redis. (Keyv 5 still shows it among its options, a text character by character; Keyv 6 does not.)
 */
function ignoredAddress(keyv: KeyvLike): string | undefined {
  if (!isMapLike(backingStoreOf(keyv))) return undefined;
  const { uri, url, ...others } = Object((keyv as { opts?: unknown }).opts) as Readonly<Record<string, unknown>>;
  const characters = Object.keys(others).filter(name => /^\d+$/.test(name));
  const text = uri ?? url ?? characters.map(name => others[name]).join('');
  return typeof text === 'string' && text !== '' ? text : undefined;
}
