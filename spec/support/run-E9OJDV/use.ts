
import { Line, total } from './library.js';
const { price, discounts, refund, tax, limit } = new Line();
export const texts: string[] = [price, ...discounts, refund ?? price, tax ?? price, limit, total(new Line())].map(one => one.toFixed(2));
// @ts-expect-error
export const wrong: string = price;
// @ts-expect-error
export const wrongItem: string = discounts[0]!;
// @ts-expect-error
export const wrongRefund: string = refund!;
// @ts-expect-error
export const wrongTax: string = tax!;
// @ts-expect-error
export const wrongLimit: string = limit;
// @ts-expect-error
export const wrongTotal: string = total(new Line());
