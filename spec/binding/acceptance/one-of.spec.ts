import express from 'express';
import { BigNumber, bindRequest, decimal, dto, fromBody, fromClaim, fromForm, fromHeader } from '../../../lib';
import { fromQuery, int, list, nullable, oneOf, optional, record, serializerContext, string } from '../../../lib';
import type { AnyType, BindingOptions, Claims, Fail, Infer } from '../../../lib';
import type { Sent } from '../../support/ask';
import { documentOf } from '../../support/described';
import { bind, outcome } from '../../support/one-endpoint';
import { holds, type Equal } from '../../types/equal';

class Card extends dto({ cardNumber: string.with({ minLength: 4 }), holder: optional(string) }) {}
class Iban extends dto({ iban: string, amount: decimal, legs: list(int) }) {
  static check({ iban }: Iban, fail: Fail<Iban>): void {
    if (!iban.startsWith('DE')) fail('iban', 'must be a German one');
  }
}
class Cash extends dto({}) {}
const payment = oneOf('payKind', { card: Card, iban: Iban, cash: Cash });
class Pay extends dto({ payment }) {}
class Many extends dto({
  all: list(payment),
  byName: optional(record(payment)),
  none: nullable(optional(payment)),
  spare: optional(payment),
}) {}
class Body extends dto({ payment: fromBody(payment) }) {}
class Form extends dto({ pay: fromForm(payment) }) {}
class Query extends dto({ pay: fromQuery(payment) }) {}
/** A branch of which a property is one of several classes, too. */
class Split extends dto({ first: payment }) {}
class Outer extends dto({ how: oneOf('type', { split: Split, cash: Cash }) }) {}
class InQuery extends dto({ it: fromQuery(Many) }) {}
class Claimed extends dto({ pay: fromClaim(payment), other: fromHeader(optional(payment), { name: 'X-Pay' }) }) {}

/** What was bound, as JSON, or the failures without their source. */
async function bound(Dto: AnyType, sent: Sent, options: BindingOptions = {}): Promise<unknown> {
  const claims = (): Claims => ({ pay: { payKind: 'card', cardNumber: '4111' } });
  const came = await outcome(Dto, sent, { claims, ...options });
  if (Array.isArray(came) && came.every(one => typeof one === 'string'))
    return came.map(one => one.replace(/^\w+ /, ''));
  return JSON.parse(JSON.stringify(came)) as unknown;
}

const CARD = { payKind: 'card', cardNumber: '4111' };
const IBAN = { payKind: 'iban', iban: 'DE1', amount: '4.5', legs: [1, 2] };
const CASH = { payKind: 'cash' };
const FIELDS = 'payKind=iban&IBAN=DE1&amount=4.50&legs=1&legs=2';

const pay = (payment: unknown): Sent => ({ json: { payment } });
const NONE = 'is not one of card, iban, cash.';
const TAG = 'A value is required, one of card, iban, cash.';

it.each<[string, AnyType, Sent, unknown]>([
  ['JSON', Pay, pay({ ...CARD, more: 1 }), { payment: CARD }],
  ['JSON, a class without properties', Pay, pay(CASH), { payment: CASH }],
  ['the whole body', Body, { json: IBAN }, { payment: IBAN }],
  ['the whole body, which is the dto', payment, { json: IBAN }, IBAN],
  ['text of a form', Pay, { form: `payment=${JSON.stringify(CARD)}` }, { payment: CARD }],
  ['text of a query', Pay, { path: `/?payment=${JSON.stringify(CARD)}` }, { payment: CARD }],
  [
    'a branch of another one',
    Outer,
    { json: { how: { type: 'split', first: CARD } } },
    { how: { type: 'split', first: CARD } },
  ],
  ['a whole form', Form, { form: FIELDS }, { pay: IBAN }],
  ['a whole query', Query, { path: `/?${FIELDS}` }, { pay: IBAN }],
  ['a claim and a header', Claimed, { headers: { 'X-Pay': JSON.stringify(CASH) } }, { pay: CARD, other: CASH }],
  ['names of a query that are not its own', InQuery, { path: '/?spare.other=1' }, { it: { all: [] } }],
  [
    'the named branch alone, with failures',
    Pay,
    pay({ payKind: 'iban', cardNumber: 1, legs: ['x'] }),
    ['payment.iban: A value is required.', 'payment.amount: A value is required.', expect.stringContaining('legs[0]')],
  ],
  ['rules of the branch', Pay, pay({ ...CARD, cardNumber: '4' }), [expect.stringContaining('4 char')]],
  ['its static check', Pay, pay({ ...IBAN, iban: 'X' }), ['payment.iban: must be a German one']],
  ['no tag', Pay, pay({ iban: 1 }), [`payment.payKind: ${TAG}`]],
  ['another tag', Pay, pay({ payKind: 'cheque' }), [`payment.payKind: The value "cheque" ${NONE}`]],
  ['a tag of another type', Pay, pay({ payKind: ['card'] }), [`payment.payKind: The value […] ${NONE}`]],
  ['an inherited tag', Pay, pay({ payKind: 'constructor' }), [expect.stringContaining(NONE)]],
  ['no object', Pay, pay('card'), ['payment: The value "card" is not a JSON object.']],
  ['nothing', Pay, { json: {} }, ['payment: A value is required.']],
  ['no whole body', Body, {}, ['payment: A JSON body is required.']],
  ['an empty body', Body, { json: {} }, [`payKind: ${TAG}`]],
  ['no name of a form', Form, { form: 'iban=1' }, [`payKind: ${TAG}`]],
  ['two tags', Form, { form: 'payKind=card&payKind=iban' }, ['payKind: There are 2 values where one is expected.']],
  ['an item', InQuery, { path: '/?all[3].payKind=card' }, ['all[3].cardNumber: A value is required.']],
  ['no item named', InQuery, { path: '/?all[].payKind=card' }, [expect.stringContaining('do not say of which item')]],
  ['an optional one', InQuery, { path: '/?spare.holder=Ann' }, [expect.stringContaining('spare.payKind: A value is')]],
])('one of several classes is read from %s', async (_source, Dto, sent, expected) => {
  expect(await bound(Dto, sent)).toEqual(expected);
});

it('the value is an instance of its class with the tag, and its type narrows', async () => {
  const { payment: made } = (await bind(Pay, pay(CARD))).dto as Pay;
  expect([made instanceof Card, { ...made }]).toEqual([true, CARD]);
  holds<
    Equal<typeof made, (Card & { payKind: 'card' }) | (Iban & { payKind: 'iban' }) | (Cash & { payKind: 'cash' })>
  >();
  holds<Equal<Infer<typeof payment>, typeof made>>();
  const shown = (): string => {
    switch (made.payKind) {
      case 'card':
        return made.cardNumber;
      case 'iban':
        return made.amount.toFixed();
      case 'cash':
        return made.payKind;
    }
  };
  expect(shown()).toBe('4111');
});

it('the tag has a JSON name like any property; a response has it, and the declared properties only', async () => {
  const options = { propertyNamingPolicy: 'snake_case', responses: { 200: list(payment) } } as const;
  const context = serializerContext({ request: payment, ...options });
  expect(await context.read('{"pay_kind":"card","card_number":"4111"}')).toEqual(CARD);
  const write = (value: unknown): string => context.write(200, [value]);
  expect(write({ ...IBAN, amount: new BigNumber('4.50'), secret: 1 })).toBe(
    '[{"pay_kind":"iban","iban":"DE1","amount":4.5,"legs":[1,2]}]',
  );
  expect(write({ toJSON: () => CASH })).toBe('[{"pay_kind":"cash"}]');
  expect(() => write({ cardNumber: '4111' })).toThrow(
    'The response is declared as Card or Iban or Cash, but the handler passed an object whose payKind is none of ' +
      'card, iban, cash.',
  );
});

it('the API description says which classes there are, each with its tag', () => {
  const app = express();
  const responses = { 200: payment };
  app.post('/', bindRequest(Pay, { responses, propertyNamingPolicy: 'snake_case' }), () => undefined);
  app.get('/', bindRequest(Query), () => undefined);
  const { paths, components } = documentOf(app) as unknown as {
    readonly paths: { readonly '/': Record<'post' | 'get', Record<string, unknown>> };
    readonly components: { readonly schemas: Record<string, unknown> };
  };
  const refs = {
    card: '#/components/schemas/Card',
    iban: '#/components/schemas/Iban',
    cash: '#/components/schemas/Cash',
  };
  const union = {
    oneOf: Object.values(refs).map($ref => ({ $ref })),
    discriminator: { propertyName: 'pay_kind', mapping: refs },
  };
  expect(paths['/'].post['requestBody']).toMatchObject({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Pay' } } },
  });
  expect(components.schemas).toMatchObject({
    Pay: { properties: { payment: union } },
    Card: {
      properties: { pay_kind: { type: 'string', enum: ['card'] }, card_number: { type: 'string', minLength: 4 } },
      required: ['pay_kind', 'card_number'],
    },
    Cash: { properties: { pay_kind: { type: 'string', enum: ['cash'] } }, required: ['pay_kind'] },
  });
  expect(JSON.stringify(paths['/'].post['responses'])).toContain('"discriminator":{"propertyName":"pay_kind"');
  expect(paths['/'].get['parameters']).toMatchObject([
    { name: 'pay', in: 'query', explode: true, schema: { oneOf: [{ required: ['payKind', 'cardNumber'] }, {}, {}] } },
  ]);
});
