import { namingErrors } from '../../binding/declaration/declaration-error';
import type { Endpoint } from '../../binding/endpoint';
import type { Codec } from '../../binding/types/codec';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import type { Components } from '../schemas/components';

/** Describes the responses of the handler: those that the endpoints declare, else that there is one. */
export function responsesOf(
  endpoints: readonly Endpoint[],
  guard: ResolvedOptions | undefined,
  components: Components,
): Record<string, object> {
  const schemas = components.schemasFor('response');
  const headers = guard && replayHeaders(guard);
  const contentOf = (status: number, codec: Codec): object => ({
    'application/json': { schema: namingErrors(`response ${status}`, () => schemas.of(codec)) },
  });
  // Each endpoint makes `res.json()` write its own; the last one that declares a status writes it.
  const codecs = new Map(endpoints.flatMap(({ responses }) => [...responses]));
  const declared = [...codecs].map(([status, codec]): [string, object] => [
    String(status),
    {
      description: descriptionOf(status),
      ...(headers && { headers }),
      // RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5: these have none, whatever the handler passes.
      ...(![204, 205, 304].includes(status) && { content: contentOf(status, codec) }),
    },
  ]);
  const responses = Object.fromEntries(declared);
  const hasSuccess = declared.some(([status]) => /^[23]/.test(status));
  return hasSuccess
    ? responses
    : {
        ...responses,
        '2XX': { description: 'The response of the handler.', ...(headers && { headers }), content: ANY },
      };
}

/** Content of any type. Without it, a response has no body to generated clients. */
const ANY = { '*/*': { schema: {} } };

const descriptionOf = (status: number): string =>
  status < 300
    ? 'The request was carried out.'
    : status < 400
      ? 'The result is at another address.'
      : 'The request failed.';

/** Describes the headers that tell a replay from a first response. */
function replayHeaders({ headerName, addHeaderToResponse, replayedHeader }: ResolvedOptions): object {
  return {
    ...(addHeaderToResponse && {
      [headerName]: { description: 'The key of the request.', schema: { type: 'string' } },
    }),
    ...(replayedHeader !== false && {
      [replayedHeader]: {
        description: 'true if the response is that of an earlier request with this key.',
        schema: { type: 'string', enum: ['true'] },
      },
    }),
  };
}

/** Joins refusals and declared responses: a status can be both, and its content may then be either. */
export function withRefusals(
  refusals: Record<string, object>,
  declared: Record<string, object>,
): Record<string, object> {
  const all: Record<string, object> = { ...refusals, ...declared };
  for (const [status, response] of Object.entries(declared)) {
    const refusal = refusals[status];
    if (refusal) all[status] = { ...refusal, ...response, content: { ...contentOf(refusal), ...contentOf(response) } };
  }
  return all;
}

const contentOf = (response: object): object => (response as { readonly content?: object }).content ?? {};
