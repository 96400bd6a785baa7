import { createRequire } from 'node:module';
import express, { type Express } from 'express';
import inject from 'light-my-request';
import serverlessHttp from 'serverless-http';
import { bindRequest, dto, idempotency, int } from '../../../lib';
import { expressVersions } from '../../support/express-versions';

interface Answer {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

const headers = { 'idempotency-key': 'k', 'content-type': 'application/json', host: 'shop.example' };
const http = { method: 'POST', sourceIp: '127.0.0.1', protocol: 'HTTP/1.1' };

/** An event of an AWS API Gateway (payload format 2.0). */
const eventOf = (path: string, body: string) => ({
  ...{ version: '2.0', routeKey: '$default', rawPath: path, rawQueryString: '', body, isBase64Encoded: false },
  headers: { ...headers, 'content-length': String(body.length) },
  requestContext: { http: { ...http, path }, domainName: 'shop.example', stage: '$default', timeEpoch: 0 },
});

// Its types need those of AWS Lambda.
const codegenie = createRequire(__filename)('@codegenie/serverless-express') as {
  configure(options: { app: Express }): (event: object, context: object) => Promise<Answer>;
};

/** Adapters call an application without a server, with requests and responses of their own. */
const adapters: readonly [name: string, of: (app: Express) => (path: string, body: string) => Promise<Answer>][] = [
  ['serverless-http', app => async (path, body) => (await serverlessHttp(app)(eventOf(path, body), {})) as Answer],
  [
    '@codegenie/serverless-express',
    app => {
      const handler = codegenie.configure({ app });
      return (path, body) => handler(eventOf(path, body), {});
    },
  ],
  ['light-my-request', app => (url, payload) => inject(app, { method: 'POST', url, headers, payload })],
];

class Payment extends dto({ amount: int }) {}

describe.each(expressVersions)('on %s', (version, framework) => {
  it.each(adapters)(
    'behind %s a payment is made once, and two payments are two, before a parser, behind it, and bound; a response is whole',
    async (name, of) => {
      let runs = 0;
      // The default store belongs to the process.
      const guard = idempotency({ scope: () => `${name} ${version}` });
      const pays: express.RequestHandler = ({ body, dto: bound }, res) => {
        const { amount } = (bound ?? body) as Payment;
        res.json({ run: ++runs, amount });
      };
      const app = framework();
      app.post('/parsed-later', guard, express.json(), pays);
      app.post('/parsed-before', express.json(), guard, pays);
      app.post('/bound', guard, bindRequest(Payment), pays);
      app.post('/in-pieces', guard, (_req, res) => void res.send('x'.repeat(200_000)));
      const post = of(app);
      const seen = async (path: string, sent: string): Promise<string> => {
        const { statusCode, body, headers: answered } = await post(path, sent);
        return `${statusCode} ${body}${answered['idempotent-replayed'] === 'true' ? ' again' : ''}`;
      };
      for (const path of ['/parsed-later', '/parsed-before', '/bound']) {
        runs = 0;
        const answers = [];
        for (const amount of [1, 999, 1]) answers.push(await seen(path, JSON.stringify({ amount })));
        const [one, other] = ['200 {"run":1,"amount":1}', '200 {"run":2,"amount":999}'];
        expect([path, ...answers]).toEqual([path, one, other, `${one} again`]);
      }
      const whole = `200 ${'x'.repeat(200_000)}`;
      for (const body of ['', '{}'])
        expect([await seen('/in-pieces', body), await seen('/in-pieces', body)]).toEqual([whole, `${whole} again`]);
    },
  );
});
