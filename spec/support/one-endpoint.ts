import type { RequestListener } from 'node:http';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import {
  bindRequest,
  type AnyType,
  type BindingOptions,
  type Claims,
  type Infer,
  type ProblemBody,
  type ProblemError,
} from '../../lib';
import { listen, send, type Listening, type WireRequest, type WireResponse } from './listen';

/** One request, in the words of the sources. At most one of `json`, `form`, `multipart` and `body` makes its body. */
export interface Sent {
  readonly method?: string;
  /** Path and query. Default `/`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; text is sent as it is. */
  readonly json?: unknown;
  /** Sent urlencoded; text is sent as it is. */
  readonly form?: string | readonly (readonly [name: string, value: string])[];
  /** Sent as multipart/form-data. */
  readonly multipart?: readonly (readonly [name: string, value: string | File])[];
  readonly body?: string | Buffer;
}

export interface EndpointOptions extends BindingOptions {
  readonly framework?: () => Express;
  /** Route template. Default `/`. */
  readonly route?: string | RegExp;
  /** What an authentication middleware would leave in `req.user`. */
  readonly user?: Claims;
  /** Mounted before `bindRequest`. */
  readonly before?: readonly RequestHandler[];
}

/** What became of one request. */
export interface Outcome<T> {
  readonly status: number;
  readonly response: WireResponse;
  /** What the handler saw, if it ran. */
  readonly dto: T | undefined;
  /** The refusal, if it was one. */
  readonly problem: ProblemBody | undefined;
  readonly errors: readonly ProblemError[];
}

export const urlEncoded = { allowFormData: { urlEncoded: true } } as const;

/** Sends one request over a socket to an application with one endpoint, `bindRequest(Dto, options)`. */
export async function bind<D extends AnyType>(
  Dto: D,
  sent: Sent = {},
  { framework = express, route = '/', user, before = [], ...options }: EndpointOptions = {},
): Promise<Outcome<Infer<D>>> {
  let dto: Infer<D> | undefined;
  const app = framework();
  app.use(
    (req: Request, _res: Response, next: NextFunction) => {
      if (user) Object.assign(req, { user });
      next();
    },
    ...before,
  );
  app.all(route, bindRequest(Dto, options), (req: Request, res: Response) => {
    dto = req.dto as Infer<D>;
    res.json(null);
  });
  // Express would print the error.
  app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
    if (res.headersSent) next(error);
    else res.status(500).end(error.message);
  });
  const response = await serving(app, async ({ url }) => send(url + (sent.path ?? '/'), await toWire(sent)));
  const problem = problemIn(response);
  return { status: response.status, response, dto, problem, errors: problem?.errors ?? [] };
}

export function problemIn({ headers, text }: WireResponse): ProblemBody | undefined {
  return text !== '' && headers['content-type']?.startsWith('application/problem+json')
    ? (JSON.parse(text) as ProblemBody)
    : undefined;
}

/** Serves an application while `use` runs. */
export async function serving<T>(app: RequestListener, use: (server: Listening) => Promise<T>): Promise<T> {
  const server = await listen(app);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

/** The request as it goes over the wire. */
export async function toWire({
  method = 'POST',
  headers = {},
  json,
  form,
  multipart,
  body,
}: Sent): Promise<WireRequest> {
  const withBody = (content: string | Buffer, type?: string): WireRequest => ({
    method,
    body: content,
    headers: {
      ...(type !== undefined && { 'Content-Type': type }),
      ...(!('Transfer-Encoding' in headers) && { 'Content-Length': String(Buffer.byteLength(content)) }),
      ...headers,
    },
  });
  if (json !== undefined) return withBody(typeof json === 'string' ? json : JSON.stringify(json), 'application/json');
  if (form !== undefined)
    return withBody(
      typeof form === 'string' ? form : new URLSearchParams(form.map(([name, value]) => [name, value])).toString(),
      'application/x-www-form-urlencoded',
    );
  if (multipart !== undefined) {
    const { type, bytes } = await encodeMultipart(multipart);
    return withBody(bytes, type);
  }
  return body === undefined ? { method, headers } : withBody(body);
}

/** A form as browsers send it. */
async function encodeMultipart(
  entries: readonly (readonly [name: string, value: string | File])[],
): Promise<{ type: string; bytes: Buffer }> {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value);
  }
  const encoded = new globalThis.Response(form);
  return { type: encoded.headers.get('content-type') ?? '', bytes: Buffer.from(await encoded.arrayBuffer()) };
}
