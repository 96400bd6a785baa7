import type { Express, Request } from 'express';
import { problemDetails } from '../../../lib';
import { ask, problemIn } from '../../support/ask';

/** Returns the answer to `GET path` of an endpoint without a dto, whose handler answers with what `read` makes of the request. */
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
  return answer.status === 200 ? (answer.body as object) : { status: answer.status, ...(errors && { errors }) };
}
