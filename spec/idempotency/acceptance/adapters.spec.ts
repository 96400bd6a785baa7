import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import express, { type Express } from 'express';
import inject from 'light-my-request';
import serverlessHttp from 'serverless-http';
import { bindRequest, dto, idempotency, int } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { TemporaryDirectory } from '../../support/temporary-directory';

// Its types need those of AWS Lambda.
const codegenie = createRequire(__filename)('@codegenie/serverless-express') as {
  configure(options: { app: Express }): (event: object, context: object) => Promise<LambdaAnswer>;
};

/** What the specs look at of an answer. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly isReplay: boolean;
}

type Post = (path: string, key: string, body: string, type?: string) => Promise<Answer>;

const headersWith = (key: string, type = 'application/json') => ({
  'idempotency-key': key,
  'content-type': type,
  host: 'shop.example',
});

/** An event of an AWS API Gateway (payload format 2.0). */
const eventOf = (path: string, key: string, body: string, type?: string) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { ...headersWith(key, type), 'content-length': String(body.length) },
  requestContext: {
    http: { method: 'POST', path, sourceIp: '127.0.0.1', protocol: 'HTTP/1.1' },
    domainName: 'shop.example',
    stage: '$default',
    timeEpoch: 0,
  },
  body,
  isBase64Encoded: false,
});

interface LambdaAnswer {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

const answerOf = ({ statusCode, body, headers }: LambdaAnswer): Answer => ({
  status: statusCode,
  text: body,
  isReplay: headers['idempotent-replayed'] === 'true',
});

/** Adapters call an application without a server, with requests and responses of their own. */
const adapters: readonly [name: string, of: (app: Express) => Post][] = [
  [
    'serverless-http',
    app => {
      const handler = serverlessHttp(app);
      return async (...request) => answerOf((await handler(eventOf(...request), {})) as LambdaAnswer);
    },
  ],
  [
    '@codegenie/serverless-express',
    app => {
      const handler = codegenie.configure({ app });
      return async (...request) => answerOf(await handler(eventOf(...request), {}));
    },
  ],
  [
    'light-my-request',
    app => async (path, key, payload, type) =>
      answerOf(await inject(app, { method: 'POST', url: path, headers: headersWith(key, type), payload })),
  ],
];

class Payment extends dto({ amount: int }) {}

const uploads = new TemporaryDirectory();

afterAll(() => {
  uploads.remove();
});

describe.each(expressVersions)('on %s', (_version, versionOfExpress) => {
  describe.each(adapters)('behind %s', (_name, of) => {
    it.each([
      ['before the parser', [idempotency(), express.json()]],
      ['behind the parser', [express.json(), idempotency()]],
    ])('a payment is made once, and two payments are two, with idempotency() %s', async (_where, middlewares) => {
      let runs = 0;
      const app = versionOfExpress();
      for (const middleware of middlewares) app.use(middleware);
      app.post(
        '/payments',
        (req, res) => void res.status(201).json({ run: ++runs, paid: (req.body as Payment).amount }),
      );
      const post = of(app);
      const answers: Answer[] = [];
      const key = randomUUID();
      for (const amount of [1, 999, 1]) answers.push(await post('/payments', key, JSON.stringify({ amount })));
      const first: Answer = { status: 201, text: '{"run":1,"paid":1}', isReplay: false };
      expect(answers).toEqual([first, { ...first, text: '{"run":2,"paid":999}' }, { ...first, isReplay: true }]);
    });

    it('a body is bound, also behind idempotency()', async () => {
      const app = versionOfExpress();
      const bind = bindRequest(Payment);
      app.post('/alone', bind, (req, res) => void res.json(req.dto));
      app.post('/both', idempotency(), bind, (req, res) => void res.json(req.dto));
      const post = of(app);
      for (const path of ['/alone', '/both'])
        expect((await post(path, randomUUID(), '{"amount":5}')).text).toBe('{"amount":5}');
    });

    it.each([
      ['no body', '', 'x'],
      ['a short response', '{}', 'x'],
      ['a response of several pieces', '{}', 'x'.repeat(200_000)],
    ])('a request with %s gets the whole response, and so does its duplicate', async (_what, body, text) => {
      const post = of(versionOfExpress().post('/', idempotency(), (_req, res) => void res.send(text)));
      const key = randomUUID();
      expect(await post('/', key, body)).toEqual({ status: 200, text, isReplay: false });
      expect(await post('/', key, body)).toEqual({ status: 200, text, isReplay: true });
    });
  });
});
