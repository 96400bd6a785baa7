import type { RecordedResponse } from '../responses/recorded-response';

/** Of the text of a stored response, which is JSON. */
const VERSION = 1;

/**
 * Writes a response as it is stored in Keyv: as text, which every serialiser supports. (Keyv's own takes ten times as
 * long for the object, 13 µs.) It names its own key, because a client of the store that has lost count of its answers
 * returns the answer to another question.
 */
export function toStored(key: string, response: RecordedResponse): string {
  return JSON.stringify({ version: VERSION, key, ...response, body: response.body.toString('base64') });
}

/**
 * Reads a stored response.
 * @returns undefined for anything else.
 * @throws Error for the response of another key: it is the answer to another question, so it says nothing of this one.
 */
export function fromStored(key: string, stored: unknown): RecordedResponse | undefined {
  const { version, key: own, ...response } = partsOf(stored);
  if (version !== VERSION || typeof own !== 'string' || !isResponse(response)) return undefined;
  if (own !== key)
    throw new Error(
      `The store was asked for the response of ${key}, and answered with that of ${own}: its client has lost ` +
        'count of its answers. Connect it anew.',
    );
  return { ...response, body: Buffer.from(response.body, 'base64') };
}

function partsOf(stored: unknown): Readonly<Record<string, unknown>> {
  try {
    return Object(typeof stored === 'string' ? JSON.parse(stored) : undefined) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** Returns true for the parts of a response; node checks the text of its head when it is sent. */
function isResponse(
  parts: Readonly<Record<string, unknown>>,
): parts is Omit<RecordedResponse, 'body'> & { readonly body: string } & typeof parts {
  const { status, headers, trailers, body } = parts;
  return Number.isInteger(status) && Array.isArray(headers) && Array.isArray(trailers) && typeof body === 'string';
}
