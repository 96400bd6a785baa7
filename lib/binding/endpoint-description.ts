import { Descriptions } from '../description/descriptions';
import type { Endpoint } from './input/endpoint';
import type { OperationOptions } from './operation-options';
import type { ResponseCodecs } from './responses/json-writer';

/** The description of an endpoint: what it says about itself. */
export interface EndpointDescription {
  readonly endpoint: Endpoint;
  readonly responses: ResponseCodecs;
  readonly operation: OperationOptions;
  /** The option as it was given; undefined if the default applies. */
  readonly allowAnonymous: boolean | undefined;
}

/** The descriptions of all endpoints, for the API description. */
export const endpoints = new Descriptions<EndpointDescription>('binding');
