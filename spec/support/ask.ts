import type { Express, Request } from 'express';
import type { RequestListener } from 'node:http';
import { problemDetails } from '../../lib';
import { send, type WireResponse } from './listen';
import { problemIn, serving, toWire, type Sent } from './one-endpoint';

/** Sends one request to an application, where `bind` does not do: an endpoint that answers, or one without a dto. */
export async function ask(app: RequestListener, sent: Sent): Promise<WireResponse> {
  return serving(app, async ({ url }) => send(url + (sent.path ?? '/'), await toWire(sent)));
}

/** What becomes of `GET path` at an endpoint without a dto, whose handler answers with what `read` makes of the request. */
export async function asking(
  framework: () => Express,
  route: string,
  path: string,
  read: (req: Request) => unknown,
): Promise<object> {
  const app = framework();
  // JSON knows no undefined.
  app.get(route, (req: Request, res) => {
    res.json({ value: read(req) ?? 'nothing' });
  });
  app.use(problemDetails());
  const answer = await ask(app, { method: 'GET', path });
  const errors = problemIn(answer)?.errors;
  return answer.status === 200
    ? (JSON.parse(answer.text) as object)
    : { status: answer.status, ...(errors && { errors }) };
}
