import { LOCATIONS } from '../../problems/problem';

/** The components that the descriptions of refusals refer to. */
export const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'A refused request (RFC 9457).',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Identifies the kind of problem.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What happened, and what to do.' },
      instance: { type: 'string', description: 'The path of the request.' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/InvalidValue' } },
    },
  },
  InvalidValue: {
    type: 'object',
    required: ['name', 'in', 'detail'],
    properties: {
      name: { type: 'string', description: 'Name that the value was looked up under.' },
      in: { type: 'string', enum: [...LOCATIONS] },
      pointer: {
        type: 'string',
        description:
          'JSON Pointer (RFC 6901): the place in the JSON body, or in the JSON text that was sent as the value to ' +
          'which `in` and the beginning of `name` lead.',
      },
      detail: { type: 'string' },
    },
  },
};
