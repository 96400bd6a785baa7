import express, { type RequestHandler } from 'express';
import { bindRequest, configure, dto, idempotency, string } from '../../lib';
import { ask } from '../support/ask';

class Line extends dto({ sku: string }) {}

class BindingConfig {
  get allowAnonymous(): boolean {
    return false;
  }
  get limits(): object {
    return new Limits();
  }
}
class Limits {
  get depth(): number {
    return 1;
  }
}
class ShopConfig extends BindingConfig {}

class KeyConfig {
  get headerName(): string {
    return 'X-Key';
  }
  /** A method is no option. */
  reload(): void {
    throw new Error('not here');
  }
}

const end: RequestHandler = (_req, res) => {
  res.end('ran');
};
const statusOf = async (middleware: RequestHandler, headers = {}): Promise<number> =>
  (await ask(express().post('/', middleware, end), { json: { sku: 'a' }, headers })).status;

describe('options that are getters of a class have their effect:', () => {
  it.each<[string, () => RequestHandler]>([
    ['bindRequest()', () => bindRequest(Line, new BindingConfig())],
    ['bindRequest(), of a class above', () => bindRequest(Line, new ShopConfig())],
    ['configure()', () => configure({ binding: new BindingConfig() }).bindRequest(Line)],
    ['bindRequest() of configure()', () => configure().bindRequest(Line, new BindingConfig())],
    ['bindRequest(), of a prototype', () => bindRequest(Line, Object.create({ allowAnonymous: false }) as object)],
  ])('%s', async (_how, make) => {
    expect(await statusOf(make())).toBe(401);
  });

  it.each<[string, () => RequestHandler]>([
    ['idempotency()', () => idempotency(new KeyConfig())],
    ['the defaults of idempotency()', () => configure({ idempotency: new KeyConfig() }).idempotency()],
    ['idempotency() of configure()', () => configure().idempotency(new KeyConfig())],
  ])('%s', async (how, make) => {
    expect(await statusOf(make(), { 'X-Key': how })).toBe(200);
  });
});

it('options that are getters of a class are checked', () => {
  class Config {
    get allowAnonymos(): boolean {
      return false;
    }
  }
  expect(() => bindRequest(Line, new Config() as object)).toThrow(
    'bindRequest: there is no option "allowAnonymos"; did you mean "allowAnonymous"?',
  );
});
