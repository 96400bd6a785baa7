import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** An application behind a real socket on a free port of the loopback interface. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

/**
 * Serves an application under a host name that belongs to the port, as a proxy in front of it would: a loopback host takes no
 * part in a request's identity, and the specs of one process share the default store.
 */
export async function listen(app: RequestListener): Promise<Listening> {
  // Node would close a connection that is not used for 5 seconds: a client that stands still for so long loses it.
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    if (req.headers.host === `127.0.0.1:${port}`) req.headers.host = `service-${port}.example`;
    app(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A response as it came over the wire. */
export interface WireResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  /** Header lines in the order and spelling sent, without Date, Connection, Keep-Alive and Transfer-Encoding. */
  readonly lines: readonly string[];
  readonly body: Buffer;
  readonly text: string;
  readonly trailers: NodeJS.Dict<string>;
}

export interface WireRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

const PER_EXCHANGE = /^(date|connection|keep-alive|transfer-encoding):/i;

/** Sends one request on a connection of its own. Rejects when the response is cut off. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, body }: WireRequest = {},
): Promise<WireResponse> {
  const sent = request(url, { method, headers: headers as Record<string, string>, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A refused body may not have been sent to its end when the server closes.
  sent.on('error', () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (!response.complete) throw new Error('The response was cut off');
  const bytes = Buffer.concat(chunks);
  const pairs = response.rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${response.rawHeaders[index + 1]}`] : [],
  );
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? '',
    headers: response.headers,
    lines: pairs.filter(line => !PER_EXCHANGE.test(line)),
    body: bytes,
    text: bytes.toString('utf8'),
    trailers: response.trailers,
  };
}
