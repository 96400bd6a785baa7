// NestJS. Nest guards run after all middlewares, too late to say who calls: idempotency() has looked before.
// npm install bindonce @nestjs/common @nestjs/core @nestjs/platform-express reflect-metadata rxjs jsonwebtoken
import 'reflect-metadata';
import {
  Controller,
  createParamDecorator,
  ForbiddenException,
  HttpException,
  Injectable,
  Module,
  Post,
  RequestMethod,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestModule,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { bindRequest, field, fromClaim, idempotency, int, jsonField, list, routeParam, string } from 'bindonce';
import type { NextFunction, Request, Response } from 'express';
import { verify, type JwtPayload } from 'jsonwebtoken';

const { PORT = '3000', JWT_SECRET = '' } = process.env;
if (JWT_SECRET === '') throw new Error('Set JWT_SECRET to the secret that tokens are signed with.');

/** @throws UnauthorizedException, which Nest answers with 401. */
function callerOf(req: Request): JwtPayload {
  const [, token = ''] = /^Bearer (.+)$/i.exec(req.get('Authorization') ?? '') ?? [];
  try {
    const caller = verify(token, JWT_SECRET, { algorithms: ['HS256'] }) as JwtPayload;
    if (caller.sub !== undefined) return caller;
  } catch {
    // Answered like a token that says no one.
  }
  throw new UnauthorizedException();
}

/** Recommended: authentication is a middleware in front of idempotency(). Guards then decide what the caller may do. */
function authenticate(req: Request & { user?: JwtPayload }, _res: Response, next: NextFunction): void {
  req.user = callerOf(req);
  next();
}

/** What bindRequest() has made of the request: `@Bound() order: PlaceOrder`. */
const Bound = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => context.switchToHttp().getRequest<Request>().dto,
);

@Injectable()
class CustomersOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { user } = context.switchToHttp().getRequest<{ user: JwtPayload }>();
    if (user['role'] !== 'customer') throw new ForbiddenException();
    return true;
  }
}

class OrderLine {
  @field(string) sku!: string;
  @field(int) quantity!: number;
}

class PlaceOrder {
  @routeParam(int) customerId!: number;
  @jsonField(list(OrderLine)) items!: OrderLine[];
  @fromClaim(string, { name: 'sub' }) placedBy!: string;
}

@Controller()
class Orders {
  @Post('customers/:customerId/orders')
  @UseGuards(CustomersOnly)
  place(@Bound() order: PlaceOrder): object {
    // An exception is the handler's response, too: it is stored and replayed.
    if (order.items.length === 0) throw new HttpException('There is nothing to order.', 422);
    const { customerId, placedBy, items } = order;
    return { orderId: crypto.randomUUID(), customerId, placedBy, lines: items.length };
  }
}

/** An application that authenticates in a Nest guard and has to stay so. */
@Injectable()
class SignedIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const req = context.switchToHttp().getRequest<Request & { user?: JwtPayload }>();
    req.user = callerOf(req);
    return true;
  }
}

@Controller()
@UseGuards(SignedIn)
class Refunds {
  @Post('refunds')
  refund(): object {
    return { refundId: crypto.randomUUID() };
  }
}

@Module({ controllers: [Orders, Refunds] })
class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(authenticate, idempotency({ whenKeyReused: 'reject' }), bindRequest(PlaceOrder))
      .forRoutes({ path: 'customers/:customerId/orders', method: RequestMethod.POST });
    // The other way: `scope` verifies the token itself. It says who shares a response, before and after the Nest guard.
    consumer.apply(idempotency({ scope: req => callerOf(req).sub, whenKeyReused: 'reject' })).forRoutes(Refunds);
  }
}

async function main(): Promise<void> {
  // bindRequest() reads bodies by itself, and decimals exactly. Remove `bodyParser: false` if other routes use @Body().
  const app = await NestFactory.create(AppModule, { bodyParser: false, logger: ['error', 'warn'] });
  await app.listen(Number(PORT), '127.0.0.1');
  console.log(`Listening on ${await app.getUrl()}`);
}

void main();
